#include "host/model_store/model_name.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

namespace glmhost::model_store {
namespace {

constexpr std::size_t kMaxBase = 96;
constexpr std::size_t kMaxQuantisation = 32;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_part(std::string_view part, std::size_t longest) {
  if (part.empty() || part.size() > longest || !is_letter_or_digit(part.front()) || part.back() == '.') return false;
  return std::ranges::all_of(part, [](char c) { return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-'; });
}

// Names that Windows gives to devices, with any extension.
bool is_device(std::string_view base) {
  const std::string_view stem = base.substr(0, base.find('.'));
  static constexpr std::array<std::string_view, 4> kDevices = {"con", "prn", "aux", "nul"};
  if (std::ranges::find(kDevices, stem) != kDevices.end()) return true;
  return stem.size() == 4 && (stem.starts_with("com") || stem.starts_with("lpt")) && stem[3] >= '0' && stem[3] <= '9';
}

std::optional<std::uint32_t> five_digits(std::string_view text) {
  if (text.size() != 5 || !std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; })) return std::nullopt;
  std::uint32_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

std::string ModelName::text() const {
  return quantisation.empty() ? base : base + ":" + quantisation;
}
std::string ModelName::file_stem() const {
  return quantisation.empty() ? base : base + "@" + quantisation;
}

std::optional<ModelName> parse_model_name(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const std::size_t colon = small.find(':');
  ModelName name;
  name.base = small.substr(0, colon);
  if (!is_part(name.base, kMaxBase) || is_device(name.base)) return std::nullopt;
  if (colon != std::string::npos) {
    name.quantisation = small.substr(colon + 1);
    if (!is_part(name.quantisation, kMaxQuantisation)) return std::nullopt;
  }
  return name;
}

std::string name_of_stem(std::string_view stem) {
  const std::size_t at = stem.rfind('@');
  if (at == std::string_view::npos) return std::string(stem);
  const std::string name = std::string(stem.substr(0, at)) + ":" + std::string(stem.substr(at + 1));
  const auto parsed = parse_model_name(name);
  return parsed && parsed->file_stem() == stem ? name : std::string(stem);
}

std::optional<ShardStem> parse_shard_stem(std::string_view stem) {
  constexpr std::size_t kTail = sizeof("-00001-of-00002") - 1;
  if (stem.size() <= kTail) return std::nullopt;
  const std::string_view tail = stem.substr(stem.size() - kTail);
  if (tail[0] != '-' || tail.substr(6, 4) != "-of-") return std::nullopt;
  const auto number = five_digits(tail.substr(1, 5));
  const auto count = five_digits(tail.substr(10, 5));
  if (!number || !count || *number < 1 || *number > *count) return std::nullopt;
  return ShardStem{stem.substr(0, stem.size() - kTail), *number, *count};
}

std::string shard_stem(std::string_view base, std::uint32_t number, std::uint32_t count) {
  std::array<char, 32> tail{};
  std::snprintf(tail.data(), tail.size(), "-%05u-of-%05u", number, count);
  return std::string(base) + tail.data();
}

}  // namespace glmhost::model_store
