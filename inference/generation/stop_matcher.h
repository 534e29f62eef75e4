// Finds stop strings in a stream of text and holds back what may still become one.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace glmhost::generation {

// Linear in the text for each stop string (Knuth, Morris, Pratt 1977). Of several stop strings the one that is complete
// first counts, whatever the pieces the text comes in.
class StopMatcher {
 public:
  explicit StopMatcher(std::span<const std::string> stops);

  // Takes more text; gives what is certain not to belong to a stop string. After a stop string was found, gives the
  // text before it and then nothing any more.
  std::string push(std::string_view text);
  std::string finish();  // what was held back, when no more text comes
  bool stopped() const { return stopped_; }

 private:
  struct Pattern {
    std::string text;
    std::vector<std::size_t> fallback;  // length of the longest proper border of each prefix
    std::size_t matched = 0;            // how much of the stop string the text now ends with
  };
  std::vector<Pattern> patterns_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace glmhost::generation
