// What is wrong with an expression, and where.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace glmhost::formula {

class SyntaxError : public std::runtime_error {
 public:
  // `offset` and `length` are bytes of the source; `sentence` says what was expected.
  SyntaxError(const std::string& sentence, std::size_t offset, std::size_t length = 1, std::string suggestion = {})
      : std::runtime_error(sentence), offset_(offset), length_(length), suggestion_(std::move(suggestion)) {}

  std::size_t offset() const { return offset_; }
  std::size_t length() const { return length_; }
  const std::string& suggestion() const { return suggestion_; }  // the nearest name; may be empty

 private:
  std::size_t offset_, length_;
  std::string suggestion_;
};

// Both count from 1; columns are code points.
struct Position {
  std::size_t line = 1, column = 1;
};
Position position_of(std::string_view source, std::size_t offset);

// The line of the source with a caret below it, aligned on a terminal (wide characters take two places); a long line is
// cut around the place. Two lines, each with a line end.
std::string caret_text(std::string_view source, std::size_t offset, std::size_t length);

// The candidate that a person most likely meant; empty when none is near. Case does not count.
std::string_view nearest_of(std::string_view name, const std::vector<std::string_view>& candidates);

}  // namespace glmhost::formula
