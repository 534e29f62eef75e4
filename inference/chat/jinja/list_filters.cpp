// Filters that work on lists and dicts.
#include <algorithm>
#include <optional>
#include <string>

#include "inference/chat/jinja/runtime.h"

namespace glmhost::jinja {
namespace {

// What is left of a call when its first `count` positional arguments are taken away.
Arguments behind(const Arguments& arguments, std::size_t count) {
  Arguments rest = arguments;
  rest.positional.erase(rest.positional.begin(), rest.positional.begin() + static_cast<std::ptrdiff_t>(count));
  return rest;
}

const Value& undefined_aware(const Value& input) {
  if (input.is_undefined()) fail(input.reason());
  return input;
}

Value length_filter(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters none("length", arguments, {});
  return Value(static_cast<Int>(length(runtime, input)));
}

Value default_filter(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters given("default", arguments, {"default_value", "boolean"});
  const bool replaced = input.is_undefined() || (given.flag(1, false) && !input.truth());
  if (!replaced) return input;
  return given[0] ? *given[0] : runtime.own("");
}

Value list_filter(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters none("list", arguments, {});
  return runtime.list(iterate(runtime, input));
}

Value first(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters none("first", arguments, {});
  const std::vector<Value> items = iterate(runtime, input);
  return items.empty() ? Value::undefined("No first item, sequence was empty.") : items.front();
}

Value last(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters none("last", arguments, {});
  const std::vector<Value> items = iterate(runtime, input);
  return items.empty() ? Value::undefined("No last item, sequence was empty.") : items.back();
}

Value items_filter(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters none("items", arguments, {});
  if (input.is_undefined()) return runtime.list({});
  if (!input.is_dict()) fail("Can only get item pairs from a mapping.");
  return dict_method(runtime, input, "items").function().call(runtime, {});
}

Value join(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters given("join", arguments, {"d", "attribute"});
  const Text separator = given[0] ? to_text(runtime, *given[0]) : Text();
  Text out;
  bool is_first = true;
  for (const Value& each : iterate(runtime, input)) {
    const Text piece = to_text(runtime, given.given(1) ? attribute_path(runtime, each, *given[1]) : each);
    runtime.budget.make(separator.size() + piece.size());
    if (!is_first) out.append(separator);
    is_first = false;
    out.append(piece);
  }
  return runtime.text(std::move(out));
}

Value reverse(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters none("reverse", arguments, {});
  undefined_aware(input);
  std::vector<Value> items = iterate(runtime, input);
  std::reverse(items.begin(), items.end());
  if (!input.is_text()) return runtime.list(std::move(items));
  Text out;
  for (const Value& each : items) out.append(each.text());
  return runtime.text(std::move(out));
}

// --- order

// What two items are compared by: an attribute, without regard to case where asked for.
class Key {
 public:
  Key(Runtime& runtime, const Value* path, bool case_sensitive)
      : runtime_(runtime), path_(path), case_sensitive_(case_sensitive) {}

  Value of(const Value& item) const {
    Value key = path_ == nullptr ? item : attribute_path(runtime_, item, *path_);
    if (case_sensitive_ || !key.is_text()) return key;
    return runtime_.text(to_lower(key.text()));
  }

 private:
  Runtime& runtime_;
  const Value* path_;
  bool case_sensitive_;
};

struct Keyed {
  Value key;
  Value item;
};

// A list that "a, b" sorts by is compared one after the other.
std::vector<Keyed> keyed(Runtime& runtime, const std::vector<Value>& items, const Value* path, bool case_sensitive) {
  std::vector<Keyed> out;
  if (path == nullptr || !path->is_text() || path->bytes().find(',') == std::string::npos) {
    const Key key(runtime, path, case_sensitive);
    for (const Value& item : items) out.push_back({key.of(item), item});
    return out;
  }
  std::vector<Value> paths;
  for (std::string_view rest = path->bytes();;) {
    const std::size_t comma = rest.find(',');
    paths.push_back(runtime.own(strip(rest.substr(0, comma))));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  for (const Value& item : items) {
    std::vector<Value> keys;
    for (const Value& each : paths) keys.push_back(Key(runtime, &each, case_sensitive).of(item));
    out.push_back({runtime.list(std::move(keys)), item});
  }
  return out;
}

Value sorted(Runtime& runtime, std::vector<Keyed> entries, bool reversed) {
  std::stable_sort(entries.begin(), entries.end(), [&](const Keyed& a, const Keyed& b) {
    const int order = compare(a.key, b.key, "<", runtime.budget);
    return reversed ? order > 0 : order < 0;
  });
  std::vector<Value> items;
  for (Keyed& entry : entries) items.push_back(std::move(entry.item));
  return runtime.list(std::move(items));
}

Value sort(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters given("sort", arguments, {"reverse", "case_sensitive", "attribute"});
  return sorted(runtime, keyed(runtime, iterate(runtime, input), given.given(2), given.flag(1, false)),
                given.flag(0, false));
}

Value dictsort(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters given("dictsort", arguments, {"case_sensitive", "by", "reverse"});
  if (undefined_aware(input).is_dict() == false) fail("dictsort needs a dict, not " + std::string(input.type_name()));
  const std::string by = given[1] ? given.text(1).bytes() : "key";
  if (by != "key" && by != "value") fail("You can only sort by either \"key\" or \"value\"");
  const Value position(Int{by == "key" ? 0 : 1});
  const std::vector<Value> items = iterate(runtime, items_filter(runtime, input, {}));
  return sorted(runtime, keyed(runtime, items, &position, given.flag(0, false)), given.flag(2, false));
}

Value unique(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters given("unique", arguments, {"case_sensitive", "attribute"});
  Dict seen;
  std::vector<Value> out;
  for (Keyed& entry : keyed(runtime, iterate(runtime, input), given.given(1), given.flag(0, false))) {
    if (seen.find(entry.key) != nullptr) continue;
    seen.set(entry.key, Value(true));
    out.push_back(std::move(entry.item));
  }
  return runtime.list(std::move(out));
}

Value extreme(Runtime& runtime, const Value& input, const Arguments& arguments, bool largest) {
  const Parameters given(largest ? "max" : "min", arguments, {"case_sensitive", "attribute"});
  std::optional<Keyed> best;
  for (Keyed& entry : keyed(runtime, iterate(runtime, input), given.given(1), given.flag(0, false))) {
    const int order = best ? compare(entry.key, best->key, largest ? ">" : "<", runtime.budget) : 0;
    if (!best || (largest ? order > 0 : order < 0)) best = std::move(entry);
  }
  return best ? best->item : Value::undefined("No aggregated item, sequence was empty.");
}

Value sum(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters given("sum", arguments, {"attribute", "start"});
  Value total = given[1] ? *given[1] : Value(Int{0});
  for (const Value& each : iterate(runtime, input)) {
    total = arithmetic(runtime, Operator::add, total, given.given(0) ? attribute_path(runtime, each, *given[0]) : each);
  }
  return total;
}

Value batch(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const Parameters given("batch", arguments, {"linecount", "fill_with"}, 1);
  const Int size = given.whole(0, 1);
  if (size < 1) fail("batch needs a line count of at least 1");
  std::vector<Value> lines;
  std::vector<Value> line;
  for (const Value& each : iterate(runtime, input)) {
    line.push_back(each);
    if (static_cast<Int>(line.size()) == size) lines.push_back(runtime.list(std::exchange(line, {})));
  }
  if (!line.empty()) {
    if (given.given(1) != nullptr) {
      runtime.budget.make(size, sizeof(Value));
      line.resize(static_cast<std::size_t>(size), *given[1]);
    }
    lines.push_back(runtime.list(std::move(line)));
  }
  return runtime.list(std::move(lines));
}

// --- choose and change each

// The test that select() and its kin name, or truth.
class Predicate {
 public:
  Predicate(Runtime& runtime, const Arguments& arguments, std::size_t name_at) : runtime_(runtime) {
    if (arguments.positional.size() <= name_at) return;
    const Value& name = arguments.positional[name_at];
    test_ = name.is_text() ? find_test(name.bytes()) : nullptr;
    if (test_ == nullptr) fail("No test named '" + to_text(runtime, name).bytes() + "'.");
    rest_ = behind(arguments, name_at + 1);
  }
  bool operator()(const Value& value) const {
    runtime_.budget.step();
    return test_ == nullptr ? value.truth() : test_(runtime_, value, rest_);
  }

 private:
  Runtime& runtime_;
  Test test_ = nullptr;
  Arguments rest_;
};

Value choose(Runtime& runtime, const Value& input, const Arguments& arguments, bool wanted, bool by_attribute) {
  if (by_attribute && arguments.positional.empty()) fail("Missing parameter for attribute name");
  const Predicate holds(runtime, arguments, by_attribute ? 1 : 0);
  std::vector<Value> out;
  for (const Value& each : iterate(runtime, input)) {
    const bool held = holds(by_attribute ? attribute_path(runtime, each, arguments.positional[0]) : each);
    if (held == wanted) out.push_back(each);
  }
  return runtime.list(std::move(out));
}

Value map(Runtime& runtime, const Value& input, const Arguments& arguments) {
  std::vector<Value> out;
  if (arguments.positional.empty()) {
    const Parameters given("map", arguments, {"attribute", "default"}, 1);
    for (const Value& each : iterate(runtime, input)) {
      out.push_back(attribute_path(runtime, each, *given[0], given.given(1)));
    }
    return runtime.list(std::move(out));
  }
  const Value& name = arguments.positional[0];
  const Filter filter = name.is_text() ? find_filter(name.bytes()) : nullptr;
  if (filter == nullptr) fail("No filter named '" + to_text(runtime, name).bytes() + "'.");
  const Budget::Level level(runtime.budget);  // map("map", "map", ...)
  const Arguments rest = behind(arguments, 1);
  for (const Value& each : iterate(runtime, input)) out.push_back(filter(runtime, each, rest));
  return runtime.list(std::move(out));
}

struct Named {
  std::string_view name;
  Filter filter;
};

constexpr Named kFilters[] = {
    {"length", length_filter},
    {"count", length_filter},
    {"default", default_filter},
    {"d", default_filter},
    {"list", list_filter},
    {"first", first},
    {"last", last},
    {"items", items_filter},
    {"join", join},
    {"reverse", reverse},
    {"sort", sort},
    {"dictsort", dictsort},
    {"unique", unique},
    {"min", [](Runtime& r, const Value& v, const Arguments& a) { return extreme(r, v, a, false); }},
    {"max", [](Runtime& r, const Value& v, const Arguments& a) { return extreme(r, v, a, true); }},
    {"sum", sum},
    {"batch", batch},
    {"map", map},
    {"select", [](Runtime& r, const Value& v, const Arguments& a) { return choose(r, v, a, true, false); }},
    {"reject", [](Runtime& r, const Value& v, const Arguments& a) { return choose(r, v, a, false, false); }},
    {"selectattr", [](Runtime& r, const Value& v, const Arguments& a) { return choose(r, v, a, true, true); }},
    {"rejectattr", [](Runtime& r, const Value& v, const Arguments& a) { return choose(r, v, a, false, true); }},
};

}  // namespace

Filter find_list_filter(std::string_view name) {
  for (const Named& each : kFilters) {
    if (each.name == name) return each.filter;
  }
  return nullptr;
}

Filter find_filter(std::string_view name) {
  const Filter found = find_text_filter(name);
  return found != nullptr ? found : find_list_filter(name);
}

}  // namespace glmhost::jinja
