// The questions of the worksheet functions as RTD topics.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>

#include "excel-addin/com/topics.h"
#include "excel-addin/functions/add_in.h"

namespace glmhost::xll {

// Thread rules: every member from any thread.
class RtdTopics final : public com::Topics {
 public:
  explicit RtdTopics(functions::AddIn& functions) : functions_(functions) {}

  std::uint64_t watch(const std::string& topic, std::function<void()> changed) override;
  void unwatch(std::uint64_t watch) override;
  // How often it has changed; "unknown" for what nobody asked.
  std::string value(const std::string& topic) override;

  // Says that it has changed, although it has not: the cells that wait for it are calculated again and let go of it.
  void nudge(const functions::Topic& topic);

 private:
  struct Watch {
    functions::Topic topic;
    functions::AddIn::SubscriptionId subscription = 0;
    std::function<void()> changed;
  };
  functions::AddIn& functions_;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, Watch> watches_;  // guarded by mutex_
  std::uint64_t last_watch_ = 0;                      // guarded by mutex_
};

}  // namespace glmhost::xll
