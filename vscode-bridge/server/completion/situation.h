// Where a completion is wanted: the text around the cursor, with \n as its only line end (models know CRLF badly), cut
// to a window whose beginning moves in large steps, so that prompts of one place begin alike.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace glmhost::completion {

struct Situation {
  std::string uri;
  std::string language;
  std::string path;        // shown to the model; may be empty
  std::string prefix;      // before the cursor
  std::string suffix;      // behind it
  std::size_t cursor = 0;  // its offset in the document, in bytes
  std::size_t begin = 0;   // where the prefix begins in the document

  std::string_view line_before() const;  // the cursor's line up to the cursor
  std::string_view line_behind() const;  // and from it
};

std::string with_plain_line_ends(std::string_view text);  // \r\n and \r become \n

inline constexpr std::size_t kWindowStep = 2048;  // bytes
inline constexpr std::size_t kMostPrefix = 6144;  // what a window has before its beginning moves on by one step
inline constexpr std::size_t kSuffixBytes = 2048;

// Where the window before a cursor begins, in steps from the text's beginning. A caller moves it on to the next line.
std::size_t window_begin(std::size_t cursor);

// What must be equal for an answer to be of use in another situation: everything but the prefix. Closing brackets that
// the editor put behind the cursor by itself do not count.
std::string scope_of(const Situation& situation);

// Nothing but white space, closing brackets, quotes, commas and semicolons.
bool is_only_closers(std::string_view line);

}  // namespace glmhost::completion
