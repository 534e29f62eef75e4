#include "host/cli/answer.h"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>

#include "host/cli/console.h"
#include "host/cli/exit_code.h"
#include "host/cli/progress_bar.h"
#include "host/platform/terminal.h"

namespace glmhost::cli {
namespace {

constexpr std::chrono::milliseconds kPatience{300};  // until a person is told what the wait is for

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
    bar_.clear();
    if (options_.show_thinking) write_thinking(delta.reasoning);
    if (delta.content.empty() || !options_.print) return;
    if (thinking_) std::fputs("\n", stderr);
    thinking_ = false;
    print(delta.content);
    flush();
    open_line_ = delta.content.back() != '\n';
  }

  // Nothing has come yet: a person wants to know whether the model is being loaded or others are first.
  void show_waiting(protocol::Client& client) {
    const auto answer = client.status(std::chrono::seconds(1));
    const auto* status = std::get_if<protocol::Status>(&answer);
    if (status == nullptr) return;
    for (const protocol::ModelStatus& model : status->models) {
      if (model.state == "loading") return bar_.fraction("loading " + model.name, model.load_fraction);
    }
    if (status->queue.waiting > 0) {
      bar_.note("waiting: " + std::to_string(status->queue.running) + " requests are running");
    } else {
      bar_.clear();
    }
  }

  void end() {
    bar_.clear();
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
  ProgressBar bar_;
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
  if (interrupt.asked()) call.cancel();  // while the daemon was being started

  Printer printer(options);
  bool waits = platform::is_terminal(platform::Stream::error);
  try {
    std::unique_lock lock(box->mutex);
    while (true) {
      const auto ready = [&] { return box->outcome || !box->text.content.empty() || !box->text.reasoning.empty(); };
      while (waits && !box->arrived.wait_for(lock, kPatience, ready)) {
        lock.unlock();
        printer.show_waiting(client);
        lock.lock();
      }
      waits = false;
      box->arrived.wait(lock, ready);
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
