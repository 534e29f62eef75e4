// `glm-language-server --check FILE[:LINE:COL]`: one completion from a terminal, with all that leads to it.
#pragma once

#include <string>

namespace glmhost::session {

// Lines and columns count from 1, columns in characters; without them the file's end. Prints to stdout; what hinders it
// is a sentence on stderr. Returns the exit code: 0 also when nothing would be shown, since the reason is then the
// answer.
int check(const std::string& place);

}  // namespace glmhost::session
