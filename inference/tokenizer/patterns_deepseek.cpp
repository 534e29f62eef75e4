// The patterns of the DeepSeek families: deepseek-llm, deepseek-coder, deepseek-v3.
#include <algorithm>
#include <array>

#include "inference/tokenizer/character_cursor.h"
#include "inference/tokenizer/patterns.h"

namespace glmhost::tokenizer {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// The cased letters of deepseek-llm's second pattern, as its authors wrote them out.
constexpr std::array kListedLetters = {
    Range{0x41, 0x5A},       Range{0x61, 0x7A},       Range{0xB5, 0xB5},       Range{0xC0, 0xD6},
    Range{0xD8, 0xF6},       Range{0xF8, 0x1BA},      Range{0x1BC, 0x1BF},     Range{0x1C4, 0x293},
    Range{0x295, 0x2AF},     Range{0x370, 0x373},     Range{0x376, 0x377},     Range{0x37B, 0x37D},
    Range{0x37F, 0x37F},     Range{0x386, 0x386},     Range{0x388, 0x38A},     Range{0x38C, 0x38C},
    Range{0x38E, 0x3A1},     Range{0x3A3, 0x3F5},     Range{0x3F7, 0x481},     Range{0x48A, 0x52F},
    Range{0x531, 0x556},     Range{0x10A0, 0x10C5},   Range{0x13A0, 0x13F5},   Range{0x13F8, 0x13FD},
    Range{0x1C90, 0x1CBA},   Range{0x1CBD, 0x1CBF},   Range{0x1D00, 0x1D2B},   Range{0x1D6B, 0x1D77},
    Range{0x1D79, 0x1D9A},   Range{0x1E00, 0x1F15},   Range{0x1F18, 0x1F1D},   Range{0x1F20, 0x1F45},
    Range{0x1F48, 0x1F4D},   Range{0x1F50, 0x1F57},   Range{0x1F59, 0x1F59},   Range{0x1F5B, 0x1F5B},
    Range{0x1F5D, 0x1F5D},   Range{0x1F5F, 0x1F7D},   Range{0x1F80, 0x1FB4},   Range{0x1FB6, 0x1FBC},
    Range{0x1FBE, 0x1FBE},   Range{0x1FC2, 0x1FC4},   Range{0x1FC6, 0x1FCC},   Range{0x1FD0, 0x1FD3},
    Range{0x1FD6, 0x1FDB},   Range{0x1FE0, 0x1FEC},   Range{0x1FF2, 0x1FF4},   Range{0x1FF6, 0x1FFC},
    Range{0x2102, 0x2102},   Range{0x2107, 0x2107},   Range{0x210A, 0x2113},   Range{0x2115, 0x2115},
    Range{0x2119, 0x211D},   Range{0x2124, 0x2124},   Range{0x2126, 0x2126},   Range{0x2128, 0x2128},
    Range{0x212A, 0x212D},   Range{0x212F, 0x2134},   Range{0x2139, 0x2139},   Range{0x213C, 0x213F},
    Range{0x2145, 0x2149},   Range{0x214E, 0x214E},   Range{0x2183, 0x2184},   Range{0x2C00, 0x2C7B},
    Range{0x2C7E, 0x2CE4},   Range{0x2CEB, 0x2CEE},   Range{0x2CF2, 0x2CF3},   Range{0xA640, 0xA66D},
    Range{0xA680, 0xA69B},   Range{0xA722, 0xA76F},   Range{0xA771, 0xA787},   Range{0xA78B, 0xA78E},
    Range{0xAB70, 0xABBF},   Range{0xFB00, 0xFB06},   Range{0xFB13, 0xFB17},   Range{0xFF21, 0xFF3A},
    Range{0xFF41, 0xFF5A},   Range{0x10400, 0x1044F}, Range{0x104B0, 0x104D3}, Range{0x104D8, 0x104FB},
    Range{0x10C80, 0x10CB2}, Range{0x10CC0, 0x10CF2}, Range{0x118A0, 0x118DF}, Range{0x1E900, 0x1E943},
};

bool is_between(char32_t c, char32_t first, char32_t last) {
  return c >= first && c <= last;
}

bool is_ascii_letter(char32_t c) {
  return is_between(c | 0x20, 'a', 'z');
}

bool is_ascii_punctuation(char32_t c) {
  return is_between(c, '!', '/') || is_between(c, ':', '@') || is_between(c, '[', '`') || is_between(c, '{', '~');
}

bool is_listed_letter(const Character& c) {
  const auto range = std::lower_bound(kListedLetters.begin(), kListedLetters.end(), c.code_point,
                                      [](const Range& r, char32_t code_point) { return r.last < code_point; });
  return range != kListedLetters.end() && range->first <= c.code_point;
}

// ":-~" is what was published, and it holds all ASCII letters: so this pattern cuts "caf|é" after the letters pattern
// had kept it together. Models were trained on that.
bool is_listed_punctuation(const Character& c) {
  const char32_t p = c.code_point;
  return is_between(p, '!', '/') || is_between(p, ':', '~') || is_between(p, 0xFF01, 0xFF0F) ||
         is_between(p, 0xFF1A, 0xFF5E) || is_between(p, 0x2018, 0x201F) || is_between(p, 0x3000, 0x3002);
}

// \s?[BELONGS]+
template <class Belongs>
std::size_t optional_space_and_run(std::string_view text, std::size_t position, const Belongs& belongs) {
  const Character first = character_at(text, position);
  if (first.is(kWhitespace)) {
    const std::size_t end = run_end(text, first.end, belongs);
    if (end != first.end) return end;
  }
  return run_end(text, position, belongs);
}

}  // namespace

std::size_t match_newline(std::string_view text, std::size_t position) {
  return run_of_at_most(text, position, kNewline, 1);
}

std::size_t match_cjk_or_kana(std::string_view text, std::size_t position) {
  return run_end(text, position, [](const Character& c) {
    return is_between(c.code_point, 0x4E00, 0x9FA5) || is_between(c.code_point, 0x3040, 0x30FF);
  });
}

// [ASCII punctuation][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
// A control or format character with no letter after it matches none of these.
std::size_t match_deepseek_v3_words(std::string_view text, std::size_t position) {
  constexpr CharacterClass kWord = kLetter | kMark;
  constexpr CharacterClass kSign = kPunctuation | kSymbol;
  const Character first = character_at(text, position);
  const Character second = character_at(text, first.end);
  if (is_ascii_punctuation(first.code_point) && is_ascii_letter(second.code_point)) {
    return run_end(text, second.end, [](const Character& c) { return is_ascii_letter(c.code_point); });
  }
  if (first.is(kWord)) return run_of(text, first.end, kWord);
  if (second.is(kWord) && !first.is(kNewline | kSign)) return run_of(text, second.end, kWord);

  const bool spaced = first.code_point == ' ' && second.is(kSign);
  if (spaced || first.is(kSign)) return run_of(text, run_of(text, first.end, kSign), kNewline);
  if (!first.is(kWhitespace)) return position;

  const std::size_t newline = whitespace_to_last_newline(text, position);
  return newline != position ? newline : whitespace_run(text, position);
}

std::size_t match_letters(std::string_view text, std::size_t position) {
  return optional_space_and_run(text, position, [](const Character& c) { return c.is(kLetter); });
}

std::size_t match_punctuation(std::string_view text, std::size_t position) {
  return optional_space_and_run(text, position, [](const Character& c) { return c.is(kPunctuation); });
}

std::size_t match_listed_letters(std::string_view text, std::size_t position) {
  return optional_space_and_run(text, position, is_listed_letter);
}

std::size_t match_listed_punctuation(std::string_view text, std::size_t position) {
  return optional_space_and_run(text, position, is_listed_punctuation);
}

std::size_t match_trailing_whitespace(std::string_view text, std::size_t position) {
  // Inside a run of white space nothing can match that did not match from the run's start. Without this a long run in
  // the middle of a text would be walked once for each of its characters.
  if (position > 0 && character_before(text, position).is(kWhitespace)) return position;
  const std::size_t end = run_of(text, position, kWhitespace);
  return end == text.size() ? end : position;
}

std::size_t match_deepseek_cjk(std::string_view text, std::size_t position) {
  return run_end(text, position, [](const Character& c) {
    return is_between(c.code_point, 0x0800, 0x9FA5) || is_between(c.code_point, 0xAC00, 0xD7FF);
  });
}

}  // namespace glmhost::tokenizer
