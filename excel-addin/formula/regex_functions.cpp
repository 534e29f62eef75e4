#include <algorithm>
#include <optional>

#include "excel-addin/formula/arguments.h"
#include "excel-addin/formula/families.h"
#include "excel-addin/formula/regex.h"
#include "excel-addin/formula/text_units.h"

namespace glmhost::formula {
namespace {

std::string piece(const std::string& text, const RegexSpan& span) {
  return span.set ? text.substr(span.begin, span.end - span.begin) : std::string();
}

bool case_argument(Arguments& a, std::size_t i) {
  const double sensitivity = a.whole_or(i, 0);
  if (sensitivity != 0 && sensitivity != 1) a.fail(ErrorCode::value);
  return sensitivity == 1;
}

Value regextest(Arguments& a) {
  const std::string text = valid_utf8(a.text(0)), pattern = valid_utf8(a.text(1));
  Regex regex(pattern, case_argument(a, 2));
  if (a.error() || !regex.valid()) return ErrorCode::value;
  const bool found = !regex.match(text).empty();
  return regex.gave_up() ? Value(ErrorCode::value) : Value(found);
}

// Mode 0: the first match; 1: all, one below the other; 2: the groups of the first, side by side.
Value regexextract(Arguments& a) {
  const std::string text = valid_utf8(a.text(0)), pattern = valid_utf8(a.text(1));
  const double mode = a.whole_or(2, 0);
  Regex regex(pattern, case_argument(a, 3));
  if (mode < 0 || mode > 2) a.fail(ErrorCode::value);
  if (a.error() || !regex.valid()) return ErrorCode::value;
  const auto all = mode == 1 ? regex.match_all(text) : std::vector<RegexMatch>{regex.match(text)};
  if (regex.gave_up()) return ErrorCode::value;
  if (all.empty() || all[0].empty()) return ErrorCode::not_available;
  if (mode == 0 || (mode == 2 && all[0].size() == 1)) return piece(text, all[0][0]);
  if (mode == 1) {
    Array matches(all.size(), 1);
    for (std::size_t i = 0; i < all.size(); ++i) matches[i] = Value(piece(text, all[i][0]));
    return Value(std::move(matches));
  }
  Array groups(1, all[0].size() - 1);
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i] = Value(piece(text, all[0][i + 1]));
  return Value(std::move(groups));
}

// $1, ${1} and $$ in a replacement. Nothing for a group that the pattern lacks.
std::optional<std::string> filled(const std::string& replacement, const std::string& text, const RegexMatch& groups) {
  std::string result;
  for (std::size_t i = 0; i < replacement.size(); ++i) {
    if (replacement[i] != '$' || i + 1 == replacement.size()) {
      result += replacement[i];
      continue;
    }
    if (replacement[i + 1] == '$') {
      result += replacement[++i];
      continue;
    }
    std::size_t at = i + 1;
    const bool braced = replacement[at] == '{';
    if (braced) ++at;
    std::size_t group = 0;
    const std::size_t digits = at;
    while (at < replacement.size() && replacement[at] >= '0' && replacement[at] <= '9' && at - digits < 3) {
      group = group * 10 + static_cast<std::size_t>(replacement[at++] - '0');
    }
    const bool closed = !braced || (at < replacement.size() && replacement[at] == '}');
    if (at == digits || !closed) {
      result += '$';
      continue;
    }
    if (group >= groups.size()) return std::nullopt;
    result += piece(text, groups[group]);
    i = braced ? at : at - 1;
  }
  return result;
}

Value regexreplace(Arguments& a) {
  const std::string text = valid_utf8(a.text(0)), pattern = valid_utf8(a.text(1)), replacement = a.text(2);
  const double occurrence = a.whole_or(3, 0);
  Regex regex(pattern, case_argument(a, 4));
  if (a.error() || !regex.valid()) return ErrorCode::value;
  const auto all = regex.match_all(text);
  if (regex.gave_up()) return ErrorCode::value;
  // 0: all; below 0: counted from the end.
  const double wanted = occurrence < 0 ? static_cast<double>(all.size()) + occurrence + 1 : occurrence;
  std::string result;
  std::size_t from = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (occurrence != 0 && static_cast<double>(i) + 1 != wanted) continue;
    const auto text_for_it = filled(replacement, text, all[i]);
    if (!text_for_it) return ErrorCode::value;
    result.append(text, from, std::max(all[i][0].begin, from) - from);
    result += *text_for_it;
    from = std::max(from, all[i][0].end);
  }
  result.append(text, from);
  return result;
}

constexpr Function kFunctions[] = {
    {"REGEXTEST", "text, pattern, [case_sensitivity]", "TRUE when a regular expression is found; 1 ignores case.",
     regextest},
    {"REGEXEXTRACT", "text, pattern, [return_mode], [case_sensitivity]",
     "What a regular expression finds: 0 the first match, 1 all, 2 the groups.", regexextract},
    {"REGEXREPLACE", "text, pattern, replacement, [occurrence], [case_sensitivity]",
     "Replaces what a regular expression finds; $1 is a group.", regexreplace},
};

}  // namespace

std::span<const Function> regex_functions() {
  return kFunctions;
}

}  // namespace glmhost::formula
