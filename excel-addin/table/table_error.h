// What went wrong while a table was read or a pipeline ran: a whole sentence for a person. Mistakes in the text of a
// pipeline, which have a place in it, are formula::SyntaxError.
#pragma once

#include <stdexcept>
#include <string>

namespace glmhost::table {

class TableError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The caller's cancel flag was set.
struct Cancelled {};

}  // namespace glmhost::table
