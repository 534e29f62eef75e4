// Filling a gap in a text: prefix, suffix and pieces of other files as the prompt of a model, in the form that it was
// trained for.
//
//   codegeex_4    one user turn: references, path, language, LINE or BLOCK, then suffix, prefix and the middle's marker
//   glm           GLM-4.5 and later: prefix, suffix and middle markers after [gMASK]<sop>. The vendor documents no
//                 format; this order is what the markers' names and other programs suggest.
//   markers       the prefix, suffix and middle tokens that the file's metadata names, in that order
//   prefix_only   no markers: the prefix is continued, the suffix is not seen
//
// In the last two, pieces of other files come first, each below a comment with its path.
//
// Everything from the request is text from outside: no marker written in it becomes one (tokenizer::TextPart).
// Thread rules: immutable, but for assignment.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "inference/chat/template.h"

namespace glmhost::chat {

struct InfillPiece {
  std::string path;
  std::string text;
};

struct InfillRequest {
  std::string prefix;
  std::string suffix;
  std::string language;  // an editor's name for it: "python", "cpp"; may be empty
  std::string path;      // may be empty
  bool one_line = false;
  std::vector<InfillPiece> context;
};

enum class InfillForm { prefix_only, codegeex_4, glm, markers };
std::string_view name(InfillForm form);

class InfillTemplate {
 public:
  InfillTemplate() = default;  // prefix only
  static InfillTemplate of(const model_files::GgufFile& file, const tokenizer::Tokenizer& tokenizer);

  InfillForm form() const { return form_; }

  // At most `budget` tokens (but always the end of the prefix). What does not fit is left out: the last pieces of
  // context first, then the end of the suffix, then the beginning of the prefix. Cuts fall on line ends where there are
  // some, and the beginning of a prefix moves in large steps, so that prompts of one place in a text begin alike while
  // it is being typed. No parts at all: there is nothing to go on from.
  Prompt render(const InfillRequest& request, const tokenizer::Tokenizer& tokenizer, std::int64_t budget) const;

 private:
  InfillRequest cut(InfillRequest request, const tokenizer::Tokenizer& tokenizer, std::int64_t room) const;
  Prompt write(const InfillRequest& request) const;

  InfillForm form_ = InfillForm::prefix_only;
  std::string prefix_, suffix_, middle_;  // the markers, but in prefix_only
  std::string begin_;                     // before all else
};

// What begins a line of comment in a language by an editor's name for it; "//" for languages that are not known.
std::string_view comment_leader(std::string_view language);

}  // namespace glmhost::chat
