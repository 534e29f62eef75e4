// From what a model wrote to what is shown: pure functions, each for one kind of blemish. Texts have \n as line ends.
#pragma once

#include <string>
#include <string_view>

#include "vscode-bridge/server/completion/extent.h"
#include "vscode-bridge/server/completion/situation.h"

namespace glmhost::completion {

enum class Verdict {
  shown,
  nothing,         // the model had nothing to say here
  low_confidence,  // it was not sure
  repeats_below,   // what it said stands there already
  repeats_above,
  in_word,      // the cursor is inside a word
  superseded,   // the next keystroke came first
  unavailable,  // no model, no daemon, an error
};
std::string_view sentence(Verdict verdict);
std::string_view name(Verdict verdict);  // "low-confidence"

struct Finished {
  std::string text;
  Verdict verdict = Verdict::shown;

  bool operator==(const Finished&) const = default;
};

// All of what follows, in its order. `is_whole`: the answer has ended; otherwise more may come and its last line is
// taken as it is.
Finished finish(std::string_view answer, Extent extent, const Situation& situation, bool is_whole);

// A space or an indentation that the document has before the cursor is not written once more.
std::string without_doubled_blanks(std::string_view text, const Situation& situation);
// Ends before the first whole line of the suffix that it repeats, and before the rest of the cursor's line.
std::string without_suffix(std::string_view text, const Situation& situation);
// A line or a piece of one said again and again is said once.
std::string without_repetition(std::string_view text);
// Ends before a bracket that closes none.
std::string without_stray_closers(std::string_view text, const Situation& situation);
// Brackets that it opens before the rest of the cursor's line are closed: that rest closes the document's own.
std::string with_closed_brackets(std::string_view text, const Situation& situation);
// Tabs or spaces, as the document has them.
std::string with_indentation_of(std::string_view text, const Situation& situation);
std::string without_trailing_blanks(std::string_view text);
bool repeats_line_below(std::string_view text, const Situation& situation);
bool repeats_lines_above(std::string_view text, const Situation& situation);

// How a text is put at the cursor: what is inserted, and how many bytes behind the cursor it takes the place of.
struct Placed {
  std::string insert;
  std::size_t replaced = 0;

  bool operator==(const Placed&) const = default;
};
Placed place(std::string_view text, const Situation& situation);

}  // namespace glmhost::completion
