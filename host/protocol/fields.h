// Reading the fields of a decoded map into typed values. The first broken rule is kept as a sentence that names the
// field; what follows it is skipped. A field that is missing or null keeps the value it has, unknown fields are passed
// over: both let newer and older programs of one protocol version talk.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace glmhost::protocol {

class Fields {
 public:
  using Json = nlohmann::ordered_json;

  // `where` is put before field names: "models[2]." for a map inside a list. `value` must outlive this object.
  explicit Fields(const Json& value, std::string where = "");

  const std::optional<std::string>& error() const { return error_; }
  void fail(std::string sentence);

  // Null when missing or null.
  const Json* find(std::string_view key) const;
  void require(std::string_view key);

  // At most `max_bytes` of text (valid UTF-8 already).
  void text(std::string_view key, std::string& out, std::size_t max_bytes);
  void boolean(std::string_view key, bool& out);

  template <std::integral Number>
  void whole(std::string_view key, Number& out, Number min = std::numeric_limits<Number>::min(),
             Number max = std::numeric_limits<Number>::max()) {
    const Json* const value = find(key);
    if (value == nullptr) return;
    const auto take = [&](auto number) {
      if (std::cmp_less(number, min) || std::cmp_greater(number, max)) return false;
      out = static_cast<Number>(number);
      return true;
    };
    const bool taken = value->is_number_unsigned() ? take(value->get<std::uint64_t>())
                                                   : value->is_number_integer() && take(value->get<std::int64_t>());
    if (!taken) fail_type(key, *value, "a whole number from " + std::to_string(min) + " to " + std::to_string(max));
  }

  // The ends belong to the range unless `open_min` or `open_max` say otherwise. Not-a-number is never inside.
  struct Range {
    double min;
    double max;
    bool open_min = false;
    bool open_max = false;
  };
  template <std::floating_point Number>
  void real(std::string_view key, Number& out, const Range& range) {
    double number = out;
    if (!read_real(key, number, range)) return;
    const auto rounded = static_cast<Number>(number);
    // What is just inside can lie outside once it has fewer digits: 0.99999999999 is 1 as a float.
    if (!contains(range, rounded)) return fail_range(key, number, range);
    out = rounded;
  }

  // Null when missing, or after failing because it is no array or longer than `max_size`.
  const Json* array(std::string_view key, std::size_t max_size);

  std::string label(std::string_view key) const;  // the field "max_tokens"

 private:
  static bool contains(const Range& range, double number);
  bool read_real(std::string_view key, double& out, const Range& range);
  void fail_range(std::string_view key, const Json& value, const Range& range);
  void fail_type(std::string_view key, const Json& value, std::string_view expected);

  const Json& value_;
  std::string where_;
  std::optional<std::string> error_;
};

}  // namespace glmhost::protocol
