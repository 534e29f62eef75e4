#include "host/ranges/segment_name.h"

#include <algorithm>
#include <array>
#include <random>
#include <string_view>

#include "host/ranges/shared_memory.h"

namespace glmhost::ranges {
namespace {

constexpr std::string_view kPrefix = "glmhost-";
constexpr std::size_t kRandomDigits = 16;

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

// Takes "123-" from the front.
bool take_number(std::string_view& text) {
  std::size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
  if (digits == 0 || digits > 10 || digits >= text.size() || text[digits] != '-') return false;
  text.remove_prefix(digits + 1);
  return true;
}

}  // namespace

std::string make_segment_name(std::uint32_t user, std::uint32_t process) {
  std::random_device random;
  std::string digits;
  while (digits.size() < kRandomDigits) {
    const std::uint32_t bits = random();
    for (int shift = 28; shift >= 0; shift -= 4) digits += "0123456789abcdef"[bits >> shift & 15];
  }
  return std::string(kPrefix) + std::to_string(user) + "-" + std::to_string(process) + "-" + digits;
}

bool is_segment_name(std::string_view name) {
  if (!name.starts_with(kPrefix)) return false;
  name.remove_prefix(kPrefix.size());
  return take_number(name) && take_number(name) && name.size() == kRandomDigits &&
         std::all_of(name.begin(), name.end(), is_hex);
}

}  // namespace glmhost::ranges
