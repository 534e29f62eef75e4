// What the RTD server shows, whatever it is made of.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace glmhost::com {

// Thread rules: every member may be called from any thread.
class Topics {
 public:
  virtual ~Topics() = default;

  // Watches a topic until unwatch(). `changed` is called from any thread whenever value() may give something new; it
  // returns quickly, and may be called before watch() has returned. Never throws.
  virtual std::uint64_t watch(const std::string& topic, std::function<void()> changed) = 0;
  virtual void unwatch(std::uint64_t watch) = 0;  // `changed` may still be running when this returns

  // A word: pending, done, failed, ...
  virtual std::string value(const std::string& topic) = 0;
};

}  // namespace glmhost::com
