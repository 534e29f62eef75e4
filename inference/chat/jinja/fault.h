// How a template fails.
#pragma once

#include <string>

#include "inference/error.h"

namespace glmhost::jinja {

enum class Failure {
  syntax,   // it is no template; line and column are known
  runtime,  // an operation that its values do not allow
  raised,   // it calls raise_exception
  limit,    // it would take too many steps, nest too deep or make too much text
};

// what() is a whole sentence; of a raised one, the template's own words. Kind: bad_argument for a raised one, since it
// is the request that the template refuses, else bad_file.
class TemplateError : public Error {
 public:
  TemplateError(Failure failure, int line, int column, const std::string& sentence)
      : Error(failure == Failure::raised ? ErrorKind::bad_argument : ErrorKind::bad_file, sentence),
        failure_(failure),
        line_(line),
        column_(column) {}
  Failure failure() const { return failure_; }
  int line() const { return line_; }      // from 1
  int column() const { return column_; }  // from 1, in characters; 0 where only the line is known

 private:
  Failure failure_;
  int line_;
  int column_;
};

// Thrown inside, where the line is not known.
struct Fault {
  Failure failure;
  std::string message;
};

[[noreturn]] inline void fail(const std::string& message) {
  throw Fault{Failure::runtime, message};
}

}  // namespace glmhost::jinja
