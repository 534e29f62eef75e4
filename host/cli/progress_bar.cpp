#include "host/cli/progress_bar.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "host/model_store/byte_size.h"
#include "host/platform/terminal.h"

namespace glmhost::cli {
namespace {

using model_store::byte_size;

constexpr std::chrono::milliseconds kInterval{100};
constexpr int kCells = 24;

std::string percent(double fraction) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%3.0f %%", std::clamp(fraction, 0.0, 1.0) * 100);
  return text.data();
}

std::string duration(double seconds) {
  const auto whole = static_cast<long long>(seconds + 0.5);
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
}

}  // namespace

std::string bar(double fraction, int cells) {
  const auto filled = static_cast<std::size_t>(std::clamp(fraction, 0.0, 1.0) * cells);
  std::string text = "[";
  text.append(filled, '#').append(static_cast<std::size_t>(cells) - filled, ' ');
  return text + "]";
}

ProgressBar::ProgressBar() : shown_(platform::is_terminal(platform::Stream::error)) {}

ProgressBar::~ProgressBar() {
  clear();
}

bool ProgressBar::due(std::string_view step) {
  if (!shown_) return false;
  const auto now = std::chrono::steady_clock::now();
  if (step != step_) {
    step_ = step;
    begin_ = now;
    first_bytes_ = 0;
    last_ = now - kInterval;
  }
  if (now - last_ < kInterval) return false;
  last_ = now;
  return true;
}

void ProgressBar::bytes(std::string_view step, std::uint64_t done, std::uint64_t total) {
  const bool new_step = step != step_;
  if (!due(step)) return;
  if (new_step) first_bytes_ = done;
  std::string line = step_ + " ";
  if (total > 0) {
    const double fraction = static_cast<double>(done) / static_cast<double>(total);
    line += bar(fraction, kCells) + " " + percent(fraction) + "  " + byte_size(done) + " of " + byte_size(total);
  } else {
    line += done > 0 ? byte_size(done) : "...";
  }
  const double seconds = std::chrono::duration<double>(last_ - begin_).count();
  const auto gained = static_cast<double>(done - std::min(done, first_bytes_));
  if (seconds > 1 && gained > 0) {
    const double rate = gained / seconds;
    line += "  " + byte_size(static_cast<std::uint64_t>(rate)) + "/s";
    if (total > done) line += "  " + duration(static_cast<double>(total - done) / rate) + " left";
  }
  draw(line);
}

void ProgressBar::fraction(std::string_view step, double done) {
  if (due(step)) draw(std::string(step) + " " + bar(done, kCells) + " " + percent(done));
}

void ProgressBar::note(std::string_view text) {
  if (due(text)) draw(std::string(text));
}

void ProgressBar::draw(const std::string& line) {
  // One column is left free: a full line would wrap and scroll on some terminals.
  const int columns = std::max(platform::terminal_width(platform::Stream::error) - 1, 10);
  const std::string shown = line.substr(0, static_cast<std::size_t>(columns));
  const std::string blanks(width_ > shown.size() ? width_ - shown.size() : 0, ' ');
  std::fprintf(stderr, "\r%s%s\r", shown.c_str(), blanks.c_str());
  std::fflush(stderr);
  width_ = shown.size();
}

void ProgressBar::clear() {
  if (width_ == 0) return;
  draw("");
  width_ = 0;
}

}  // namespace glmhost::cli
