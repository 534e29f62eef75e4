// A Jinja template rendered on a request, as transformers' apply_chat_template() does it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "inference/chat/jinja/template.h"
#include "inference/chat/template.h"

namespace glmhost::chat {

// What a template knows the vocabulary's special tokens by: {"bos_token", "<bos>"}, ...
using SpecialTokens = std::vector<std::pair<std::string, std::string>>;

// The template's own words, the special tokens, dates and the names of roles are its own text; all else is the
// request's. Keys of a message with null are left out. Where the request continues the last message, the prompt ends
// behind the last character that stems from its content.
//
// Throws jinja::TemplateError, and Error(bad_argument) when the last message cannot be continued.
Prompt render(const jinja::Template& source, const RenderRequest& request, const SpecialTokens& special);

}  // namespace glmhost::chat
