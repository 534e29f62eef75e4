// Sets of numbers and the automata of their numerals in JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "inference/constraints/decimal.h"
#include "inference/constraints/dfa.h"

namespace glmhost::constraints {

// Which results of comparing a number with a bound are allowed.
enum Comparison : std::uint8_t { kLess = 1, kEqual = 2, kGreater = 4 };

// All conditions hold together.
struct NumberSet {
  struct Bound {
    Decimal value;
    std::uint8_t allowed;  // of Comparison
    bool operator==(const Bound&) const = default;
  };
  struct Multiple {
    Decimal of;    // above 0
    bool negated;  // no multiple of it
    bool operator==(const Multiple&) const = default;
  };

  std::optional<bool> integer;  // whether there must be no fraction, or must be one
  std::vector<Bound> bounds;
  std::vector<Multiple> multiples;

  bool unconstrained() const { return !integer && bounds.empty() && multiples.empty(); }
  void add(const NumberSet& other);
};

// The numerals of the set. Numbers without conditions are written in any of JSON's ways; others without exponent;
// integers may end in .0 (JSON Schema counts 1.0 as an integer). An empty automaton: no number satisfies the set.
// Throws Error(bad_argument) for conditions whose automaton would be too large, naming them.
DfaPointer number_dfa(const NumberSet& set);

// Numerals as programs write them, and of bounded length: a weak model would otherwise write digits for ever. Integers
// of at most 15 digits, without a point; other numbers with at most 15 digits on either side of it
// and two in the exponent: what a double holds.
DfaPointer usual_numerals(bool integers);

// Numerals (without exponent) of numbers equal to one of VALUES.
DfaPointer number_values_dfa(const std::vector<Decimal>& values);

}  // namespace glmhost::constraints
