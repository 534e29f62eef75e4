// Sets (or, given null, unsets) environment variables for a test and puts them back.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace glmhost::test {

class ScopedEnvironment {
 public:
  void set(const char* name, const char* value) {
    const char* before = std::getenv(name);
    before_.push_back({name, before == nullptr ? std::nullopt : std::optional<std::string>(before)});
    apply(name, value);
  }
  ScopedEnvironment() = default;
  ~ScopedEnvironment() {
    for (auto entry = before_.rbegin(); entry != before_.rend(); ++entry) {
      apply(entry->name.c_str(), entry->value ? entry->value->c_str() : nullptr);
    }
  }
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;

 private:
  struct Entry {
    std::string name;
    std::optional<std::string> value;
  };
  static void apply(const char* name, const char* value) {
    if (value == nullptr) {
      unsetenv(name);
    } else {
      setenv(name, value, 1);
    }
  }

  std::vector<Entry> before_;
};

}  // namespace glmhost::test
