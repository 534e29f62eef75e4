// Regular expressions as trees, whatever notation they were written in, and their automata.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "inference/constraints/code_points.h"
#include "inference/constraints/dfa.h"

namespace glmhost::constraints {

inline constexpr std::uint32_t kUnbounded = 0xFFFFFFFF;

struct Expression {
  enum class Kind {
    characters,   // one character of a set
    text,         // exactly these bytes
    sequence,     // one part after the other; no parts: the empty text
    alternation,  // one of the parts; no parts: nothing matches
    repetition,   // the only part, least..most times
    text_begin,   // ^
    text_end,     // $
    rule,         // a rule of a grammar, by number; not for automata
    schema,       // JSON that satisfies the JSON Schema in `text`; not for automata
    raw_schema,   // the same, but a text stands without quotes, and the only part's text nowhere; not for automata
  };

  Kind kind = Kind::sequence;
  CodePointSet characters;
  std::string text;
  std::vector<Expression> parts;
  std::uint32_t least = 0;
  std::uint32_t most = kUnbounded;
  std::uint32_t rule = 0;

  static Expression of_kind(Kind kind);
  static Expression of_characters(CodePointSet set);
  static Expression of_text(std::string_view text);
  static Expression sequence(std::vector<Expression> parts);
  static Expression alternation(std::vector<Expression> parts);
  static Expression repetition(Expression part, std::uint32_t least, std::uint32_t most);
};

enum class Match {
  whole,     // the whole text
  anywhere,  // some part of it, as JSON Schema's pattern does
};

// WHAT names the expression in messages: "The pattern `^a+$`". Throws Error(bad_argument) when the automaton would be
// too large: more than 100,000 states, or more work than about a second.
DfaPointer to_dfa(const Expression& expression, Match match, const std::string& what);

}  // namespace glmhost::constraints
