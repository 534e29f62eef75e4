#include "host/cli/command_line.h"
#include "host/platform/signals.h"

int main(int argc, char** argv) {
  glmhost::platform::prepare_console();
  return glmhost::cli::run_command_line(glmhost::platform::utf8_arguments(argc, argv));
}
