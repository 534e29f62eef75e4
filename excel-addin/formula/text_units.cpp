#include "excel-addin/formula/text_units.h"

#include <utf8proc.h>

#include <algorithm>
#include <vector>

namespace glmhost::formula {
namespace {

constexpr std::uint32_t kReplacement = 0xFFFD;

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

char ascii_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

template <class Change>
std::string mapped(std::string_view text, Change change) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) append_utf8(result, change(next_code_point(text, i)));
  return result;
}

std::uint32_t to_upper(std::uint32_t c) {
  if (c == 0xDF) return c;  // Excel leaves the sharp s alone
  return static_cast<std::uint32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c)));
}

std::uint32_t to_lower(std::uint32_t c) {
  return static_cast<std::uint32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
}

bool is_letter(std::uint32_t c) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

// Upper half: the group in which a character sorts; lower half: its place there.
std::uint64_t sort_key(std::uint32_t c) {
  std::uint64_t group = 2;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      group = 4;
      break;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      group = 3;
      break;
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_ZS:
      group = 1;
      break;
    default:
      break;
  }
  return group << 32 | to_lower(c);
}

// The base letters of a text, without marks.
std::vector<std::uint64_t> sort_keys(std::string_view text) {
  std::vector<std::uint64_t> keys;
  keys.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::uint32_t c = next_code_point(text, i);
    utf8proc_int32_t parts[16];
    int boundary = 0;
    const auto count =
        utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts, 16, UTF8PROC_DECOMPOSE, &boundary);
    if (c < 0x80 || count < 1 || count > 16) {
      keys.push_back(sort_key(c));
      continue;
    }
    for (int k = 0; k < count; ++k) {
      if (utf8proc_category(parts[k]) == UTF8PROC_CATEGORY_MN) continue;
      keys.push_back(sort_key(static_cast<std::uint32_t>(parts[k])));
    }
  }
  return keys;
}

}  // namespace

void append_utf8(std::string& text, std::uint32_t c) {
  if (c < 0x80) {
    text += static_cast<char>(c);
  } else if (c < 0x800) {
    text += static_cast<char>(0xC0 | c >> 6);
    text += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    text += static_cast<char>(0xE0 | c >> 12);
    text += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    text += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    text += static_cast<char>(0xF0 | c >> 18);
    text += static_cast<char>(0x80 | (c >> 12 & 0x3F));
    text += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    text += static_cast<char>(0x80 | (c & 0x3F));
  }
}

std::uint32_t next_code_point(std::string_view text, std::size_t& position) {
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return position + i < text.size() ? static_cast<unsigned char>(text[position + i]) : 0u;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const std::uint32_t first = byte(0);
  std::uint32_t c = kReplacement;
  std::size_t length = 1;
  if (first < 0x80) {
    c = first;
  } else if (first >= 0xC2 && first < 0xE0 && follows(1)) {
    c = (first & 0x1F) << 6 | (byte(1) & 0x3F);
    length = 2;
  } else if (first >= 0xE0 && first < 0xF0 && follows(1) && follows(2)) {
    const std::uint32_t decoded = (first & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    if (decoded >= 0x800) {
      c = decoded;
      length = 3;
    }
  } else if (first >= 0xF0 && first < 0xF5 && follows(1) && follows(2) && follows(3)) {
    const std::uint32_t decoded =
        (first & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
    if (decoded >= 0x10000 && decoded < 0x110000) {
      c = decoded;
      length = 4;
    }
  }
  position += length;
  return c;
}

std::u16string to_utf16(std::string_view text) {
  std::u16string units;
  units.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::uint32_t c = next_code_point(text, i);
    if (c < 0x10000) {
      units += static_cast<char16_t>(c);
    } else {
      units += static_cast<char16_t>(0xD800 + ((c - 0x10000) >> 10));
      units += static_cast<char16_t>(0xDC00 + ((c - 0x10000) & 0x3FF));
    }
  }
  return units;
}

std::string from_utf16(std::u16string_view units) {
  std::string text;
  text.reserve(units.size());
  for (std::size_t i = 0; i < units.size(); ++i) {
    const std::uint32_t unit = units[i];
    if (unit >= 0xD800 && unit < 0xDC00 && i + 1 < units.size() && units[i + 1] >= 0xDC00 && units[i + 1] < 0xE000) {
      append_utf8(text, 0x10000 + ((unit - 0xD800) << 10) + (units[++i] - 0xDC00u));
    } else {
      append_utf8(text, unit);
    }
  }
  return text;
}

std::size_t length_in_units(std::string_view text) {
  std::size_t units = 0;
  for (std::size_t i = 0; i < text.size();) units += next_code_point(text, i) < 0x10000 ? 1 : 2;
  return units;
}

std::string slice_units(std::string_view text, std::size_t start, std::size_t count) {
  if (is_ascii(text)) return std::string(start < text.size() ? text.substr(start, count) : std::string_view());
  const std::u16string units = to_utf16(text);
  if (start >= units.size()) return {};
  return from_utf16(std::u16string_view(units).substr(start, count));
}

std::string joined(std::string_view left, std::string_view right) {
  const auto ends_in_half = [](std::string_view text) {
    return text.size() >= 3 && static_cast<unsigned char>(text[text.size() - 3]) == 0xED &&
           static_cast<unsigned char>(text[text.size() - 2]) >= 0xA0;
  };
  std::string both;
  both.reserve(left.size() + right.size());
  both.append(left).append(right);
  return ends_in_half(left) && right.starts_with('\xED') ? from_utf16(to_utf16(both)) : both;
}

std::string valid_utf8(std::string_view text) {
  if (is_ascii(text)) return std::string(text);
  return mapped(text, [](std::uint32_t c) { return c >= 0xD800 && c < 0xE000 ? kReplacement : c; });
}

std::string upper(std::string_view text) {
  return mapped(text, to_upper);
}

std::string lower(std::string_view text) {
  return mapped(text, to_lower);
}

std::string proper(std::string_view text) {
  bool inside_word = false;
  return mapped(text, [&](std::uint32_t c) {
    const bool begins = !inside_word;
    inside_word = is_letter(c);
    return begins ? to_upper(c) : to_lower(c);
  });
}

std::string folded(std::string_view text) {
  std::string result(text);
  if (is_ascii(text)) {
    std::ranges::transform(result, result.begin(), ascii_lower);
    return result;
  }
  return lower(text);
}

bool equal_without_case(std::string_view a, std::string_view b) {
  if (a == b) return true;
  if (is_ascii(a) && is_ascii(b)) {
    return std::ranges::equal(a, b, [](char x, char y) { return ascii_lower(x) == ascii_lower(y); });
  }
  return folded(a) == folded(b);
}

std::string collation_key(std::string_view text) {
  std::string key;
  key.reserve(text.size() * 3 + 1);
  for (const std::uint64_t each : sort_keys(text)) {
    key += static_cast<char>(each >> 32);
    const auto c = static_cast<std::uint32_t>(each);
    if (c >= 0x80) {
      key += static_cast<char>(0x80 | c >> 16);
      key += static_cast<char>(c >> 8 & 0xFF);
    }
    key += static_cast<char>(c & 0xFF);
  }
  key += '\0';  // no group is 0: what ends here sorts before what goes on
  return key + folded(text);
}

int compare_text(std::string_view a, std::string_view b) {
  if (equal_without_case(a, b)) return 0;
  const auto a_keys = sort_keys(a);
  const auto b_keys = sort_keys(b);
  const auto order = a_keys <=> b_keys;
  if (order != 0) return order < 0 ? -1 : 1;
  return folded(a) < folded(b) ? -1 : 1;
}

}  // namespace glmhost::formula
