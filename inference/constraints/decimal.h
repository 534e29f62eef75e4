// Exact decimal numbers, as far as a schema's bounds need them.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace glmhost::constraints {

// sign * 0.DIGITS * 10^exponent, in lowest form: DIGITS neither begins nor ends with 0; zero has none and no sign.
class Decimal {
 public:
  Decimal() = default;
  // Text as JSON writes numbers; nothing when it is none.
  static std::optional<Decimal> parse(std::string_view text);

  bool negative() const { return negative_; }
  bool zero() const { return digits_.empty(); }
  bool integer() const { return exponent_ >= static_cast<std::int64_t>(digits_.size()); }
  // Digits before the point (no leading zeros; empty below 1) and behind it (no trailing zeros). Nothing when there
  // would be more than 400 of either.
  std::optional<std::pair<std::string, std::string>> parts() const;

  std::string exponential() const;  // 1.25e+20; not for zero

  std::strong_ordering operator<=>(const Decimal& other) const;
  bool operator==(const Decimal& other) const = default;

 private:
  bool negative_ = false;
  std::string digits_;
  std::int64_t exponent_ = 0;
};

}  // namespace glmhost::constraints
