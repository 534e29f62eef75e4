#include "host/daemon/prompt.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <string>

#include "host/daemon/output_form.h"
#include "inference/error.h"

namespace glmhost::daemon {
namespace {

chat::Prompt raw(std::string text) {
  if (text.empty()) throw Error(ErrorKind::bad_argument, "The prompt is empty: write at least one character.");
  chat::Prompt prompt;
  prompt.parts.push_back({std::move(text), tokenizer::Markers::none});
  return prompt;
}

// The text of a conversation that is nothing but one text of a user.
const std::string* single_text(const chat::Json& messages) {
  if (!messages.is_array() || messages.size() != 1 || !messages[0].is_object()) return nullptr;
  const auto role = messages[0].find("role");
  const auto content = messages[0].find("content");
  if (role == messages[0].end() || content == messages[0].end() || *role != "user") return nullptr;
  return content->get_ptr<const chat::Json::string_t*>();
}

// The user's own date and time, for the templates that print it.
void set_time(chat::RenderRequest& request) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
#ifdef _WIN32
  localtime_s(&local, &now);
#else
  localtime_r(&now, &local);
#endif
  request.today = std::chrono::year(local.tm_year + 1900) / (local.tm_mon + 1) / local.tm_mday;
  request.time_of_day =
      std::chrono::hours(local.tm_hour) + std::chrono::minutes(local.tm_min) + std::chrono::seconds(local.tm_sec);
}

[[noreturn]] void refuse_length(std::int64_t tokens, bool at_least, const PromptRoom& room) {
  const std::string more = std::to_string(tokens - room.context + 1);
  std::string sentence = std::string("The prompt has ") + (at_least ? "at least " : "") + std::to_string(tokens) +
                         " tokens, but the context of " + std::string(room.model_name) + " holds " +
                         std::to_string(room.context) + " and the answer needs at least one: shorten the prompt by " +
                         more + " tokens or more.";
  if (room.context < room.model_context) {
    sentence +=
        " The model itself takes " + std::to_string(room.model_context) +
        ": its cache is smaller, by kv_bytes (config.toml, GLM_HOST_KV_BYTES, --kv-bytes) or for lack of memory.";
  }
  throw Error(ErrorKind::context_exceeded, sentence);
}

}  // namespace

void check_bytes(const tokenizer::Tokenizer& tokenizer, const chat::Prompt& prompt, const PromptRoom& room) {
  std::size_t bytes = 0;
  for (const tokenizer::TextPart& part : prompt.parts) bytes += part.text.size();
  if (bytes < static_cast<std::size_t>(room.context)) return;
  // Bytes without a token of their own may leave no trace in the prompt: they do not count.
  std::array<bool, 256> counts{};
  std::size_t longest = 1;
  for (tokenizer::TokenId id = 0; id < tokenizer.vocabulary_size(); ++id) {
    const std::string_view token = tokenizer.bytes(id, true);
    longest = std::max(longest, token.size());
    if (token.size() == 1) counts[static_cast<unsigned char>(token[0])] = true;
  }
  if (bytes / longest < static_cast<std::size_t>(room.context)) return;
  bytes = 0;
  for (const tokenizer::TextPart& part : prompt.parts) {
    for (const char c : part.text) bytes += counts[static_cast<unsigned char>(c)] ? 1 : 0;
  }
  const auto tokens = static_cast<std::int64_t>((bytes + longest - 1) / longest);
  if (tokens >= room.context) refuse_length(tokens, true, room);
}

void check_tokens(std::int64_t tokens, const PromptRoom& room) {
  if (tokens >= room.context) refuse_length(tokens, false, room);
}

chat::Prompt build_prompt(const chat::ModelTemplate& chat_template, const protocol::Request& request,
                          std::string_view model_name) {
  if (request.prompt) return raw(*request.prompt);
  const bool with_tools = tells_tools(request);
  if (chat_template.empty() && with_tools) {
    throw Error(ErrorKind::bad_argument, "The model " + std::string(model_name) +
                                             " is a base model, which calls no tools. Leave them out, or take a chat "
                                             "model.");
  }
  if (chat_template.empty()) {
    if (const std::string* text = single_text(request.messages)) return raw(*text);
    throw Error(ErrorKind::bad_argument,
                "The model " + std::string(model_name) +
                    " has no chat template that GLM Host knows: it is a base model, which continues a text and does "
                    "not hold a conversation. Send one text (a single user message without a system message, or a raw "
                    "prompt), or take a chat model.");
  }
  if (request.messages.is_array() && request.messages.empty()) {
    throw Error(ErrorKind::bad_argument, "The conversation has no message: send at least one.");
  }
  chat::Json rendered = chat::Json::object();
  rendered["messages"] = request.messages;
  // Some templates tell an empty list from none.
  if (with_tools || (request.tools.is_array() && request.tools.empty())) rendered["tools"] = request.tools;
  if (request.enable_thinking) rendered["enable_thinking"] = *request.enable_thinking;
  chat::RenderRequest render_request = chat::RenderRequest::from_json(rendered);
  set_time(render_request);
  return chat_template.render(std::move(render_request));
}

chat::Prompt build_infill_prompt(const chat::InfillTemplate& form, const protocol::Request& request,
                                 const tokenizer::Tokenizer& tokenizer, std::int64_t context_tokens) {
  const protocol::Infill& wanted = *request.infill;
  chat::InfillRequest gap{.prefix = wanted.prefix,
                          .suffix = wanted.suffix,
                          .language = wanted.language,
                          .path = wanted.path,
                          .one_line = wanted.one_line,
                          .context = {}};
  for (const protocol::InfillContext& one : wanted.context) gap.context.push_back({one.path, one.text});
  // Whoever asks for an answer as long as the context wants as much of it as there is, not a prompt of one token.
  const std::int64_t answer = std::min<std::int64_t>(request.max_tokens, context_tokens / 2);
  chat::Prompt prompt = form.render(gap, tokenizer, context_tokens - answer);
  if (prompt.parts.empty()) {
    throw Error(ErrorKind::bad_argument, "There is no text to go on from: give a prefix, or the file's path.");
  }
  return prompt;
}

std::vector<std::int32_t> encode_prompt(const tokenizer::Tokenizer& tokenizer, const chat::Prompt& prompt) {
  std::vector<std::int32_t> tokens = tokenizer.encode(prompt.parts);
  const std::optional<tokenizer::TokenId> bos = tokenizer.bos();
  if (tokenizer.add_bos() && bos && (tokens.empty() || tokens.front() != *bos)) tokens.insert(tokens.begin(), *bos);
  return tokens;
}

}  // namespace glmhost::daemon
