// Text as Excel counts it: in UTF-16 units. Inside, text is UTF-8.
//
// LEFT, MID and the like may cut between the two halves of a character beyond the basic plane. Such a half is kept in
// three bytes (as WTF-8 does) so that joining the pieces gives the character back; output makes it U+FFFD.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace glmhost::formula {

// Invalid bytes become U+FFFD.
std::u16string to_utf16(std::string_view text);
std::string from_utf16(std::u16string_view units);

std::size_t length_in_units(std::string_view text);

// `count` units from `start` (from 0), or fewer where the text ends.
std::string slice_units(std::string_view text, std::size_t start, std::size_t count);

// left + right, where two halves that meet become one character.
std::string joined(std::string_view left, std::string_view right);

// The text with lone halves and invalid bytes as U+FFFD: what may leave the process.
std::string valid_utf8(std::string_view text);

std::string upper(std::string_view text);
std::string lower(std::string_view text);
std::string proper(std::string_view text);  // The First Letter Of Each Word

bool equal_without_case(std::string_view a, std::string_view b);

// < 0, 0, > 0 as a sorts before, with, or after b: without case; signs before digits before letters; an accent decides
// only between texts that are else equal.
int compare_text(std::string_view a, std::string_view b);

// A text whose bytes sort as compare_text() does, for sorting many.
std::string collation_key(std::string_view text);

// A text under which equal_without_case() texts are equal bytes.
std::string folded(std::string_view text);

void append_utf8(std::string& text, std::uint32_t code_point);

// The code point at `position`, which moves behind it. U+FFFD for bytes that are none.
std::uint32_t next_code_point(std::string_view text, std::size_t& position);

}  // namespace glmhost::formula
