// Finding, replacing and cutting text.
#include <algorithm>
#include <cmath>
#include <optional>

#include "excel-addin/formula/arguments.h"
#include "excel-addin/formula/families.h"
#include "excel-addin/formula/text_units.h"
#include "excel-addin/formula/wildcard.h"

namespace glmhost::formula {
namespace {

// A place in a text, from 0. Excel counts from 1 and allows none behind the text.
std::size_t start_of(Arguments& a, std::size_t i, std::size_t length) {
  const double start = a.whole(i, 1);
  if (start < 1 || start > static_cast<double>(length) + 1) {
    a.fail(ErrorCode::value);
    return 0;
  }
  return static_cast<std::size_t>(start) - 1;
}

Value find(Arguments& a) {
  const std::u16string wanted = to_utf16(a.text(0)), text = to_utf16(a.text(1));
  const std::size_t at = text.find(wanted, start_of(a, 2, text.size()));
  return at == std::u16string::npos ? Value(ErrorCode::value) : Value(static_cast<double>(at) + 1);
}

Value search(Arguments& a) {
  const std::string wanted = a.text(0), text = a.text(1);
  const auto at = Wildcard(wanted).find(text, start_of(a, 2, length_in_units(text)));
  return at ? Value(static_cast<double>(*at) + 1) : Value(ErrorCode::value);
}

Value replace(Arguments& a) {
  const std::u16string text = to_utf16(a.text(0));
  const double start = a.whole(1), count = a.whole(2);
  const std::u16string replacement = to_utf16(a.text(3));
  if (start < 1 || count < 0) return ErrorCode::value;
  const auto from = static_cast<std::size_t>(std::min(start - 1, static_cast<double>(text.size())));
  const auto removed = static_cast<std::size_t>(std::min(count, static_cast<double>(text.size() - from)));
  return from_utf16(text.substr(0, from) + replacement + text.substr(from + removed));
}

Value substitute(Arguments& a) {
  const std::string text = a.text(0), old_text = a.text(1), new_text = a.text(2);
  std::optional<double> instance;
  if (a.has(3)) {
    if (a[3].scalar().is_boolean()) return a.fail(ErrorCode::value);
    instance = a.whole(3);
    if (*instance < 1) return a.fail(ErrorCode::value);
  }
  if (old_text.empty()) return text;
  std::string result;
  double met = 0;
  std::size_t from = 0;
  for (std::size_t at = text.find(old_text); at != std::string::npos; at = text.find(old_text, from)) {
    ++met;
    result.append(text, from, at - from);
    result += !instance || met == *instance ? new_text : old_text;
    from = at + old_text.size();
  }
  result.append(text, from);
  return result;
}

struct Found {
  std::size_t begin, end;
};

std::u16string units_for_search(const std::string& text, bool without_case) {
  return to_utf16(without_case ? folded(text) : text);
}

// The delimiters' places, from left to right, none inside another.
std::vector<Found> places_of(const std::u16string& text, const std::vector<std::u16string>& delimiters) {
  std::vector<Found> places;
  std::size_t at = 0;
  while (at < text.size()) {
    // The longest of those that begin here.
    std::size_t length = 0;
    for (const auto& delimiter : delimiters) {
      if (text.compare(at, delimiter.size(), delimiter) == 0) length = std::max(length, delimiter.size());
    }
    if (length > 0) places.push_back({at, at + length});
    at += std::max<std::size_t>(length, 1);
  }
  return places;
}

std::vector<std::u16string> delimiters_of(Arguments& a, std::size_t i, bool without_case) {
  std::vector<std::u16string> delimiters;
  if (!a.given(i)) return delimiters;
  for (const Value& cell : cells_of(a[i])) {
    const auto text = to_text(cell);
    if (!text) a.fail(text.error());
    delimiters.push_back(units_for_search(text ? *text : "", without_case));
  }
  return delimiters;
}

// TEXTBEFORE and TEXTAFTER: (text, delimiter, instance, match_mode, match_end, if_not_found).
Value text_beside(Arguments& a, bool before) {
  const std::string text = a.text(0);
  const double instance = std::floor(a.number_or(2, 1)), mode = a.whole_or(3, 0), at_end = a.whole_or(4, 0);
  if ((mode != 0 && mode != 1) || (at_end != 0 && at_end != 1) || instance == 0) return a.fail(ErrorCode::value);
  const bool without_case = mode == 1;
  const auto delimiters = delimiters_of(a, 1, without_case);
  if (a.error()) return *a.error();
  const std::u16string units = to_utf16(text);
  const auto piece = [&](const Found& place) {
    return from_utf16(before ? units.substr(0, place.begin) : units.substr(place.end));
  };
  const bool has_empty = std::ranges::any_of(delimiters, [](const auto& each) { return each.empty(); });
  if (has_empty) {
    // An empty delimiter is at once at the beginning, or at the end for a negative instance.
    const std::size_t place = instance > 0 ? 0 : units.size();
    return piece({place, place});
  }
  if (std::abs(instance) > static_cast<double>(units.size()) && !units.empty()) return a.fail(ErrorCode::value);
  auto places = places_of(units_for_search(text, without_case), delimiters);
  if (at_end == 1) {
    // The end counts as a delimiter; counted from behind, so does the beginning.
    if (instance > 0)
      places.push_back({units.size(), units.size()});
    else
      places.insert(places.begin(), {0, 0});
  }
  const auto wanted = static_cast<std::size_t>(std::abs(instance));
  if (wanted > places.size()) return a.given(5) ? a[5] : Value(ErrorCode::not_available);
  return piece(instance > 0 ? places[wanted - 1] : places[places.size() - wanted]);
}
Value textbefore(Arguments& a) {
  return text_beside(a, true);
}
Value textafter(Arguments& a) {
  return text_beside(a, false);
}

std::vector<std::string> split(const std::string& text, const std::vector<std::u16string>& delimiters,
                               bool without_case, bool skips_empty) {
  const std::u16string units = to_utf16(text);
  std::vector<std::string> pieces;
  std::size_t from = 0;
  auto places = places_of(units_for_search(text, without_case), delimiters);
  places.push_back({units.size(), units.size()});
  for (const Found& place : places) {
    if (place.begin > from || !skips_empty) pieces.push_back(from_utf16(units.substr(from, place.begin - from)));
    from = place.end;
  }
  return pieces;
}

// (text, column_delimiter, row_delimiter, ignore_empty, match_mode, pad_with)
Value textsplit(Arguments& a) {
  const std::string text = a.text(0);
  const bool skips_empty = a.given(3) && a.boolean(3), without_case = a.whole_or(4, 0) == 1;
  const auto columns = delimiters_of(a, 1, without_case), rows = delimiters_of(a, 2, without_case);
  const auto is_empty = [](const auto& each) { return each.empty(); };
  if (std::ranges::any_of(columns, is_empty) || std::ranges::any_of(rows, is_empty)) return a.fail(ErrorCode::value);
  if (columns.empty() && rows.empty()) return a.fail(ErrorCode::value);
  std::vector<std::vector<std::string>> pieces;
  std::size_t width = 0;
  const auto lines = rows.empty() ? std::vector<std::string>{text} : split(text, rows, without_case, skips_empty);
  for (const std::string& line : lines) {
    pieces.push_back(columns.empty() ? std::vector<std::string>{line}
                                     : split(line, columns, without_case, skips_empty));
    width = std::max(width, pieces.back().size());
  }
  if (pieces.empty() || width == 0) return ErrorCode::calculation;
  if (pieces.size() * width > a.context().most_cells) return ErrorCode::number;
  Array result(pieces.size(), width);
  for (std::size_t row = 0; row < pieces.size(); ++row) {
    for (std::size_t column = 0; column < width; ++column) {
      if (column < pieces[row].size())
        result(row, column) = Value(std::move(pieces[row][column]));
      else
        result(row, column) = a.given(5) ? a[5].scalar() : Value(ErrorCode::not_available);
    }
  }
  return Value(std::move(result));
}

constexpr Function kFunctions[] = {
    {"FIND", "wanted, text, [start]", "Where a text stands in another, with case.", find},
    {"SEARCH", "wanted, text, [start]", "Where a text stands in another, without case; * and ? are wildcards.", search},
    {"REPLACE", "text, start, count, new_text", "Puts a text in the place of some characters.", replace},
    {"SUBSTITUTE", "text, old_text, new_text, [instance]", "Replaces a text, everywhere or once.", substitute},
    {"TEXTBEFORE", "text, *delimiter, [instance], [match_mode], [match_end], [if_not_found]",
     "What stands before a delimiter.", textbefore},
    {"TEXTAFTER", "text, *delimiter, [instance], [match_mode], [match_end], [if_not_found]",
     "What stands behind a delimiter.", textafter},
    {"TEXTSPLIT", "text, *column_delimiter, [*row_delimiter], [ignore_empty], [match_mode], [*pad_with]",
     "The pieces between delimiters.", textsplit},
};

}  // namespace

std::span<const Function> text_search_functions() {
  return kFunctions;
}

}  // namespace glmhost::formula
