// From a request to the tokens of its prompt.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "host/protocol/messages.h"
#include "inference/chat/infill.h"
#include "inference/chat/model_template.h"
#include "inference/tokenizer/tokenizer.h"

namespace glmhost::daemon {

// A conversation is rendered by the model's chat template. A raw prompt is taken as it stands: markers in it stay
// plain text, and the answer is not split into reasoning and content.
//
// A base model has no template. One single message of a user is then what people mean who write
// `glm run -m BASE "Once upon a time"`: a text to be continued, and it is taken as a raw prompt. Any other conversation
// is refused, since roles written out as text would look like a chat and not be one.
//
// Throws Error(bad_argument): an empty prompt, a conversation that the template refuses, one that a base model cannot
// hold.
chat::Prompt build_prompt(const chat::ModelTemplate& chat_template, const protocol::Request& request,
                          std::string_view model_name);

// How many tokens a prompt can hold, and how many the model itself could.
struct PromptRoom {
  std::string_view model_name;
  std::int64_t context = 0;        // as the cache allows (kv_bytes, memory)
  std::int64_t model_context = 0;  // by the model's file
};

// Both throw Error(context_exceeded) that says by how much the prompt is too long; the answer needs a token too. The
// first looks at the prompt's bytes alone, so that megabytes are not encoded in vain: a token stands for no more bytes
// than the longest one of the vocabulary.
void check_bytes(const tokenizer::Tokenizer& tokenizer, const chat::Prompt& prompt, const PromptRoom& room);
void check_tokens(std::int64_t tokens, const PromptRoom& room);

// A gap (request.infill is given) in the form that the model was trained for, cut so that it and the answer fit into
// the context. Throws Error(bad_argument) when there is nothing to go on from.
chat::Prompt build_infill_prompt(const chat::InfillTemplate& form, const protocol::Request& request,
                                 const tokenizer::Tokenizer& tokenizer, std::int64_t context_tokens);

// The prompt's tokens, with BOS in front where the model wants it and the template has not written it.
std::vector<std::int32_t> encode_prompt(const tokenizer::Tokenizer& tokenizer, const chat::Prompt& prompt);

}  // namespace glmhost::daemon
