#include "inference/generation/stop_matcher.h"

#include <algorithm>

namespace glmhost::generation {

StopMatcher::StopMatcher(std::span<const std::string> stops) {
  for (const std::string& stop : stops) {
    Pattern pattern{stop, std::vector<std::size_t>(stop.size(), 0), 0};
    std::size_t border = 0;
    for (std::size_t i = 1; i < stop.size(); ++i) {
      while (border > 0 && stop[i] != stop[border]) border = pattern.fallback[border - 1];
      if (stop[i] == stop[border]) ++border;
      pattern.fallback[i] = border;
    }
    patterns_.push_back(std::move(pattern));
  }
}

std::string StopMatcher::push(std::string_view text) {
  if (stopped_) return {};
  if (patterns_.empty()) return std::string(text);
  for (const char c : text) {
    held_ += c;
    std::size_t found = 0;  // length of the longest stop string that ends here
    for (Pattern& pattern : patterns_) {
      while (pattern.matched > 0 && pattern.text[pattern.matched] != c) {
        pattern.matched = pattern.fallback[pattern.matched - 1];
      }
      if (pattern.text[pattern.matched] == c) ++pattern.matched;
      if (pattern.matched == pattern.text.size()) found = std::max(found, pattern.matched);
    }
    if (found > 0) {
      stopped_ = true;
      held_.resize(held_.size() - found);
      return std::move(held_);
    }
  }
  std::size_t hold = 0;
  for (const Pattern& pattern : patterns_) hold = std::max(hold, pattern.matched);
  std::string certain = held_.substr(0, held_.size() - hold);
  held_.erase(0, certain.size());
  return certain;
}

std::string StopMatcher::finish() {
  return stopped_ ? std::string() : std::move(held_);
}

}  // namespace glmhost::generation
