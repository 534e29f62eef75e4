#include "inference/chat/jinja/text.h"

#include <utf8proc.h>

#include <algorithm>

#include "inference/chat/jinja/python_text.h"
#include "inference/tokenizer/utf8.h"

namespace glmhost::jinja {
namespace {

constexpr char32_t kSharpS = 0xDF;  // the only common letter whose capital is two letters

bool is_letter(char32_t c) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL || category == UTF8PROC_CATEGORY_LT;
}

enum class Case { upper, lower, title };

void append_mapped(Text& out, const Text& text, std::size_t position, Case wanted) {
  const std::size_t bytes = character_bytes(text.bytes(), position);
  const char32_t c = character(text.bytes(), position);
  const Origin origin = text.origin_at(position);
  if (c == kSharpS && wanted != Case::lower) {
    out.append(wanted == Case::upper ? "SS" : "Ss", origin);
    return;
  }
  const auto code = static_cast<utf8proc_int32_t>(c);
  const utf8proc_int32_t mapped = wanted == Case::upper   ? utf8proc_toupper(code)
                                  : wanted == Case::lower ? utf8proc_tolower(code)
                                                          : utf8proc_totitle(code);
  if (mapped == code) {
    out.append(text, position, position + bytes);
    return;
  }
  std::string utf8;
  append_utf8(utf8, static_cast<char32_t>(mapped));
  out.append(utf8, origin);
}

Text map_case(const Text& text, Case wanted) {
  Text out;
  for (std::size_t i = 0; i < text.size(); i += character_bytes(text.bytes(), i)) append_mapped(out, text, i, wanted);
  return out;
}

bool contains_character(std::string_view characters, std::string_view wanted) {
  for (std::size_t i = 0; i < characters.size();) {
    const std::size_t bytes = character_bytes(characters, i);
    if (characters.substr(i, bytes) == wanted) return true;
    i += bytes;
  }
  return false;
}

std::size_t last_character(std::string_view text, std::size_t end) {
  std::size_t begin = end - 1;
  const std::size_t furthest = end < 4 ? 0 : end - 4;
  for (std::size_t i = begin + 1; i-- > furthest;) {
    if (i + character_bytes(text, i) == end) begin = i;
  }
  return begin;
}

}  // namespace

Origin Text::origin_at(std::size_t position) const {
  const auto run =
      std::upper_bound(runs_.begin(), runs_.end(), position, [](std::size_t p, const Run& r) { return p < r.end; });
  return run->origin;
}

bool Text::has_given() const {
  return std::any_of(runs_.begin(), runs_.end(), [](const Run& run) { return run.origin != Origin::own; });
}

Text& Text::append(std::string_view bytes, Origin origin) {
  if (bytes.empty()) return *this;
  bytes_ += bytes;
  if (!runs_.empty() && runs_.back().origin == origin) {
    runs_.back().end = bytes_.size();
  } else {
    runs_.push_back({bytes_.size(), origin});
  }
  return *this;
}

Text& Text::append(const Text& other, std::size_t begin, std::size_t end) {
  const std::string_view bytes = other.bytes_;
  auto run = std::upper_bound(other.runs_.begin(), other.runs_.end(), begin,
                              [](std::size_t p, const Run& r) { return p < r.end; });
  for (; begin < end; ++run) {
    const std::size_t until = std::min(end, run->end);
    append(bytes.substr(begin, until - begin), run->origin);
    begin = until;
  }
  return *this;
}

Text Text::slice(std::size_t begin, std::size_t end) const {
  Text out;
  out.append(*this, begin, end);
  return out;
}

std::size_t character_bytes(std::string_view text, std::size_t position) {
  if (static_cast<unsigned char>(text[position]) < 0x80) return 1;
  const int length = tokenizer::utf8_sequence_length(text.substr(position, 4));
  return length > 0 ? static_cast<std::size_t>(length) : 1;
}

char32_t character(std::string_view text, std::size_t position) {
  const auto first = static_cast<unsigned char>(text[position]);
  if (first < 0x80) return first;
  return character_bytes(text, position) == 1 ? char32_t{0xFFFD} : tokenizer::utf8_code_point(text, position);
}

void append_utf8(std::string& out, char32_t c) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (c >> shift & 0x3F)); };
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    tail(0);
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

std::size_t count_characters(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); i += character_bytes(text, i)) ++count;
  return count;
}

std::size_t character_offset(std::string_view text, std::size_t number) {
  std::size_t offset = 0;
  for (; number > 0 && offset < text.size(); --number) offset += character_bytes(text, offset);
  return offset;
}

Text strip(const Text& text, bool left, bool right) {
  const std::string_view bytes = text.bytes();
  std::size_t begin = 0;
  std::size_t end = bytes.size();
  while (left) {
    const std::size_t blank = leading_blank(bytes.substr(begin, end - begin));
    if (blank == 0) break;
    begin += blank;
  }
  while (right) {
    const std::size_t blank = trailing_blank(bytes.substr(begin, end - begin));
    if (blank == 0) break;
    end -= blank;
  }
  return text.slice(begin, end);
}

Text strip(const Text& text, std::string_view characters, bool left, bool right) {
  const std::string_view bytes = text.bytes();
  std::size_t begin = 0;
  std::size_t end = bytes.size();
  while (left && begin < end) {
    const std::size_t length = character_bytes(bytes, begin);
    if (!contains_character(characters, bytes.substr(begin, length))) break;
    begin += length;
  }
  while (right && begin < end) {
    const std::size_t last = last_character(bytes, end);
    if (!contains_character(characters, bytes.substr(last, end - last))) break;
    end = last;
  }
  return text.slice(begin, end);
}

Text to_upper(const Text& text) {
  return map_case(text, Case::upper);
}

Text to_lower(const Text& text) {
  return map_case(text, Case::lower);
}

Text to_title(const Text& text) {
  Text out;
  bool in_word = false;
  for (std::size_t i = 0; i < text.size(); i += character_bytes(text.bytes(), i)) {
    append_mapped(out, text, i, in_word ? Case::lower : Case::title);
    in_word = is_letter(character(text.bytes(), i));
  }
  return out;
}

Text to_capitalized(const Text& text) {
  Text out;
  for (std::size_t i = 0; i < text.size(); i += character_bytes(text.bytes(), i)) {
    append_mapped(out, text, i, i == 0 ? Case::title : Case::lower);
  }
  return out;
}

}  // namespace glmhost::jinja
