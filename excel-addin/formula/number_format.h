// Excel's number formats, as TEXT and cells use them: "#,##0.00;[Red](0)", "yyyy-mm-dd", "[h]:mm", "# ?/?", "0.0E+00",
// "@". The conventions are those of en-US.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "excel-addin/formula/value.h"

namespace glmhost::formula {

// The value as text. A text that names a number counts as the number; another text goes through the text section.
// #VALUE! for a format that makes no sense, and for a date outside of the calendar.
Value formatted(const Value& value, std::string_view format);

// --- The parts of a format, for those who write sections.

struct FormatToken {
  enum class Kind {
    literal,  // text as it is
    digit,    // 0, # or ? in `sign`
    point,    // the first . of a number
    percent,
    exponent,  // E+ or E- in `sign`
    slash,     // of a fraction
    general,
    whole_text,       // @
    date,             // y m d h s in `sign`, `count` of them; n for minutes, A for AM/PM, a for A/P
    elapsed,          // [h] [m] [s]
    second_fraction,  // .000 behind seconds, `count` digits
  } kind;
  char sign = 0;
  int count = 1;
  std::string text;
};

struct FormatSection {
  std::vector<FormatToken> tokens;
  bool is_date = false, is_text = false, has_digits = false, has_general = false, is_fraction = false;
  bool groups = false;  // thousands
  int scale = 0;        // thousands to divide by
  int percents = 0;
  struct Condition {
    std::string op;
    double limit;
    bool holds(double number) const;
  };
  std::optional<Condition> condition;
};

// Nothing for a format that makes no sense.
std::optional<std::vector<FormatSection>> parse_format(std::string_view format);

// `magnitude` is not negative. Says whether all printed digits were 0.
struct NumberText {
  std::string text;
  bool is_zero;
};
NumberText format_number(const FormatSection& section, double magnitude);

// Nothing outside of the calendar.
std::optional<std::string> format_date(const FormatSection& section, double serial);

}  // namespace glmhost::formula
