#include "inference/constraints/decimal.h"

#include <algorithm>
#include <charconv>

namespace glmhost::constraints {
namespace {

constexpr std::int64_t kMostDigits = 400;  // a double has at most 309 before the point

std::string_view take_digits(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && text[count] >= '0' && text[count] <= '9') ++count;
  const std::string_view taken = text.substr(0, count);
  text.remove_prefix(count);
  return taken;
}

}  // namespace

std::optional<Decimal> Decimal::parse(std::string_view text) {
  Decimal number;
  if (text.starts_with('-')) {
    number.negative_ = true;
    text.remove_prefix(1);
  }
  const std::string_view whole = take_digits(text);
  if (whole.empty()) return std::nullopt;
  std::string_view fraction;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = take_digits(text);
    if (fraction.empty()) return std::nullopt;
  }
  std::int64_t exponent = 0;
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    if (exponent > 1'000'000 || exponent < -1'000'000) return std::nullopt;
    text = {};
  }
  if (!text.empty()) return std::nullopt;
  number.digits_ = std::string(whole) + std::string(fraction);
  number.exponent_ = static_cast<std::int64_t>(whole.size()) + exponent;
  const std::size_t leading = std::min(number.digits_.find_first_not_of('0'), number.digits_.size());
  number.digits_.erase(0, leading);
  number.exponent_ -= static_cast<std::int64_t>(leading);
  while (number.digits_.ends_with('0')) number.digits_.pop_back();
  if (number.digits_.empty()) return Decimal();
  return number;
}

std::optional<std::pair<std::string, std::string>> Decimal::parts() const {
  const auto count = static_cast<std::int64_t>(digits_.size());
  if (exponent_ > kMostDigits || count - exponent_ > kMostDigits) return std::nullopt;
  if (exponent_ <= 0) return {{"", zero() ? "" : std::string(static_cast<std::size_t>(-exponent_), '0') + digits_}};
  if (exponent_ >= count) return {{digits_ + std::string(static_cast<std::size_t>(exponent_ - count), '0'), ""}};
  return {
      {digits_.substr(0, static_cast<std::size_t>(exponent_)), digits_.substr(static_cast<std::size_t>(exponent_))}};
}

std::string Decimal::exponential() const {
  if (zero()) return "0";
  const std::int64_t power = exponent_ - 1;
  const std::string size = std::to_string(power < 0 ? -power : power);
  return std::string(negative_ ? "-" : "") + digits_[0] + (digits_.size() > 1 ? "." + digits_.substr(1) : "") + "e" +
         (power < 0 ? "-" : "+") + (size.size() < 2 ? "0" : "") + size;
}

std::strong_ordering Decimal::operator<=>(const Decimal& other) const {
  const auto sign = [](const Decimal& number) { return number.zero() ? 0 : number.negative_ ? -1 : 1; };
  if (sign(*this) != sign(other)) return sign(*this) <=> sign(other);
  const bool swapped = negative_;
  const Decimal& a = swapped ? other : *this;
  const Decimal& b = swapped ? *this : other;
  if (a.exponent_ != b.exponent_) return a.exponent_ <=> b.exponent_;
  return a.digits_ <=> b.digits_;
}

}  // namespace glmhost::constraints
