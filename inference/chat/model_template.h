// The chat template that a model is used with: the one in its file where that works, else the family's built-in one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "inference/chat/template_file.h"
#include "inference/chat/tool_calls.h"

namespace glmhost::chat {

// The special tokens of a model's vocabulary, by the names that templates know them by.
SpecialTokens special_tokens(const model_files::GgufFile& file, const tokenizer::Tokenizer& tokenizer);

// Thread rules: immutable; every member may be called from several threads at once.
class ModelTemplate {
 public:
  ModelTemplate() = default;     // of a base model: none
  ModelTemplate(Family family);  // NOLINT(google-explicit-constructor): a family is a template
  // The source in a model's file, as Jinja. One that has a syntax error or fails on a plain conversation is left out;
  // `family` is what the model is known to be beside it.
  ModelTemplate(std::string_view source, SpecialTokens special, std::optional<Family> family);

  static ModelTemplate of(const model_files::GgufFile& file, const tokenizer::Tokenizer& tokenizer);

  // All of it as text, and back: to render for a model whose file is not open. Text that is none gives no template.
  std::string to_text() const;
  static ModelTemplate from_text(std::string_view text);

  bool empty() const { return !own_ && !family_; }
  bool is_from_file() const { return own_ != nullptr; }
  std::optional<Family> family() const { return family_; }

  // For a person: "model file"; "glm-4.6 (built in)"; "glm-4.6 (built in); the model file's own template is left out:
  // ...". At most 240 bytes.
  std::string description() const;

  // What a client most likely means is put into the template's terms first: roles (with_known_roles), arguments of tool
  // calls given as a string of JSON, content in parts where the template takes text only. Tools that the file's
  // template has no place for, and a request that it fails on, go to the built-in template (Prompt::template_failure).
  //
  // Throws Error(bad_argument): what the template raises or the family's render() refuses, tools or parts that no
  // template takes, a tool's result without a call before it. Needs !empty().
  Prompt render(RenderRequest request) const;

  ReasoningSplitter splitter(const Prompt& prompt) const;
  ToolCallFormat tool_call_format() const;

 private:
  struct Own {
    std::string source;
    SpecialTokens special;
    jinja::Template parsed;
  };

  Prompt render_own(RenderRequest request) const;
  bool takes_parts() const;
  bool takes_tools(const RenderRequest& request, const Prompt& with_tools) const;

  std::shared_ptr<const Own> own_;
  std::optional<Family> family_;
  std::string failure_;  // of the file's template
};

}  // namespace glmhost::chat
