// Cells as text for the model.
//
// A range comes with its address, its headers and the number of each row, one row a line with tabs between the cells:
//
//   Cells Sheet1!A1:C40:
//   row  A: region  B: amount  C: due
//   2    north      12.5       2026-11-30
//
// The first row is taken for headers when all of it is text and more rows follow. Empty cells are blank, "" is two
// quotes, errors are written as the sheet shows them. Line feeds and tabs inside of a cell become blanks.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "excel-addin/functions/argument.h"

namespace glmhost::functions {

// A piece of a prompt: words, or the lines of a range that may be cut at the end.
struct Piece {
  std::string text;                // words, or what stands before the lines
  std::vector<std::string> lines;  // a range's rows
  std::string name;                // of the range, for the sentence about what was left out
  std::size_t rows = 0;            // that the range has; more than lines when some were left out already

  std::size_t bytes() const;
};

// A cell on its own: 1.5, 2026-11-30, TRUE, #N/A; empty is "".
std::string shown(const Value& scalar);

// The pieces of an argument: a single cell as words, anything larger as a range for each area. At most about `most`
// bytes.
std::vector<Piece> render(const Argument& argument, std::size_t most);

// The pieces one behind the other, cut to `most` bytes by leaving out the last rows of ranges, of the longest first.
// What was left out becomes a sentence in `note` ("" when nothing was). Words are never cut.
std::string joined(const std::vector<Piece>& pieces, std::size_t most, std::string& note);

}  // namespace glmhost::functions
