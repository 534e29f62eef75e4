#include "host/cli/table_progress.h"

#include <chrono>
#include <utility>

#include "host/cli/progress_bar.h"
#include "host/platform/terminal.h"

namespace glmhost::cli {

TableProgress::TableProgress() {
  if (platform::is_terminal(platform::Stream::error)) thread_ = std::thread([this] { show(); });
}

TableProgress::~TableProgress() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void TableProgress::at(std::string step) {
  const std::lock_guard lock(mutex_);
  step_ = std::move(step);
}

void TableProgress::show() {
  constexpr auto kPatience = std::chrono::milliseconds(500), kBetween = std::chrono::milliseconds(200);
  const auto begin = std::chrono::steady_clock::now();
  ProgressBar bar;
  std::unique_lock lock(mutex_);
  auto wait = kPatience;
  while (!changed_.wait_for(lock, wait, [&] { return stop_; })) {
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin).count();
    bar.note(step_ + " (" + std::to_string(seconds) + " s)");
    wait = kBetween;
  }
}

}  // namespace glmhost::cli
