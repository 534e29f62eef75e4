// The bytes of one JSON string, read one at a time while an automaton follows what they mean.
//
// Any of JSON's ways to write a character is taken: itself, a short escape, \uHHHH, a pair of surrogates. Half a pair
// is not: it has no UTF-8. Every state can be completed, in the middle of an escape too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "inference/constraints/code_points.h"
#include "inference/constraints/dfa.h"

namespace glmhost::constraints {

// Where in the spelling of a character the text stands. The low three bits are the phase; above them, while hexadecimal
// digits come: how many have come (2 bits), their value (16 bits), and the first half of a pair (10 bits).
using Spelling = std::uint32_t;

namespace spelling {

inline constexpr Spelling kText = 0;
inline constexpr Spelling kBackslash = 1;
inline constexpr Spelling kOpening = 2;  // the opening quote is to come
inline constexpr Spelling kClosed = 3;   // the closing quote has come
inline constexpr Spelling kHex = 4;
inline constexpr Spelling kLowBackslash = 5;  // the backslash of a pair's second half is to come
inline constexpr Spelling kLowU = 6;          // its u is to come
inline constexpr Spelling kLowHex = 7;

inline constexpr Spelling phase(Spelling s) {
  return s & 7;
}
inline constexpr std::uint32_t digits(Spelling s) {
  return s >> 3 & 3;
}
inline constexpr std::uint32_t value(Spelling s) {
  return s >> 5 & 0xFFFF;
}
inline constexpr std::uint32_t high(Spelling s) {
  return s >> 21;
}
inline constexpr Spelling make(Spelling phase, std::uint32_t digits, std::uint32_t value, std::uint32_t high) {
  return phase | digits << 3 | value << 5 | high << 21;
}

}  // namespace spelling

// Whether DFA has, from STATE, a live path over some character of first..last (no surrogates in it).
bool reaches(const Dfa& dfa, DfaState state, char32_t first, char32_t last);

// A Cursor stands in the language of what the string means:
//   bool step(byte)           one byte of UTF-8; false when no member goes on like that
//   bool reaches(first, last) some member goes on with a character of the range
//   bool accepts()            the text may end here
//   bool begin_character()    one more character; false when there must be none
//   bool one_spelling()       characters are written in one way: themselves, or as the shortest escape where they must
// Returns false when the string cannot go on with BYTE; the cursor is of no use then.
template <typename Cursor>
bool step_json_text(Spelling& state, Cursor& cursor, std::uint8_t byte);

namespace spelling {

// Short escapes; 0 for a letter that is none.
inline char short_escape(std::uint8_t byte) {
  switch (byte) {
    case '"':
    case '\\':
    case '/':
      return static_cast<char>(byte);
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return 0;
  }
}

inline int hex_digit(std::uint8_t byte) {
  if (byte >= '0' && byte <= '9') return byte - '0';
  if (byte >= 'a' && byte <= 'f') return byte - 'a' + 10;
  if (byte >= 'A' && byte <= 'F') return byte - 'A' + 10;
  return -1;
}

template <typename Cursor>
bool step_character(Cursor& cursor, char32_t c) {
  std::string bytes;
  append_utf8(c, bytes);
  return std::ranges::all_of(bytes, [&](char byte) { return cursor.step(static_cast<std::uint8_t>(byte)); });
}

template <typename Cursor>
bool reaches_within(const Cursor& cursor, std::uint32_t low, std::uint32_t high, std::uint32_t first,
                    std::uint32_t last) {
  low = std::max(low, first);
  high = std::min(high, last);
  return low <= high && cursor.reaches(low, high);
}

// Control characters that have no short escape.
template <typename Cursor>
bool reaches_unnamed_control(const Cursor& cursor, char32_t first, char32_t last) {
  for (char32_t c = first; c <= last && c < 0x20; ++c) {
    const bool named = c == '\b' || c == '\f' || c == '\n' || c == '\r' || c == '\t';
    if (!named && cursor.reaches(c, c)) return true;
  }
  return false;
}

template <typename Cursor>
bool step_hex(Spelling& state, Cursor& cursor, std::uint8_t byte) {
  const int digit = hex_digit(byte);
  if (digit < 0) return false;
  const std::uint32_t now = value(state) << 4 | static_cast<std::uint32_t>(digit);
  const std::uint32_t count = digits(state) + 1;
  const std::uint32_t low = now << 4 * (4 - count);
  const std::uint32_t top = low | ((1u << 4 * (4 - count)) - 1);
  if (cursor.one_spelling() && ((byte >= 'A' && byte <= 'F') || !reaches_unnamed_control(cursor, low, top)))
    return false;
  if (phase(state) == kLowHex) {
    const std::uint32_t base = 0x10000 + (high(state) << 10);
    const std::uint32_t from = std::max(low, 0xDC00u);
    const std::uint32_t to = std::min(top, 0xDFFFu);
    if (from > to || !cursor.reaches(base + (from - 0xDC00), base + (to - 0xDC00))) return false;
    if (count < 4) {
      state = make(kLowHex, count, now, high(state));
      return true;
    }
    state = kText;
    return step_character(cursor, base + (now - 0xDC00));
  }
  const std::uint32_t from = std::max(low, 0xD800u);
  const std::uint32_t to = std::min(top, 0xDBFFu);
  const bool pair =
      from <= to && cursor.reaches(0x10000 + ((from - 0xD800) << 10), 0x10000 + ((to - 0xD800) << 10) + 0x3FF);
  if (!pair && !reaches_within(cursor, low, top, 0, 0xD7FF) && !reaches_within(cursor, low, top, 0xE000, 0xFFFF)) {
    return false;
  }
  if (count < 4) {
    state = make(kHex, count, now, 0);
    return true;
  }
  if (now >= 0xD800 && now <= 0xDBFF) {
    state = make(kLowBackslash, 0, 0, now - 0xD800);
    return true;
  }
  state = kText;
  return step_character(cursor, now);
}

}  // namespace spelling

template <typename Cursor>
bool step_json_text(Spelling& state, Cursor& cursor, std::uint8_t byte) {
  switch (spelling::phase(state)) {
    case spelling::kText:
      if (byte == '"') {
        state = spelling::kClosed;
        return cursor.accepts();
      }
      if (byte == '\\') {
        state = spelling::kBackslash;
        if (!cursor.begin_character()) return false;
        if (!cursor.one_spelling()) return cursor.reaches(0, kLastCodePoint);
        return cursor.reaches(0, 0x1F) || cursor.reaches('"', '"') || cursor.reaches('\\', '\\');
      }
      if (byte < 0x20) return false;
      if ((byte & 0xC0) != 0x80 && !cursor.begin_character()) return false;
      return cursor.step(byte);
    case spelling::kBackslash: {
      if (byte == 'u') {
        state = spelling::kHex;
        return !cursor.one_spelling() || spelling::reaches_unnamed_control(cursor, 0, 0x1F);
      }
      const char c = spelling::short_escape(byte);
      if (cursor.one_spelling() && byte == '/') return false;
      state = spelling::kText;
      return c != 0 && cursor.step(static_cast<std::uint8_t>(c));
    }
    case spelling::kOpening:
      state = spelling::kText;
      return byte == '"';
    case spelling::kClosed:
      return false;
    case spelling::kLowBackslash:
      state = spelling::make(spelling::kLowU, 0, 0, spelling::high(state));
      return byte == '\\';
    case spelling::kLowU:
      state = spelling::make(spelling::kLowHex, 0, 0, spelling::high(state));
      return byte == 'u';
    default:
      return spelling::step_hex(state, cursor, byte);
  }
}

}  // namespace glmhost::constraints
