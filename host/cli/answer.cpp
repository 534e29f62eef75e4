#include "host/cli/answer.h"

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>

#include "host/cli/console.h"
#include "host/cli/exit_code.h"
#include "host/platform/terminal.h"

namespace glmhost::cli {
namespace {

// What the I/O thread and the signal thread bring, and the calling thread takes.
struct Mailbox {
  std::mutex mutex;
  std::condition_variable arrived;
  protocol::Delta text;  // joined until taken
  std::optional<protocol::Outcome> outcome;
  int interrupts = 0;
};

class Printer {
 public:
  explicit Printer(const AnswerOptions& options)
      : options_(options), dim_(platform::supports_escapes(platform::Stream::error)) {}

  void write(const protocol::Delta& delta) {
    if (options_.show_thinking) write_thinking(delta.reasoning);
    if (delta.content.empty() || !options_.print) return;
    if (thinking_) std::fputs("\n", stderr);
    thinking_ = false;
    print(delta.content);
    flush();
    open_line_ = delta.content.back() != '\n';
  }

  void end() {
    if (!open_line_) return;
    print("\n");
    flush();
  }

 private:
  void write_thinking(const std::string& text) {
    if (text.empty()) return;
    std::fprintf(stderr, dim_ ? "\033[2m%s\033[0m" : "%s", text.c_str());
    std::fflush(stderr);
    thinking_ = true;
  }

  AnswerOptions options_;
  bool dim_;
  bool thinking_ = false;
  bool open_line_ = false;
};

}  // namespace

protocol::Outcome stream_answer(protocol::Client& client, const protocol::Request& request,
                                const AnswerOptions& options, Interrupt& interrupt) {
  const auto box = std::make_shared<Mailbox>();
  protocol::Client::Callbacks callbacks;
  callbacks.on_delta = [box](const protocol::Delta& delta) {
    const std::lock_guard lock(box->mutex);
    box->text.content += delta.content;
    box->text.reasoning += delta.reasoning;
    box->arrived.notify_one();
  };
  callbacks.on_done = [box](const protocol::Outcome& outcome) {
    const std::lock_guard lock(box->mutex);
    box->outcome = outcome;
    box->arrived.notify_one();
  };
  protocol::Client::Call call = client.start(request, std::move(callbacks));
  interrupt.on_signal([box, &call] {
    call.cancel();
    const std::lock_guard lock(box->mutex);
    if (++box->interrupts > 1) std::_Exit(static_cast<int>(ExitCode::cancelled));
  });

  Printer printer(options);
  try {
    std::unique_lock lock(box->mutex);
    while (true) {
      box->arrived.wait(lock,
                        [&] { return box->outcome || !box->text.content.empty() || !box->text.reasoning.empty(); });
      const protocol::Delta text = std::exchange(box->text, {});
      const std::optional<protocol::Outcome> outcome = box->outcome;
      lock.unlock();
      printer.write(text);
      if (outcome) {
        interrupt.on_signal({});
        printer.end();
        return *outcome;
      }
      lock.lock();
    }
  } catch (...) {
    interrupt.on_signal({});
    call.cancel();
    call.wait_for(std::chrono::seconds(2));  // so that the daemon knows before the connection goes
    throw;
  }
}

}  // namespace glmhost::cli
