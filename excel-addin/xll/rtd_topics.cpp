#include "excel-addin/xll/rtd_topics.h"

#include <optional>
#include <utility>
#include <vector>

namespace glmhost::xll {

std::uint64_t RtdTopics::watch(const std::string& topic, std::function<void()> changed) {
  const std::optional<functions::Topic> parsed = functions::Topic::parse(topic);
  const functions::AddIn::SubscriptionId subscription = parsed ? functions_.subscribe(*parsed, changed) : 0;
  const std::lock_guard lock(mutex_);
  const std::uint64_t number = ++last_watch_;
  if (parsed) watches_.emplace(number, Watch{*parsed, subscription, std::move(changed)});
  return number;
}

void RtdTopics::unwatch(std::uint64_t number) {
  functions::AddIn::SubscriptionId subscription = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto found = watches_.find(number);
    if (found == watches_.end()) return;
    subscription = found->second.subscription;
    watches_.erase(found);
  }
  // Not under the lock: it waits for a callback that is running.
  functions_.unsubscribe(subscription);
}

std::string RtdTopics::value(const std::string& topic) {
  const std::optional<functions::Topic> parsed = functions::Topic::parse(topic);
  const std::uint64_t revision = parsed ? functions_.revision(*parsed) : 0;
  return revision == 0 ? "unknown" : std::to_string(revision);
}

void RtdTopics::nudge(const functions::Topic& topic) {
  std::vector<std::function<void()>> told;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [number, watch] : watches_) {
      if (watch.topic == topic) told.push_back(watch.changed);
    }
  }
  for (const auto& changed : told) changed();
}

}  // namespace glmhost::xll
