// How long to wait after a keystroke before the model is asked: long enough that somebody who types on does not start
// work for nothing, shorter by the time that the answer takes anyway.
#pragma once

#include <algorithm>
#include <chrono>

namespace glmhost::completion {

using Clock = std::chrono::steady_clock;

class TypingRhythm {
 public:
  void key(Clock::time_point now) {
    const double gap = std::chrono::duration<double, std::milli>(now - last_key_).count();
    last_key_ = now;
    if (gap > kPause || gap < 0) return;  // a pause says nothing about the rhythm
    interval_ += kWeight * (gap - interval_);
  }
  void latency(std::chrono::duration<double, std::milli> measured) {
    latency_ += kWeight * (measured.count() - latency_);
  }
  // Longer than somebody who types on lets a key wait: inside a word, where the next letters are nearer than any
  // answer.
  std::chrono::milliseconds pause() const {
    return std::chrono::milliseconds(static_cast<long>(std::clamp(kPauseShare * interval_, kLeastPause, kMostPause)));
  }
  std::chrono::milliseconds wait() const {
    return std::chrono::milliseconds(static_cast<long>(std::clamp(kShare * interval_ - latency_, 0.0, kMost)));
  }

 private:
  static constexpr double kPause = 1500;  // ms
  static constexpr double kWeight = 0.2;
  static constexpr double kShare = 0.6;  // of the usual gap: the next key is then as good as not coming
  static constexpr double kMost = 150;   // ms
  static constexpr double kPauseShare = 1.6;
  static constexpr double kLeastPause = 80;  // ms
  static constexpr double kMostPause = 400;  // ms

  Clock::time_point last_key_{};
  double interval_ = 200;  // ms
  double latency_ = 50;
};

}  // namespace glmhost::completion
