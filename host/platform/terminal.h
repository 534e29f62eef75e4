// What stdin, stdout and stderr are connected to.
#pragma once

namespace glmhost::platform {

enum class Stream { in = 0, out = 1, error = 2 };

bool is_terminal(Stream stream);

// Columns; 80 when it is no terminal or does not say.
int terminal_width(Stream stream);

// Whether escape sequences (colours, moving the cursor) may be written: a terminal, no NO_COLOR, TERM is not "dumb". On
// Windows this also switches them on.
bool supports_escapes(Stream stream);

}  // namespace glmhost::platform
