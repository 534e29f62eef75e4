// Conversation to prompt, for the model families whose templates are built in.
//
// A rendered prompt is a list of parts, each marked as the template's own text or as text from outside, so that the
// tokenizer never turns a marker typed by a user into a token (tokenizer::TextPart).
//
// Thread rules: everything here is a pure function.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inference/tokenizer/tokenizer.h"

namespace glmhost::chat {

using Json = nlohmann::ordered_json;  // templates print keys in the order given

// One template of one model generation.
enum class Family { glm_4_9b_chat, glm_edge, glm_z1, glm_4_6, glm_4_7_flash, glm_5_2, smollm2, gemma_3, llama_3_1 };

std::optional<Family> find_family(std::string_view name);  // "glm-4.6", "glm-4.7-flash", "smollm2", ...
std::string_view name(Family family);
std::vector<std::string_view> family_names();

// The family whose markers and template fit the file: by the text of its chat template where that is known, else by
// architecture and special tokens. Nothing for a base model without a template that is known.
std::optional<Family> detect_family(const model_files::GgufFile& file, const tokenizer::Tokenizer& tokenizer);

// A request as OpenAI's chat endpoint and the templates know it. Everything but `messages` may be absent.
struct RenderRequest {
  Json messages = Json::array();           // [{"role": "user", "content": "..."}, ...]; keys with null are as absent
  Json tools = nullptr;                    // refused with bad_argument until tool calls are supported by the family
  bool add_generation_prompt = true;
  std::optional<bool> enable_thinking;     // absent: the template's own default
  bool continue_final_message = false;
  Json variables = Json::object();         // further template variables: clear_thinking, reasoning_effort, ...

  // Checks kinds and throws Error(bad_argument) naming the field.
  static RenderRequest from_json(const Json& request);
};

struct Prompt {
  std::vector<tokenizer::TextPart> parts;
  bool starts_in_reasoning = false;  // the prompt ends inside an open <think>: the answer begins with reasoning

  std::string text() const;  // all parts joined
};

// Throws Error(bad_argument) with the template's own message where the vendor's template raises one.
Prompt render(Family family, const RenderRequest& request);

// Splits a streamed answer into reasoning and content at the family's markers, also where a marker is cut in two.
class ReasoningSplitter {
 public:
  ReasoningSplitter(Family family, bool starts_in_reasoning);
  struct Delta {
    std::string reasoning;
    std::string content;
  };
  Delta push(std::string_view text);
  Delta finish();

 private:
  std::string open_, close_, pending_;
  bool in_reasoning_ = false;
  bool at_start_ = true;
};

}  // namespace glmhost::chat
