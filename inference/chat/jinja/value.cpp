#include "inference/chat/jinja/value.h"

#include <algorithm>
#include <cmath>

#include "inference/chat/jinja/fault.h"
#include "inference/chat/jinja/python_text.h"

namespace glmhost::jinja {
namespace {

constexpr std::size_t kIndexedFrom = 8;  // entries; fewer are looked through

// Equal keys have equal names, different keys different ones.
std::string key_name(const Value& key) {
  if (key.is_text()) return "s" + key.bytes();
  if (key.is_none()) return "0";
  if (key.is_whole()) return "n" + int_text(key.whole());
  if (key.is_float()) {
    const double number = key.number();
    const bool whole = number == std::floor(number) && std::abs(number) < 1e18;
    return whole ? "n" + int_text(static_cast<Int>(number)) : "f" + repr(number);
  }
  fail("unhashable type: '" + std::string(key.type_name()) + "'");
}

int sign_of(bool less, bool more) {
  return less ? -1 : more ? 1 : 0;
}

}  // namespace

Value Value::undefined(std::string reason) {
  return Value(Undefined{std::make_shared<const std::string>(std::move(reason))});
}

Value Value::own_text(std::string_view text) {
  return Value(std::make_shared<const Text>(text, Origin::own));
}

bool Value::is_tuple() const {
  return is_list() && list().is_tuple;
}

const std::vector<Value>& Value::items() const {
  return list().items;
}

bool Value::truth() const {
  if (is_none() || is_undefined()) return false;
  if (is_bool()) return std::get<bool>(data_);
  if (is_int()) return std::get<Int>(data_) != 0;
  if (is_float()) return std::get<double>(data_) != 0;
  if (is_text()) return !text().empty();
  if (is_list()) return !items().empty();
  if (is_dict()) return dict().size() > 0;
  return true;
}

int Value::depth() const {
  if (is_list()) return list().depth;
  if (is_dict()) return dict().depth();
  return is_loop() ? loop().items->depth : 0;
}

std::string_view Value::type_name() const {
  constexpr std::string_view kNames[] = {"NoneType", "Undefined", "bool",      "int",      "float",      "str",
                                         "list",     "dict",      "Namespace", "function", "LoopContext"};
  return is_tuple() ? "tuple" : kNames[data_.index()];
}

void Dict::set(const Value& key, Value value) {
  depth_ = std::max({depth_, key.depth() + 1, value.depth() + 1});
  std::string name = key_name(key);
  if (const Value* known = find_by_name(name)) {
    entries_[static_cast<std::size_t>(
                 std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return &e.second == known; }) -
                 entries_.begin())]
        .second = std::move(value);
    return;
  }
  entries_.emplace_back(key, std::move(value));
  if (entries_.size() == kIndexedFrom) {
    for (std::size_t i = 0; i < entries_.size(); ++i) index_.emplace(key_name(entries_[i].first), i);
  } else if (entries_.size() > kIndexedFrom) {
    index_.emplace(std::move(name), entries_.size() - 1);
  }
}

const Value* Dict::find_by_name(const std::string& name) const {
  if (entries_.size() >= kIndexedFrom) {
    const auto found = index_.find(name);
    return found == index_.end() ? nullptr : &entries_[found->second].second;
  }
  for (const Entry& entry : entries_) {
    if (key_name(entry.first) == name) return &entry.second;
  }
  return nullptr;
}

const Value* Dict::find(const Value& key) const {
  return key.is_text() ? find(key.bytes()) : find_by_name(key_name(key));
}

const Value* Dict::find(std::string_view key) const {
  if (entries_.size() >= kIndexedFrom) return find_by_name("s" + std::string(key));
  for (const Entry& entry : entries_) {
    if (entry.first.is_text() && entry.first.bytes() == key) return &entry.second;
  }
  return nullptr;
}

const Value* Namespace::find(std::string_view name) const {
  for (const auto& [key, value] : members) {
    if (key == name) return &value;
  }
  return nullptr;
}

void Namespace::set(std::string_view name, Value value) {
  for (auto& [key, known] : members) {
    if (key != name) continue;
    known = std::move(value);
    return;
  }
  members.emplace_back(name, std::move(value));
}

bool equal(const Value& a, const Value& b, Budget& budget) {
  budget.step();
  if (a.is_number() && b.is_number()) {
    return a.is_whole() && b.is_whole() ? a.whole() == b.whole() : a.number() == b.number();
  }
  if (a.is_text() && b.is_text()) return a.bytes() == b.bytes();
  if (a.is_none() || a.is_undefined()) return a.is_none() ? b.is_none() : b.is_undefined();
  const auto same = [&](const Value& x, const Value& y) { return equal(x, y, budget); };
  if (a.is_list() && b.is_list()) {
    return a.is_tuple() == b.is_tuple() &&
           std::equal(a.items().begin(), a.items().end(), b.items().begin(), b.items().end(), same);
  }
  if (a.is_dict() && b.is_dict()) {
    return a.dict().size() == b.dict().size() &&
           std::all_of(a.dict().entries().begin(), a.dict().entries().end(), [&](const Dict::Entry& entry) {
             const Value* other = b.dict().find(entry.first);
             return other != nullptr && same(entry.second, *other);
           });
  }
  if (a.is_namespace() && b.is_namespace()) return a.space_ptr() == b.space_ptr();
  if (a.is_function() && b.is_function()) return a.function_ptr() == b.function_ptr();
  return false;
}

int compare(const Value& a, const Value& b, std::string_view sign, Budget& budget) {
  budget.step();
  if (a.is_undefined()) fail(a.reason());
  if (b.is_undefined()) fail(b.reason());
  if (a.is_whole() && b.is_whole()) return sign_of(a.whole() < b.whole(), a.whole() > b.whole());
  if (a.is_number() && b.is_number()) return sign_of(a.number() < b.number(), a.number() > b.number());
  // The order of UTF-8's bytes is that of the characters.
  if (a.is_text() && b.is_text()) return a.bytes().compare(b.bytes());
  if (a.is_list() && b.is_list() && a.is_tuple() == b.is_tuple()) {
    const std::size_t common = std::min(a.items().size(), b.items().size());
    for (std::size_t i = 0; i < common; ++i) {
      if (!equal(a.items()[i], b.items()[i], budget)) return compare(a.items()[i], b.items()[i], sign, budget);
    }
    return sign_of(a.items().size() < b.items().size(), a.items().size() > b.items().size());
  }
  fail("'" + std::string(sign) + "' not supported between instances of '" + std::string(a.type_name()) + "' and '" +
       std::string(b.type_name()) + "'");
}

std::string int_text(Int number) {
  if (number == 0) return "0";
  std::string digits;
  const bool negative = number < 0;
  for (; number != 0; number /= 10) {
    const int digit = static_cast<int>(number % 10);
    digits += static_cast<char>('0' + (digit < 0 ? -digit : digit));
  }
  if (negative) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

}  // namespace glmhost::jinja
