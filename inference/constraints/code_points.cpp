#include "inference/constraints/code_points.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>

namespace glmhost::constraints {
namespace {

constexpr char32_t kFirstSurrogate = 0xD800;
constexpr char32_t kLastSurrogate = 0xDFFF;

struct Category {
  std::string_view short_name;  // one letter: all that begin with it
  std::string_view long_name;
};

constexpr std::array<Category, 37> kCategories = {{{"L", "Letter"},
                                                   {"Lu", "Uppercase_Letter"},
                                                   {"Ll", "Lowercase_Letter"},
                                                   {"Lt", "Titlecase_Letter"},
                                                   {"Lm", "Modifier_Letter"},
                                                   {"Lo", "Other_Letter"},
                                                   {"M", "Mark"},
                                                   {"Mn", "Nonspacing_Mark"},
                                                   {"Mc", "Spacing_Mark"},
                                                   {"Me", "Enclosing_Mark"},
                                                   {"N", "Number"},
                                                   {"Nd", "Decimal_Number"},
                                                   {"Nl", "Letter_Number"},
                                                   {"No", "Other_Number"},
                                                   {"P", "Punctuation"},
                                                   {"Pc", "Connector_Punctuation"},
                                                   {"Pd", "Dash_Punctuation"},
                                                   {"Ps", "Open_Punctuation"},
                                                   {"Pe", "Close_Punctuation"},
                                                   {"Pi", "Initial_Punctuation"},
                                                   {"Pf", "Final_Punctuation"},
                                                   {"Po", "Other_Punctuation"},
                                                   {"S", "Symbol"},
                                                   {"Sm", "Math_Symbol"},
                                                   {"Sc", "Currency_Symbol"},
                                                   {"Sk", "Modifier_Symbol"},
                                                   {"So", "Other_Symbol"},
                                                   {"Z", "Separator"},
                                                   {"Zs", "Space_Separator"},
                                                   {"Zl", "Line_Separator"},
                                                   {"Zp", "Paragraph_Separator"},
                                                   {"C", "Other"},
                                                   {"Cc", "Control"},
                                                   {"Cf", "Format"},
                                                   {"Co", "Private_Use"},
                                                   {"Cn", "Unassigned"},
                                                   {"Nd", "digit"}}};

CodePointSet of_category(std::string_view name) {
  std::vector<CodePointRange> ranges;
  for (char32_t c = 0; c <= kLastCodePoint; ++c) {
    const std::string_view category = utf8proc_category_string(static_cast<utf8proc_int32_t>(c));
    if (!category.starts_with(name)) continue;
    if (!ranges.empty() && ranges.back().last + 1 == c) {
      ranges.back().last = c;
    } else {
      ranges.push_back({c, c});
    }
  }
  return CodePointSet(std::move(ranges));
}

int encode(char32_t c, std::uint8_t* bytes) {
  if (c < 0x80) {
    bytes[0] = static_cast<std::uint8_t>(c);
    return 1;
  }
  const int length = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  for (int i = length - 1; i > 0; --i) {
    bytes[i] = static_cast<std::uint8_t>(0x80 | (c & 0x3F));
    c >>= 6;
  }
  bytes[0] = static_cast<std::uint8_t>((length == 2 ? 0xC0 : length == 3 ? 0xE0 : 0xF0) | c);
  return length;
}

// Splits so that in every run each byte varies over a whole interval independently of the others.
void split(char32_t first, char32_t last, std::vector<Utf8Run>& runs) {
  for (const char32_t limit : {0x7Fu, 0x7FFu, 0xFFFFu}) {
    if (first <= limit && limit < last) {
      split(first, limit, runs);
      split(limit + 1, last, runs);
      return;
    }
  }
  if (last >= 0x80) {
    for (int shift = 6; shift <= 18; shift += 6) {
      const char32_t mask = (char32_t{1} << shift) - 1;
      if ((first & ~mask) == (last & ~mask)) break;
      if ((first & mask) != 0) {
        split(first, first | mask, runs);
        split((first | mask) + 1, last, runs);
        return;
      }
      if ((last & mask) != mask) {
        split(first, (last & ~mask) - 1, runs);
        split(last & ~mask, last, runs);
        return;
      }
    }
  }
  Utf8Run run{};
  run.length = encode(first, run.low);
  encode(last, run.high);
  runs.push_back(run);
}

}  // namespace

CodePointSet::CodePointSet(std::vector<CodePointRange> ranges) : ranges_(std::move(ranges)) {
  tidy();
}

void CodePointSet::tidy() {
  std::vector<CodePointRange> parts;
  for (const CodePointRange& range : ranges_) {
    if (range.first < kFirstSurrogate)
      parts.push_back({range.first, std::min(range.last, char32_t{kFirstSurrogate - 1})});
    if (range.last > kLastSurrogate) parts.push_back({std::max(range.first, char32_t{kLastSurrogate + 1}), range.last});
  }
  std::ranges::sort(parts, {}, &CodePointRange::first);
  ranges_.clear();
  for (const CodePointRange& range : parts) {
    if (range.first > range.last) continue;
    if (!ranges_.empty() && range.first <= ranges_.back().last + 1) {
      ranges_.back().last = std::max(ranges_.back().last, range.last);
    } else {
      ranges_.push_back(range);
    }
  }
}

void CodePointSet::add(const CodePointSet& other) {
  ranges_.insert(ranges_.end(), other.ranges_.begin(), other.ranges_.end());
  tidy();
}

CodePointSet CodePointSet::complement() const {
  std::vector<CodePointRange> gaps;
  char32_t next = 0;
  for (const CodePointRange& range : ranges_) {
    if (range.first > next) gaps.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= kLastCodePoint) gaps.push_back({next, kLastCodePoint});
  return CodePointSet(std::move(gaps));
}

CodePointSet digits() {
  return CodePointSet({{'0', '9'}});
}

CodePointSet word_characters() {
  return CodePointSet({{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}});
}

CodePointSet white_space() {
  return CodePointSet({{0x09, 0x0D},
                       {0x20, 0x20},
                       {0xA0, 0xA0},
                       {0x1680, 0x1680},
                       {0x2000, 0x200A},
                       {0x2028, 0x2029},
                       {0x202F, 0x202F},
                       {0x205F, 0x205F},
                       {0x3000, 0x3000},
                       {0xFEFF, 0xFEFF}});
}

std::optional<CodePointSet> property(std::string_view name) {
  for (const std::string_view prefix : {"General_Category=", "gc="}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  if (name == "Any") return CodePointSet({{0, kLastCodePoint}});
  if (name == "ASCII") return CodePointSet({{0, 0x7F}});
  for (const Category& category : kCategories) {
    if (name == category.short_name || name == category.long_name) return of_category(category.short_name);
  }
  return std::nullopt;
}

std::vector<Utf8Run> utf8_runs(char32_t first, char32_t last) {
  std::vector<Utf8Run> runs;
  split(first, last, runs);
  return runs;
}

void append_utf8(char32_t code_point, std::string& text) {
  std::uint8_t bytes[4];
  const int length = encode(code_point, bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length));
}

}  // namespace glmhost::constraints
