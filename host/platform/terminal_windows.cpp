#include <io.h>

#include "host/platform/environment.h"
#include "host/platform/terminal.h"
#include "host/platform/windows_api.h"

namespace glmhost::platform {
namespace {

HANDLE console_of(Stream stream) {
  switch (stream) {
    case Stream::in:
      return GetStdHandle(STD_INPUT_HANDLE);
    case Stream::out:
      return GetStdHandle(STD_OUTPUT_HANDLE);
    case Stream::error:
      break;
  }
  return GetStdHandle(STD_ERROR_HANDLE);
}

}  // namespace

// Not _isatty(), which also takes the NUL device for a terminal.
bool is_terminal(Stream stream) {
  DWORD mode = 0;
  return GetConsoleMode(console_of(stream), &mode) != FALSE;
}

int terminal_width(Stream stream) {
  CONSOLE_SCREEN_BUFFER_INFO information{};
  if (!GetConsoleScreenBufferInfo(console_of(stream), &information)) return 80;
  return information.srWindow.Right - information.srWindow.Left + 1;
}

bool supports_escapes(Stream stream) {
  DWORD mode = 0;
  const HANDLE console = console_of(stream);
  if (environment_variable("NO_COLOR") || !GetConsoleMode(console, &mode)) return false;
  return SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING) != FALSE;
}

}  // namespace glmhost::platform
