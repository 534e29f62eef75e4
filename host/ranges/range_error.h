// What is wrong with a segment or with making one: a whole sentence for a person.
#pragma once

#include <stdexcept>

namespace glmhost::ranges {

class RangeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace glmhost::ranges
