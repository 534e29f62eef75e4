// glm-language-server: LSP over stdin and stdout.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "host/platform/signals.h"
#include "vscode-bridge/server/session/check.h"
#include "vscode-bridge/server/session/server.h"

namespace {

using namespace glmhost;

constexpr const char* kHelp =
    "glm-language-server completes code with the model of GLM Host's daemon.\n\n"
    "  glm-language-server                          speaks LSP over stdin and stdout; an editor starts it\n"
    "  glm-language-server --check FILE[:LINE:COL]  one completion, with all that leads to it\n"
    "  glm-language-server --version\n\n"
    "`glm editor install` puts it into an editor.\n";

// What stands in stdin, message by message, until it ends.
void read_input(const std::shared_ptr<session::EventQueue>& queue) {
  lsp::FrameReader reader;
  std::vector<char> buffer(std::size_t{1} << 16);
  while (true) {
    const std::size_t count = std::fread(buffer.data(), 1, std::min(reader.wanted(), buffer.size()), stdin);
    if (count == 0) break;
    std::string_view bytes(buffer.data(), count);
    while (!bytes.empty()) {
      if (auto frame = reader.feed(bytes)) queue->post(*std::move(frame));
    }
  }
  queue->post(session::InputEnded{});
}

int serve() {
  const auto queue = std::make_shared<session::EventQueue>();
  const auto write = [](const std::string& body) {
    const std::string message = lsp::with_header(body);
    const bool written = std::fwrite(message.data(), 1, message.size(), stdout) == message.size();
    // Nobody reads any more: the editor is gone.
    if (!written || std::fflush(stdout) != 0) std::_Exit(1);
  };
  int code = 0;
  {
    session::Server server(queue, write);
    std::thread(read_input, queue).detach();
    code = server.run();
  }
  // The reader may hang in a read that never ends.
  std::_Exit(code);
}

}  // namespace

int main(int argc, char** argv) {
  platform::prepare_console();
  const std::vector<std::string> arguments = platform::utf8_arguments(argc, argv);
  if (arguments.size() < 2 || arguments[1] == "--stdio") return serve();
  if (arguments[1] == "--version") {
    std::puts("glm-language-server " GLMHOST_VERSION);
    return 0;
  }
  if (arguments[1] == "--help" || arguments[1] == "-h") {
    std::fputs(kHelp, stdout);
    return 0;
  }
  if (arguments[1] == "--check" && arguments.size() == 3) {
    const int code = session::check(arguments[2]);
    std::fflush(stdout);
    std::_Exit(code);
  }
  std::fprintf(stderr, "glm-language-server: these arguments are not known.\n\n%s", kHelp);
  return 2;
}
