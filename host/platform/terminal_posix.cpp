#include <sys/ioctl.h>
#include <unistd.h>

#include "host/platform/environment.h"
#include "host/platform/terminal.h"

namespace glmhost::platform {

bool is_terminal(Stream stream) {
  return isatty(static_cast<int>(stream)) == 1;
}

int terminal_width(Stream stream) {
  winsize size{};
  if (ioctl(static_cast<int>(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

bool supports_escapes(Stream stream) {
  return is_terminal(stream) && !environment_variable("NO_COLOR") && environment_variable("TERM") != "dumb";
}

}  // namespace glmhost::platform
