// A call that cannot be asked as it is: what the cell shows, and the sentence for GLM.ERROR.
#pragma once

#include <stdexcept>
#include <string>

#include "excel-addin/formula/error_code.h"

namespace glmhost::functions {

class CallError : public std::runtime_error {
 public:
  CallError(formula::ErrorCode code, const std::string& sentence) : std::runtime_error(sentence), code_(code) {}
  explicit CallError(const std::string& sentence) : CallError(formula::ErrorCode::value, sentence) {}
  formula::ErrorCode code() const { return code_; }

 private:
  formula::ErrorCode code_;
};

}  // namespace glmhost::functions
