#include "host/protocol/fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace glmhost::protocol {
namespace {

// What was given, short and without the text itself, which may be private.
std::string describe(const Fields::Json& value) {
  switch (value.type()) {
    case Fields::Json::value_t::null:
      return "null";
    case Fields::Json::value_t::boolean:
      return value.get<bool>() ? "true" : "false";
    case Fields::Json::value_t::number_integer:
    case Fields::Json::value_t::number_unsigned:
    case Fields::Json::value_t::number_float: {
      const double number = value.get<double>();
      if (std::isnan(number)) return "NaN";
      if (std::isinf(number)) return number > 0 ? "infinity" : "minus infinity";
      return value.dump();
    }
    case Fields::Json::value_t::string:
      return "text";
    case Fields::Json::value_t::array:
      return "a list";
    default:
      return "a map";
  }
}

std::string short_form(double number) {
  std::string text(32, '\0');
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
  text.resize(static_cast<std::size_t>(end - text.data()));
  return text;
}

}  // namespace

Fields::Fields(const Json& value, std::string where) : value_(value), where_(std::move(where)) {
  if (value.is_object()) return;
  if (where_.empty()) {
    fail("The body must be a map.");
    return;
  }
  const std::size_t entry = where_.find('[');
  const std::string name = "\"" + where_.substr(0, std::min(entry, where_.size() - 1)) + "\"";  // without the dot
  fail((entry == std::string::npos ? name : "Each entry of " + name) + " must be a map.");
}

void Fields::fail(std::string sentence) {
  if (!error_) error_ = std::move(sentence);
}

const Fields::Json* Fields::find(std::string_view key) const {
  if (error_) return nullptr;
  const auto found = value_.find(key);
  if (found == value_.end() || found->is_null()) return nullptr;
  return &*found;
}

void Fields::require(std::string_view key) {
  if (find(key) == nullptr) fail(label(key) + " is missing.");
}

std::string Fields::label(std::string_view key) const {
  std::string text = "The field \"";
  text += where_;
  text += key;
  return text += '"';
}

void Fields::fail_type(std::string_view key, const Json& value, std::string_view expected) {
  fail(label(key) + " must be " + std::string(expected) + ", not " + describe(value) + ".");
}

void Fields::text(std::string_view key, std::string& out, std::size_t max_bytes) {
  const Json* const value = find(key);
  if (value == nullptr) return;
  const auto* const string = value->get_ptr<const std::string*>();
  if (string == nullptr) return fail_type(key, *value, "text");
  if (string->size() > max_bytes) {
    return fail(label(key) + " is " + std::to_string(string->size()) + " bytes long; at most " +
                std::to_string(max_bytes) + " are allowed.");
  }
  out = *string;
}

void Fields::boolean(std::string_view key, bool& out) {
  const Json* const value = find(key);
  if (value == nullptr) return;
  if (!value->is_boolean()) return fail_type(key, *value, "true or false");
  out = value->get<bool>();
}

const Fields::Json* Fields::array(std::string_view key, std::size_t max_size) {
  const Json* const value = find(key);
  if (value == nullptr) return nullptr;
  if (!value->is_array()) {
    fail_type(key, *value, "a list");
    return nullptr;
  }
  if (value->size() > max_size) {
    fail(label(key) + " has " + std::to_string(value->size()) + " entries; at most " + std::to_string(max_size) +
         " are allowed.");
    return nullptr;
  }
  return value;
}

bool Fields::contains(const Range& range, double number) {
  const bool above_min = range.open_min ? number > range.min : number >= range.min;
  const bool below_max = range.open_max ? number < range.max : number <= range.max;
  return above_min && below_max;
}

void Fields::fail_range(std::string_view key, const Json& value, const Range& range) {
  fail_type(key, value,
            std::string("a number ") + (range.open_min ? "above " : "of at least ") + short_form(range.min) + " and " +
                (range.open_max ? "below " : "at most ") + short_form(range.max));
}

bool Fields::read_real(std::string_view key, double& out, const Range& range) {
  const Json* const value = find(key);
  if (value == nullptr) return false;
  if (!value->is_number() || !contains(range, value->get<double>())) {
    fail_range(key, *value, range);
    return false;
  }
  out = value->get<double>();
  return true;
}

}  // namespace glmhost::protocol
