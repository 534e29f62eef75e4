// Regular expressions as Excel takes them: PCRE2's, bounded in steps, depth and memory, so that no pattern runs for
// ever.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace glmhost::formula {

struct RegexSpan {
  std::size_t begin = 0, end = 0;  // bytes
  bool set = false;                // false: the group took no part
};

// One match: the whole, then the groups.
using RegexMatch = std::vector<RegexSpan>;

class Regex {
 public:
  // Not valid() for a pattern that PCRE2 refuses. Texts are valid UTF-8.
  Regex(std::string_view pattern, bool without_case);
  ~Regex();

  bool valid() const;
  bool gave_up() const { return gave_up_; }  // a limit was met: whatever was found is incomplete

  // The first match at or behind `start`; empty when there is none.
  RegexMatch match(std::string_view text, std::size_t start = 0);

  // All matches from left to right; behind an empty one a longer one at the same place is tried first.
  std::vector<RegexMatch> match_all(std::string_view text);

 private:
  RegexMatch match(std::string_view text, std::size_t start, std::uint32_t options);

  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
  bool gave_up_ = false;
};

}  // namespace glmhost::formula
