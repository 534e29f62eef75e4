// Output that always has a demanded form: a JSON Schema, a regular expression, a grammar, one of some texts, or a type.
//
//   auto trie = std::make_shared<const TokenTrie>(tokenizer);        // once for a model
//   auto constraint = compile(spec, trie);                           // once for a demand; see ConstraintCache
//   ConstraintState state(constraint);                               // once for a sequence
//   loop: sample from the tokens of state.mask(); state.accept(token)
//
// Every text that the mask allows can be completed: a state never comes to a dead end. A token is allowed when its
// bytes, in any tokenisation, continue the text; the tokens that end an answer are allowed when the text is complete.
//
// Thread rules: a Constraint may be used by several threads at once. A ConstraintState and all copies of it are used by
// one thread at a time: they share working memory. A state made anew from the Constraint shares nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inference/constraints/grammar.h"
#include "inference/constraints/token_trie.h"

namespace glmhost::constraints {

struct Spec {
  enum class Kind {
    json_schema,  // text: the schema, JSON
    regex,        // text: as in regex.h; the whole answer matches
    grammar,      // text: GBNF, as in gbnf.h
    choice,       // choices: the answer is one of them
    type,         // text: number, date (2026-11-30), boolean (true, false), list or grid (JSON arrays)
  };
  // White space in JSON that a schema describes.
  enum class WhiteSpace {
    any,  // as JSON allows, at most 128 bytes in one place
    // `, ` and `: ` and nothing else, as most programs print JSON in one line, and known names and texts with patterns
    // without needless escapes: the model need not choose.
    usual,
  };
  enum class PropertyOrder {
    any,
    declared,  // as the schema lists them, others behind: the model need not choose
  };

  Kind kind = Kind::json_schema;
  std::string text;
  std::vector<std::string> choices;
  WhiteSpace white_space = WhiteSpace::any;
  PropertyOrder order = PropertyOrder::any;
  bool assert_formats = true;  // json_schema: whether `format` must hold or is a remark

  bool operator==(const Spec&) const = default;
};

class Constraint {
 public:
  struct Shared;  // the grammar, the vocabulary, and what has been computed for all states
  explicit Constraint(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  const TokenTrie& vocabulary() const;
  const Grammar& grammar() const;
  const std::shared_ptr<Shared>& shared() const { return shared_; }

 private:
  std::shared_ptr<Shared> shared_;
};

// Throws Error(bad_argument) with what is wrong (a contradiction, a cycle, an empty list, a position in the text), and
// Error(unsupported) naming the keyword for a schema that needs one which is not supported.
std::shared_ptr<const Constraint> compile(const Spec& spec, std::shared_ptr<const TokenTrie> vocabulary);

// The grammar alone, without a vocabulary.
std::shared_ptr<const Grammar> compile_grammar(const Spec& spec);

class ConstraintState {
 public:
  explicit ConstraintState(std::shared_ptr<const Constraint> constraint);

  // One bit for each token (see bit_is_set) that may come now. Valid until the next call on this state or a copy.
  std::span<const MaskWord> mask();

  // Takes a token; false, and no change, when it is not allowed.
  bool accept(std::int32_t token);
  // Takes as many bytes as the text may go on with, and returns their number.
  std::size_t accept_text(std::string_view bytes);

  bool can_end() const;                  // the text is complete, and may go on
  bool is_complete() const;              // and nothing can follow
  bool ended() const { return ended_; }  // a token that ends the answer was accepted

  // What must come next, whatever the model says: bytes, at most `most`. Whole characters only.
  std::string forced_text(std::size_t most = 256) const;

 private:
  struct Working;
  void make_room();

  std::shared_ptr<const Constraint> constraint_;
  std::shared_ptr<Working> working_;
  std::uint32_t state_ = 0;
  bool ended_ = false;
};

}  // namespace glmhost::constraints
