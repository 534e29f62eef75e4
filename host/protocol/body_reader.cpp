#include "host/protocol/body_reader.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "host/protocol/messages.h"
#include "host/protocol/utf8.h"

namespace glmhost::protocol {
namespace {

using Json = nlohmann::ordered_json;

// Builds the value while the parser walks. The parser calls itself once for each level, so that refusing a level here
// also bounds its stack. It announces the lengths of arrays and maps, which are the sender's claim and reserve nothing.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(Json& root) : root_(root) {}

  const std::string& error() const { return error_; }

  bool null() override { return add(nullptr) != nullptr; }
  bool boolean(bool value) override { return add(value) != nullptr; }
  bool number_integer(number_integer_t value) override { return add(value) != nullptr; }
  bool number_unsigned(number_unsigned_t value) override { return add(value) != nullptr; }
  bool number_float(number_float_t value, const string_t&) override { return add(value) != nullptr; }
  bool string(string_t& value) override {
    if (!is_utf8(value)) return fail("The text in " + place() + " is not valid UTF-8.");
    return add(std::move(value)) != nullptr;
  }
  bool binary(binary_t&) override { return fail("There is binary data in " + place() + "; it must be text."); }

  bool start_array(std::size_t) override { return open(Json::array()); }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool end_array() override {
    open_.pop_back();
    return true;
  }

  bool key(string_t& value) override {
    if (!is_utf8(value)) return fail("A key in " + place() + " is not valid UTF-8.");
    if (open_.size() == 1) field_ = value;
    // Straight to the end: ordered_map would search all earlier keys for this one, which takes quadratic time.
    auto& members = open_.back()->get_ref<Json::object_t&>();
    members.emplace_back(std::move(value), nullptr);
    return true;
  }

  bool end_object() override {
    const auto& members = open_.back()->get_ref<const Json::object_t&>();
    std::vector<std::string_view> keys;
    keys.reserve(members.size());
    for (const auto& member : members) keys.push_back(member.first);
    std::sort(keys.begin(), keys.end());
    if (const auto twice = std::adjacent_find(keys.begin(), keys.end()); twice != keys.end()) {
      return fail("The key \"" + std::string(twice->substr(0, 64)) + "\" is given twice in one map.");
    }
    open_.pop_back();
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    return fail("The body is not valid MessagePack (at byte " + std::to_string(position) + " of it).");
  }

 private:
  bool fail(std::string sentence) {
    if (error_.empty()) error_ = std::move(sentence);
    return false;
  }

  std::string place() const {
    if (field_.empty()) return "the body";
    return "the field \"" + field_.substr(0, 64) + "\"";
  }

  template <class Value>
  Json* add(Value&& value) {
    if (++count_ > kMaxValues) {
      fail("The body holds more than " + std::to_string(kMaxValues) + " values.");
      return nullptr;
    }
    if (open_.empty()) {
      root_ = std::forward<Value>(value);
      return &root_;
    }
    Json& parent = *open_.back();
    if (parent.is_array()) {
      auto& elements = parent.get_ref<Json::array_t&>();
      elements.emplace_back(std::forward<Value>(value));
      return &elements.back();
    }
    Json& slot = parent.get_ref<Json::object_t&>().back().second;  // made by key()
    slot = std::forward<Value>(value);
    return &slot;
  }

  bool open(Json container) {
    if (open_.size() == static_cast<std::size_t>(kMaxNesting)) {
      return fail("The body is nested more than " + std::to_string(kMaxNesting) + " levels deep, in " + place() + ".");
    }
    Json* const added = add(std::move(container));
    if (added == nullptr) return false;
    open_.push_back(added);
    return true;
  }

  Json& root_;
  std::vector<Json*> open_;  // pointers stay: only the innermost container grows
  std::size_t count_ = 0;
  std::string field_;  // the key of the outermost map that is being read
  std::string error_;
};

}  // namespace

std::optional<std::string> read_body(std::string_view bytes, Json& value) {
  Builder builder(value);
  if (Json::sax_parse(bytes.begin(), bytes.end(), &builder, Json::input_format_t::msgpack)) return std::nullopt;
  if (builder.error().empty()) return "The body is not valid MessagePack.";
  return builder.error();
}

}  // namespace glmhost::protocol
