// Conversation to prompt, for the model families whose templates are built in.
//
// A rendered prompt is a list of parts, each marked as the template's own text or as text from outside, so that the
// tokenizer never turns a marker typed by a user into a token (tokenizer::TextPart). Whatever stems from the request
// (contents, reasoning, tool names, arguments, tool descriptions) is text from outside.
//
// The joined text equals, byte for byte, what the vendor's template renders with transformers' settings (trim_blocks,
// lstrip_blocks, JSON as Python prints it). BOS is in the text where the template writes it (Gemma, Llama): a caller
// whose tokenizer wants BOS adds it only when the encoded prompt does not begin with it already.
//
// Thread rules: everything here is a pure function, but a ReasoningSplitter belongs to one answer.
#pragma once

#include <chrono>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inference/tokenizer/tokenizer.h"

namespace glmhost::chat {

using Json = nlohmann::ordered_json;  // templates print keys in the order given

// One template of one model generation.
enum class Family {
  glm_4_9b_chat,  // GLM-4-9B-Chat, CodeGeeX4, GLM-4-0414
  glm_edge,
  glm_z1,         // GLM-Z1-0414
  glm_4_6,        // GLM-4.5, 4.6
  glm_4_7_flash,  // GLM-4.7, 4.7-Flash, 5, 5.1
  glm_5_2,
  smollm2,  // ChatML with SmolLM2's own system message where the conversation has none
  gemma_3,
  llama_3_1,  // Llama 3.1, 3.3
  llama_3_2,  // as 3.1, but dated today
  llama_3,
  chatml,
};

std::optional<Family> find_family(std::string_view name);  // "glm-4.6", "glm-4.7-flash", "smollm2", ...
std::string_view name(Family family);
std::vector<std::string_view> family_names();

// The family whose markers and template fit the file: by the text of its chat template where that is known, else, for
// GLM architectures, by architecture and special tokens. Nothing for a base model without a template that is known.
std::optional<Family> detect_family(const model_files::GgufFile& file, const tokenizer::Tokenizer& tokenizer);

// The first half of detect_family: by the template's text (Jinja source) alone.
std::optional<Family> detect_family(std::string_view chat_template);

// A request as OpenAI's chat endpoint and the templates know it. Everything but `messages` may be absent.
struct RenderRequest {
  // [{"role": "user", "content": "..."}, ...]; keys with null are as absent. Roles: system, developer, user, assistant,
  // tool, observation, ipython, function. Content: a string, or a list of strings and parts such as {"type": "text",
  // "text": "..."}. Arguments of a tool call: an object, or a string that holds the JSON of one.
  Json messages = Json::array();
  Json tools = nullptr;  // refused with bad_argument where the family's template has no place for them
  bool add_generation_prompt = true;
  std::optional<bool> enable_thinking;  // absent: the template's own default
  bool continue_final_message = false;  // ends right after the last message's content; no generation prompt then
  Json variables = Json::object();      // further template variables: clear_thinking, reasoning_effort, date_string
  std::optional<std::chrono::year_month_day> today;  // for templates that print the date (llama-3.2)
  std::chrono::seconds time_of_day{0};               // the same, and the time; of `today`

  // Checks kinds and throws Error(bad_argument) naming the field. Variables may stand in the request itself or in
  // `kwargs` or `chat_template_kwargs`; `now` is "2026-02-03" with or without a time behind it. Other keys are ignored.
  static RenderRequest from_json(const Json& request);

  // For a template from outside, which may know roles, parts and variables that no built-in one does: only the fields
  // named here are checked. Further template variables: bos_token, eos_token and the like, and all in `special`.
  static RenderRequest for_template(const Json& request);
};

// What a client most likely means by roles that the family's template would drop or print as they stand: `developer`
// becomes system, `function` tool, and `tool` observation where the family knows only that. render() itself does none
// of this: it does what the vendor's template does.
RenderRequest with_known_roles(Family family, RenderRequest request);

struct Prompt {
  std::vector<tokenizer::TextPart> parts;
  bool starts_in_reasoning = false;  // the prompt ends inside an open <think>: the answer begins with reasoning
  bool continues_message = false;    // the answer goes on in the middle of a message
  std::string template_failure;      // why the template in the model's file was not used; empty when it was, or is none

  std::string text() const;  // all parts joined
};

// Throws Error(bad_argument) naming the field for what RenderRequest::from_json refuses, and with the template's own
// message where the vendor's template raises one.
Prompt render(Family family, const RenderRequest& request);

// Splits a streamed answer into reasoning and content at the family's markers, also where a marker is cut in two.
//
// <think> counts only at the beginning of the answer (blanks may stand before it): further down it is content.
// Reasoning ends at the first </think>. The newlines that a family's template puts around the two are its own and are
// taken away, nothing else is:
//   glm-4.6, glm-4.7-flash, glm-z1   newlines at both ends of the reasoning and at the beginning of the content
//   glm-4-9b-chat, glm-edge          one newline at the beginning (their models write the one behind <|assistant|>)
//   glm-5.2, all others              none
// An answer that continues a message is content and passes unchanged, and so does everything where the family does not
// think. The pieces put together do not depend on how the answer was cut.
class ReasoningSplitter {
 public:
  ReasoningSplitter(Family family, bool starts_in_reasoning);
  ReasoningSplitter(Family family, const Prompt& prompt);
  // For a model of no known family: newlines at both ends of the reasoning and at the beginning of the content are the
  // template's, where it thinks.
  ReasoningSplitter(bool thinks, const Prompt& prompt);
  struct Delta {
    std::string reasoning;
    std::string content;
  };
  bool in_reasoning() const { return state_ == State::reasoning; }
  bool may_reason() const { return state_ == State::start; }
  // For content whose form was demanded: newlines at its beginning are then its own.
  void keep_newlines_of_content() { leading_newlines_ = 0; }

  Delta push(std::string_view text);
  Delta finish();

 private:
  enum class State { start, reasoning, content };

  void continue_message();
  void feed(char byte, Delta& out);
  void add_reasoning(char byte, Delta& out);
  void add_content(char byte, Delta& out);
  void flush_blanks(Delta& out);

  State state_;
  bool trim_reasoning_;
  std::size_t leading_newlines_;   // of the content, still to be taken away
  std::string blanks_;             // before a <think> that may come
  std::size_t matched_ = 0;        // bytes of <think> or </think> seen so far
  std::size_t held_newlines_ = 0;  // of the reasoning; its last ones are taken away
  bool reasoning_begun_ = false;
};

}  // namespace glmhost::chat
