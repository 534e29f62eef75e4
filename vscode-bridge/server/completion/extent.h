// How much a completion should be: one line or a logical block, from the cursor's place; and where in a streamed answer
// that ends.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "vscode-bridge/server/completion/situation.h"

namespace glmhost::completion {

enum class Extent { line, block };

inline constexpr std::size_t kMostLines = 10;  // of a block

// A block on an empty line and behind what opens one ("{", ":", "("), else the rest of the line.
Extent choose_extent(const Situation& situation);

// The length that the answer should have, once enough of it is there to know: a line's end; for a block the line that
// is less indented than the cursor's line, an empty line, the beginning of the suffix, a line said before.
std::optional<std::size_t> find_end(std::string_view answer, Extent extent, const Situation& situation);

std::string_view trimmed(std::string_view text);               // spaces and tabs at both ends
std::string_view indentation(std::string_view line);           // the blanks it begins with
std::size_t columns(std::string_view blanks);                  // with tab stops every four
std::string_view first_line_with_text(std::string_view text);  // trimmed; empty when there is none

}  // namespace glmhost::completion
