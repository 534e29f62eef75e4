// The form that an answer must have, followed along one sequence: which tokens may come next, and which must.
//
// A reasoning model thinks first, and what it thinks has no form: the constraint begins behind the first </think>.
// Until then every token may come but those that end the answer.
//
// Calls of tools have a form too, but it may be the model that says where one begins: the answer is free until the
// constraint's opening was written, and free again behind each call.
//
// Where the constraint leaves only one way to go on, the text that must come is written without asking the model (jump
// ahead). It is tokenised together with the token before it, as the tokenizer would write the whole: the model goes on
// from the tokens it knows from training. The last one of them is left to the model, since it may grow together with
// what follows.
//
// Thread rules: one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
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

  struct Opened {
    std::size_t end;   // in the text that was looked at, behind the opening
    std::string form;  // the text that the constraint takes it for
  };

  std::shared_ptr<const constraints::Constraint> constraint;
  Reasoning reasoning = Reasoning::none;
  // Markers in the form, <tool_call> and the like, are written as the tokens that the vocabulary has for them.
  bool has_markers = false;
  // Empty: the form begins at once. Else the answer is free until this finds the form's opening in what was written:
  // all of it, or with `anywhere` its last bytes (an opening has 64 at most), and then the answer is free again when
  // the form is complete.
  std::function<std::optional<Opened>(std::string_view written)> opening{};
  bool anywhere = false;
};

class FormFollower {
 public:
  // The tokenizer must outlive it and be the one of the constraint's vocabulary.
  FormFollower(const OutputForm& form, const tokenizer::Tokenizer& tokenizer);

  // One bit for each token that may come now. Valid until the next call.
  std::span<const constraints::MaskWord> mask();

  // Takes a token; false, and no change, when it is not allowed. A token of the mask is refused only where it ends the
  // reasoning, or opens the form, and goes on with something that the form does not.
  bool accept(tokenizer::TokenId token);

  bool complete() const;  // nothing can follow

  // What must come before the model is asked for the first time; accepted already. At most `most` tokens, or none.
  std::vector<tokenizer::TokenId> opening(std::size_t most);

  // To be called after accept(token): the tokens to be put in its place, at most `most`. Those that were added, and
  // those that the token grew into, are accepted already.
  std::vector<tokenizer::TokenId> jump_ahead(tokenizer::TokenId token, std::size_t most);

 private:
  enum class Phase { start, reasoning, free, form };

  void begin_reasoning();
  bool accept_in_reasoning(tokenizer::TokenId token);
  bool accept_free(tokenizer::TokenId token);
  bool take_free(std::string_view text);
  void take_form(std::string_view text);  // what is forced
  void leave_form();                      // where it is complete and not the whole answer
  std::string forced_text() const;        // what must come now
  // The tokens of `text` without the last one, which may grow together with what follows.
  std::vector<tokenizer::TokenId> settled_tokens(const std::string& text) const;

  const tokenizer::Tokenizer& tokenizer_;
  OutputForm form_;
  tokenizer::Markers markers_;
  constraints::ConstraintState state_;
  Phase phase_ = Phase::form;
  std::vector<tokenizer::TokenId> opening_;      // start: tokens that may come beside those of the form
  std::string tail_;                             // reasoning, free: the bytes that a marker may begin in
  std::vector<constraints::MaskWord> own_mask_;  // start, reasoning, free
};

}  // namespace glmhost::generation
