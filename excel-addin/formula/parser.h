// From text to a SyntaxTree: Excel's grammar, and the few words that the table language adds to it.
//
// Binding, tightest first: unary + and -, %, ^, * and /, + and -, &, comparisons (all from left to right, so -2^2 is 4
// and 2^3^2 is 64); then not, and, or.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "excel-addin/formula/function.h"
#include "excel-addin/formula/syntax_error.h"
#include "excel-addin/formula/syntax_tree.h"

namespace glmhost::formula {

struct ParseOptions {
  bool cells = true;          // A1 is a cell. Off: it is a name like any other
  bool words = false;         // and, or, not, in, == and !== are operators; != is <>
  bool line_ends_it = false;  // a line end outside of parentheses ends the expression

  bool calls_touch = false;  // NAME( is a call only without a blank before the parenthesis: `group region (...)`

  // Found before Excel's of the same name; made by function_rows(). An aggregate among all functions may end in
  // `where CONDITION` when words is on.
  std::span<const Function> own_functions = {};

  static ParseOptions table_language() {
    return {.cells = false, .words = true, .line_ends_it = true, .calls_touch = true};
  }
};

// The whole text, with or without a = in front. Throws SyntaxError.
SyntaxTree parse(std::string_view source, const ParseOptions& options = {});

// The longest expression from `offset` on; `end` is where the first token begins that does not belong to it.
struct ParsedPrefix {
  SyntaxTree tree;
  std::size_t end;
};
ParsedPrefix parse_prefix(std::string_view source, std::size_t offset, const ParseOptions& options);

}  // namespace glmhost::formula
