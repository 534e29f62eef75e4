// Sets of Unicode code points, as character classes are written in patterns and grammars.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace glmhost::constraints {

inline constexpr char32_t kLastCodePoint = 0x10FFFF;

struct CodePointRange {
  char32_t first;
  char32_t last;
};

// Surrogates are never members: no text in UTF-8 has them.
class CodePointSet {
 public:
  CodePointSet() = default;
  explicit CodePointSet(std::vector<CodePointRange> ranges);
  static CodePointSet single(char32_t code_point) { return CodePointSet({{code_point, code_point}}); }

  void add(const CodePointSet& other);
  CodePointSet complement() const;
  const std::vector<CodePointRange>& ranges() const { return ranges_; }  // ascending, neither touching nor overlapping
  bool empty() const { return ranges_.empty(); }

 private:
  void tidy();
  std::vector<CodePointRange> ranges_;
};

// \d, \w, \s of ECMAScript: ASCII digits, ASCII word characters, white space and line ends of Unicode.
CodePointSet digits();
CodePointSet word_characters();
CodePointSet white_space();

// \p{NAME}: a general category (L, Lu, Letter, ...), ASCII or Any; nothing for a name that is not known.
std::optional<CodePointSet> property(std::string_view name);

// One run of UTF-8 sequences of equal length: byte i is any of low[i]..high[i].
struct Utf8Run {
  int length;
  std::uint8_t low[4];
  std::uint8_t high[4];
};

// The encodings of first..last (no surrogates in it), ascending.
std::vector<Utf8Run> utf8_runs(char32_t first, char32_t last);

void append_utf8(char32_t code_point, std::string& text);

}  // namespace glmhost::constraints
