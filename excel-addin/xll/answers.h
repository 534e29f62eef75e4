// What stands behind the worksheet functions, as the add-in needs it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "excel-addin/com/topics.h"
#include "excel-addin/formula/value.h"
#include "excel-addin/xll/registration.h"

namespace glmhost::xll {

struct Reply {
  enum class State { done, pending, failed };
  State state = State::done;
  formula::Value value;  // done: the answer; failed: the error
  std::string topic;     // under which it is watched; empty when it needed no model
  std::string sentence;  // why it failed or waits, and what was left out of the prompt
};

// Thread rules: every member may be called from any thread, and none waits for the model or the socket.
class Answers : public com::Topics {
 public:
  // The names, arguments and help of all functions.
  virtual std::vector<FunctionText> catalogue() const = 0;

  // Looks the answer up. A miss is kept under its topic, and work on it begins when the topic is watched; with
  // `only_look` it is not kept.
  virtual Reply ask(std::string_view function, const std::vector<formula::Value>& arguments, bool only_look) = 0;

  virtual void cancel_all() = 0;
};

}  // namespace glmhost::xll
