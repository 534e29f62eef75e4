// Chat templates written in Jinja, as they stand in model files: a limited interpreter.
//
// It knows what chat templates are written in (expressions, filters, tests, methods, macros, namespaces, loops with
// break and continue, white space control) and means by it what Jinja 3.1 in transformers' setting means: trim_blocks,
// lstrip_blocks, Python's rules for values and their text, tojson without HTML escapes. A template stands alone: no
// other file, no attribute of the program and nothing but its variables is within its reach, and it can change nothing
// but its own namespaces. Whatever it does ends within the limits.
//
// Every character of the result is marked by who wrote it (Origin).
//
// Thread rules: a Template is immutable; render() may be called from several threads at once.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inference/chat/jinja/fault.h"
#include "inference/chat/jinja/runtime.h"

namespace glmhost::jinja {

using Variables = std::vector<std::pair<std::string, Value>>;

class Template {
 public:
  // Throws TemplateError(syntax).
  explicit Template(std::string_view source);
  ~Template();
  Template(Template&&) noexcept;
  Template& operator=(Template&&) noexcept;

  bool reads(std::string_view variable) const;  // whether the name stands anywhere in it

  // `make` makes the variables with the run's Runtime. Throws TemplateError (runtime, raised, limit).
  Text render(const std::function<Variables(Runtime&)>& make, std::optional<LocalTime> now = std::nullopt,
              const Limits& limits = {}) const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

}  // namespace glmhost::jinja
