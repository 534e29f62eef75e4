// The table of functions: what a parser, a completion list, an evaluator and a compiler need to know of each.
//
// Each family stands in a file of its own (math_functions.cpp, ...) and is a table of rows. Adding a function is adding
// a row and the code it names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "excel-addin/formula/value.h"

namespace glmhost::formula {

class Arguments;
class LazyArguments;

enum class Family : std::uint8_t {
  math,
  trigonometry,
  statistics,
  distribution,
  text,
  regular_expression,
  logical,
  date_and_time,
  lookup,
  financial,
  information,
  engineering,
  criteria,
  array,
  database,
};
std::string_view family_name(Family family);

enum class Trait : std::uint8_t {
  none = 0,
  is_volatile = 1,       // another value at every calculation: NOW, RAND
  aggregate = 2,         // many values become one: SUM; a table groups by it
  refuses_booleans = 4,  // former add-in functions: TRUE is #VALUE!, an argument left out #N/A
  binds_names = 8,       // LET
};
constexpr Trait operator|(Trait a, Trait b) {
  return static_cast<Trait>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}

struct Arity {
  std::size_t least, most;
};

// Takes its arguments' values. The arguments are lifted: see parameters.
using Eager = Value (*)(Arguments& arguments);
// Evaluates the arguments that it wants.
using Lazy = Value (*)(LazyArguments& arguments);

struct Function {
  std::string_view name;

  // "number, [digits]": optional ones in brackets; "..." lets the last one (or two, when written twice) repeat. A *
  // marks a parameter that takes an array or a range as a whole. An array for one without * makes the function run for
  // each cell, and its result an array (the function is lifted).
  std::string_view parameters;
  std::string_view description;  // one sentence
  Eager eager = nullptr;         // one of the two is there
  Lazy lazy = nullptr;
  Trait traits = Trait::none;
  Family family = Family::math;

  constexpr Function(std::string_view function_name, std::string_view parameter_names, std::string_view sentence,
                     Eager code, Trait its_traits = Trait::none)
      : name(function_name), parameters(parameter_names), description(sentence), eager(code), traits(its_traits) {}
  constexpr Function(std::string_view function_name, std::string_view parameter_names, std::string_view sentence,
                     Lazy code, Trait its_traits = Trait::none)
      : name(function_name), parameters(parameter_names), description(sentence), lazy(code), traits(its_traits) {}

  bool has(Trait trait) const { return (static_cast<std::uint8_t>(traits) & static_cast<std::uint8_t>(trait)) != 0; }
  Arity arity() const { return arity_; }
  bool takes_whole(std::size_t argument) const;  // the parameter has a *
  std::string signature() const;                 // ROUND(number, digits), for a person
  std::vector<std::string> parameter_names() const;

 private:
  friend class FunctionTable;
  void read_parameters();
  Arity arity_{};
  std::uint64_t whole_ = 0;   // a bit for each written parameter
  std::size_t written_ = 0;   // how many are written
  std::size_t repeated_ = 0;  // how many of the last repeat
};

// Rows of a caller's own, ready to be looked up and called.
std::vector<Function> function_rows(std::span<const Function> rows, Family family);

// All functions, sorted by name.
std::span<const Function> all_functions();

// Case does not matter, and the prefixes with which files store newer functions (_xlfn.) are skipped. Null when there
// is none.
const Function* find_function(std::string_view name);

// The name that a mistyped one most likely means; may be empty.
std::string_view nearest_function(std::string_view name);

}  // namespace glmhost::formula
