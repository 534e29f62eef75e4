#include "inference/chat/jinja/budget.h"

#include <string>

#include "inference/chat/jinja/fault.h"

namespace glmhost::jinja {

void Budget::begin(const Limits& limits) {
  limits_ = limits;
  limits_.steps += made_ * limits.steps_per_input_byte;
  limits_.made_bytes += made_ * limits.made_bytes_per_input_byte;
  steps_ = 0;
  made_ = 0;
}

void Budget::too_many_steps() const {
  throw Fault{Failure::limit, "it took more than " + std::to_string(limits_.steps) + " steps"};
}

void Budget::too_much_made() const {
  throw Fault{Failure::limit,
              "it made more than " + std::to_string(limits_.made_bytes >> 20) + " MiB of text and lists"};
}

void Budget::too_deep() const {
  throw Fault{Failure::limit,
              "it nests more than " + std::to_string(limits_.depth) + " levels of statements, expressions and macros"};
}

}  // namespace glmhost::jinja
