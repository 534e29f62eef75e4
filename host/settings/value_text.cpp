#include "host/settings/value_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <span>

namespace glmhost::settings {
namespace {

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

struct Unit {
  std::string_view name;
  std::uint64_t size;
};

constexpr std::uint64_t kKibi = 1024, kKilo = 1000;
constexpr std::array<Unit, 14> kByteUnits{{{"", 1},
                                           {"b", 1},
                                           {"k", kKibi},
                                           {"kib", kKibi},
                                           {"kb", kKilo},
                                           {"m", kKibi* kKibi},
                                           {"mib", kKibi* kKibi},
                                           {"mb", kKilo* kKilo},
                                           {"g", kKibi* kKibi* kKibi},
                                           {"gib", kKibi* kKibi* kKibi},
                                           {"gb", kKilo* kKilo* kKilo},
                                           {"t", kKibi* kKibi* kKibi* kKibi},
                                           {"tib", kKibi* kKibi* kKibi* kKibi},
                                           {"tb", kKilo* kKilo* kKilo* kKilo}}};
constexpr std::array<Unit, 5> kTimeUnits{{{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}}};

std::optional<std::uint64_t> find_unit(std::string_view name, std::span<const Unit> units) {
  const std::string wanted = lower(trim(name));
  for (const Unit& unit : units) {
    if (unit.name == wanted) return unit.size;
  }
  return std::nullopt;
}

constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();

}  // namespace

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  text = trim(text);
  std::uint64_t whole = 0;
  const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (failure != std::errc()) return std::nullopt;
  std::string_view tail = text.substr(static_cast<std::size_t>(rest - text.data()));
  if (tail.empty() || tail.front() != '.') {
    const auto unit = find_unit(tail, kByteUnits);
    if (!unit || whole > kMost / *unit) return std::nullopt;
    return whole * *unit;
  }
  double fraction = 0;
  double digit_value = 0.1;
  std::size_t digits = 0;
  for (tail.remove_prefix(1); digits < tail.size() && tail[digits] >= '0' && tail[digits] <= '9'; ++digits) {
    fraction += (tail[digits] - '0') * digit_value;
    digit_value /= 10;
  }
  const auto unit = find_unit(tail.substr(digits), kByteUnits);
  if (digits == 0 || !unit || *unit == 1) return std::nullopt;  // half a byte is a slip
  const double bytes = std::round((static_cast<double>(whole) + fraction) * static_cast<double>(*unit));
  if (bytes >= 9.2e18) return std::nullopt;
  return static_cast<std::uint64_t>(bytes);
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  text = trim(text);
  std::int64_t value = 0;
  const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_seconds(std::string_view text) {
  text = trim(text);
  std::int64_t value = 0;
  const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc()) return std::nullopt;
  const auto unit = find_unit(text.substr(static_cast<std::size_t>(rest - text.data())), kTimeUnits);
  if (!unit) return std::nullopt;
  const auto size = static_cast<std::int64_t>(*unit);
  if (value > static_cast<std::int64_t>(kMost) / size || value < -static_cast<std::int64_t>(kMost) / size) {
    return std::nullopt;
  }
  return value * size;
}

std::optional<bool> parse_bool(std::string_view text) {
  const std::string word = lower(trim(text));
  if (word == "true" || word == "yes" || word == "on" || word == "1") return true;
  if (word == "false" || word == "no" || word == "off" || word == "0") return false;
  return std::nullopt;
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array<Unit, 4> units{{{" TiB", kKibi * kKibi * kKibi * kKibi},
                                       {" GiB", kKibi * kKibi * kKibi},
                                       {" MiB", kKibi * kKibi},
                                       {" KiB", kKibi}}};
  for (const Unit& unit : units) {
    if (bytes != 0 && bytes % unit.size == 0) return std::to_string(bytes / unit.size) + std::string(unit.name);
  }
  return std::to_string(bytes);
}

std::string rounded_bytes_text(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> names{"bytes", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < names.size()) {
    value /= 1024;
    ++unit;
  }
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value, names[unit]);
  return text.data();
}

}  // namespace glmhost::settings
