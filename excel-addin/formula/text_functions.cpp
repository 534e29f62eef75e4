#include <algorithm>
#include <cmath>

#include "excel-addin/formula/arguments.h"
#include "excel-addin/formula/families.h"
#include "excel-addin/formula/number_text.h"
#include "excel-addin/formula/text_units.h"

namespace glmhost::formula {
namespace {

constexpr std::size_t kMostUnits = 32'767;  // of a cell's text

Value text_of(std::string text) {
  if (text.size() > kMostUnits && length_in_units(text) > kMostUnits) return ErrorCode::value;
  return Value(std::move(text));
}

// A count of units; below 0 is #VALUE!.
std::size_t count(Arguments& a, std::size_t i, double fallback) {
  const double number = a.whole(i, fallback);
  if (number < 0) a.fail(ErrorCode::value);
  return static_cast<std::size_t>(std::clamp(number, 0.0, 1e9));
}

Value len(Arguments& a) {
  return static_cast<double>(length_in_units(a.text(0)));
}
Value left(Arguments& a) {
  const std::string text = a.text(0);
  return slice_units(text, 0, count(a, 1, 1));
}
Value right(Arguments& a) {
  const std::string text = a.text(0);
  const std::size_t wanted = count(a, 1, 1), length = length_in_units(text);
  return slice_units(text, length - std::min(wanted, length), wanted);
}
Value mid(Arguments& a) {
  const std::string text = a.text(0);
  const std::size_t start = count(a, 1, 1), wanted = count(a, 2, 0);
  if (start == 0) return a.fail(ErrorCode::value);
  return slice_units(text, start - 1, wanted);
}

Value upper_(Arguments& a) {
  return upper(a.text(0));
}
Value lower_(Arguments& a) {
  return lower(a.text(0));
}
Value proper_(Arguments& a) {
  return proper(a.text(0));
}

Value trim(Arguments& a) {
  std::string result;
  bool blank = false;
  for (const char c : a.text(0)) {
    if (c == ' ') {
      blank = true;
      continue;
    }
    if (blank && !result.empty()) result += ' ';
    blank = false;
    result += c;
  }
  return result;
}

Value clean(Arguments& a) {
  std::string text = a.text(0);
  std::erase_if(text, [](char c) { return static_cast<unsigned char>(c) < 32; });
  return text;
}

Value rept(Arguments& a) {
  const std::string text = a.text(0);
  const std::size_t times = count(a, 1, 0);
  if (a.error()) return *a.error();
  if (times * length_in_units(text) > kMostUnits) return ErrorCode::value;
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

Value exact(Arguments& a) {
  const std::string left_text = a.text(0), right_text = a.text(1);
  return left_text == right_text;
}

Value concat(Arguments& a) {
  std::string result;
  for (const Value& value : a.from(0)) {
    for (const Value& cell : cells_of(value)) {
      const auto text = to_text(cell);
      if (!text) return a.fail(text.error());
      result = joined(result, *text);
    }
    if (result.size() > kMostUnits * 4) break;
  }
  return text_of(std::move(result));
}

Value textjoin(Arguments& a) {
  std::vector<std::string> delimiters;
  for (const Value& cell : cells_of(a[0])) {
    const auto text = to_text(cell);
    if (!text) return a.fail(text.error());
    delimiters.push_back(*text);
  }
  const bool skips_empty = a.given(1) ? a.boolean(1) : true;
  std::string result;
  std::size_t pieces = 0;
  for (const Value& value : a.from(2)) {
    for (const Value& cell : cells_of(value)) {
      const auto text = to_text(cell);
      if (!text) return a.fail(text.error());
      if (skips_empty && text->empty()) continue;
      if (pieces > 0) result = joined(result, delimiters[(pieces - 1) % delimiters.size()]);
      result = joined(result, *text);
      ++pieces;
    }
    if (result.size() > kMostUnits * 4) break;
  }
  return text_of(std::move(result));
}

Value t(Arguments& a) {
  const Value& value = a[0].scalar();
  if (value.is_error() || value.is_text()) return value;
  return "";
}

// Windows-1252 from 128 to 159; elsewhere it is Unicode.
constexpr char16_t kWindows1252[] = {0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                     0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,   0x017D, 0x8F,
                                     0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                     0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};

Value char_(Arguments& a) {
  const double code = a.whole(0);
  if (code < 1 || code > 255) return ErrorCode::value;
  std::string text;
  append_utf8(text, code >= 128 && code < 160 ? kWindows1252[static_cast<std::size_t>(code) - 128]
                                              : static_cast<std::uint32_t>(code));
  return text;
}

Value code(Arguments& a) {
  const std::string text = a.text(0);
  if (text.empty()) return ErrorCode::value;
  std::size_t position = 0;
  const std::uint32_t c = next_code_point(text, position);
  if (c < 128 || (c >= 160 && c < 256)) return static_cast<int>(c);
  const auto found = std::ranges::find(kWindows1252, static_cast<char16_t>(c));
  if (c < 0x10000 && found != std::end(kWindows1252)) return static_cast<int>(found - std::begin(kWindows1252)) + 128;
  return 63;  // a question mark, as for all that the code page lacks
}

Value unichar(Arguments& a) {
  const double code = a.whole(0);
  if (code < 1 || code > 0x10FFFF) return ErrorCode::value;
  const auto c = static_cast<std::uint32_t>(code);
  const bool is_half = c >= 0xD800 && c < 0xE000;
  const bool is_no_character = (c & 0xFFFE) == 0xFFFE || (c >= 0xFDD0 && c < 0xFDF0);
  if (is_half || is_no_character) return ErrorCode::not_available;
  std::string text;
  append_utf8(text, c);
  return text;
}

Value unicode(Arguments& a) {
  const std::string text = a.text(0);
  if (text.empty()) return ErrorCode::value;
  std::size_t position = 0;
  return static_cast<int>(next_code_point(text, position));
}

// A value as it would be typed: a text in quotes.
std::string strict_text(const Value& cell) {
  if (!cell.is_text()) return cell.is_error() ? std::string(error_name(cell.error())) : *to_text(cell);
  std::string quoted = "\"";
  for (const char c : cell.text()) quoted.append(c == '"' ? "\"\"" : std::string(1, c));
  return quoted + "\"";
}
std::string concise_text(const Value& cell) {
  return cell.is_error() ? std::string(error_name(cell.error())) : *to_text(cell);
}

double format_argument(Arguments& a) {
  const double format = a.whole_or(1, 0);
  if (format != 0 && format != 1) a.fail(ErrorCode::value);
  return format;
}

Value valuetotext(Arguments& a) {
  return format_argument(a) == 1 ? strict_text(a[0]) : concise_text(a[0]);
}
Value arraytotext(Arguments& a) {
  const bool strict = format_argument(a) == 1;
  std::string text = strict ? "{" : "";
  for (std::size_t row = 0; row < rows_of(a[0]); ++row) {
    for (std::size_t column = 0; column < columns_of(a[0]); ++column) {
      if (row + column > 0) text += strict ? (column == 0 ? ";" : ",") : ", ";
      const Value& cell = cell_of(a[0], row, column);
      text += strict ? strict_text(cell) : concise_text(cell);
    }
  }
  return text_of(text + (strict ? "}" : ""));
}

constexpr Function kFunctions[] = {
    {"LEN", "text", "The number of UTF-16 units.", len},
    {"LEFT", "text, [count]", "The first characters.", left},
    {"RIGHT", "text, [count]", "The last characters.", right},
    {"MID", "text, start, count", "Characters from the middle.", mid},
    {"UPPER", "text", "The text in capitals.", upper_},
    {"LOWER", "text", "The text in small letters.", lower_},
    {"PROPER", "text", "Each word with a capital in front.", proper_},
    {"TRIM", "text", "Without blanks around, and one between words.", trim},
    {"CLEAN", "text", "Without control characters.", clean},
    {"REPT", "text, times", "The text several times over.", rept},
    {"EXACT", "text1, text2", "TRUE when both are equal, case included.", exact},
    {"CONCAT", "*text1, [*text2], ...", "Joins texts.", concat, Trait::aggregate},
    {"CONCATENATE", "text1, [text2], ...", "Joins texts.", concat},
    {"TEXTJOIN", "*delimiter, ignore_empty, *text1, [*text2], ...", "Joins texts with a delimiter.", textjoin,
     Trait::aggregate},
    {"T", "*value", "The value if it is a text, else an empty text.", t},
    {"CHAR", "number", "The character of a code of Windows-1252.", char_},
    {"CODE", "text", "The Windows-1252 code of the first character.", code},
    {"UNICHAR", "number", "The character of a code point.", unichar},
    {"UNICODE", "text", "The code point of the first character.", unicode},
    {"VALUETOTEXT", "value, [format]", "The value as text; format 1 puts texts in quotes.", valuetotext},
    {"ARRAYTOTEXT", "*array, [format]", "The cells as one text; format 1 writes an array.", arraytotext},
};

}  // namespace

std::span<const Function> text_functions() {
  return kFunctions;
}

}  // namespace glmhost::formula
