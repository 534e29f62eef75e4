// The form that an answer must have, followed along one sequence: which tokens may come next, and which must.
//
// A reasoning model thinks first, and what it thinks has no form: the constraint begins behind the first </think>.
// Until then every token may come but those that end the answer.
//
// Where the constraint leaves only one way to go on, the text that must come is written without asking the model (jump
// ahead). It is tokenised together with the token before it, as the tokenizer would write the whole: the model goes on
// from the tokens it knows from training. The last one of them is left to the model, since it may grow together with
// what follows.
//
// Thread rules: one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inference/constraints/constraint.h"
#include "inference/tokenizer/tokenizer.h"

namespace glmhost::generation {

struct OutputForm {
  enum class Reasoning {
    none,      // the answer begins with the form
    may_come,  // <think> may stand before it
    begun,     // the prompt ends inside the reasoning
  };

  std::shared_ptr<const constraints::Constraint> constraint;
  Reasoning reasoning = Reasoning::none;
};

class FormFollower {
 public:
  // The tokenizer must outlive it and be the one of the constraint's vocabulary.
  FormFollower(const OutputForm& form, const tokenizer::Tokenizer& tokenizer);

  // One bit for each token that may come now. Valid until the next call.
  std::span<const constraints::MaskWord> mask();

  // Takes a token; false, and no change, when it is not allowed. A token of the mask is refused only where it ends the
  // reasoning and goes on with something that the form does not begin with.
  bool accept(tokenizer::TokenId token);

  bool complete() const;  // nothing can follow

  // What must come before the model is asked for the first time; accepted already. At most `most` tokens, or none.
  std::vector<tokenizer::TokenId> opening(std::size_t most);

  // To be called after accept(token): the tokens to be put in its place, at most `most`. Those that were added, and
  // those that the token grew into, are accepted already.
  std::vector<tokenizer::TokenId> jump_ahead(tokenizer::TokenId token, std::size_t most);

 private:
  enum class Phase { start, reasoning, form };

  void begin_reasoning();
  bool accept_in_reasoning(tokenizer::TokenId token);
  std::string forced_text() const;  // what must come now
  // The tokens of `text` without the last one, which may grow together with what follows.
  std::vector<tokenizer::TokenId> settled_tokens(const std::string& text) const;

  const tokenizer::Tokenizer& tokenizer_;
  constraints::ConstraintState state_;
  Phase phase_ = Phase::form;
  std::vector<tokenizer::TokenId> opening_;      // start: tokens that may come beside those of the form
  std::string tail_;                             // reasoning: the last bytes, which </think> may begin in
  std::vector<constraints::MaskWord> own_mask_;  // start, reasoning
};

}  // namespace glmhost::generation
