#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <iostream>
#include <string_view>

#include "host/daemon/run_daemon.h"
#include "host/settings/settings.h"
#include "tests/integration/daemon_client.h"

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if (mode == "--serve") {
    try {
      return glmhost::daemon::run_daemon(glmhost::settings::load(), false);
    } catch (const std::exception& error) {
      std::cerr << error.what() << "\n";
      return 1;
    }
  }
  if (mode == "--ask" && argc > 2) return glmhost::integration::ask_until_killed(argv[2]);
  doctest::Context context(argc, argv);
  return context.run();
}
