#include "inference/chat/template.h"

namespace glmhost::chat {
namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Every GLM generation from 4 on begins a prompt so; GLM-Edge's template leaves it out.
std::optional<Family> detect_glm(std::string_view text) {
  if (has(text, "Reasoning Effort:")) return Family::glm_5_2;
  if (has(text, "clear_thinking")) return Family::glm_4_7_flash;
  if (has(text, "/nothink")) return Family::glm_4_6;
  if (has(text, "</think>")) return Family::glm_z1;
  if (has(text, "<|observation|>") || has(text, "item['metadata']")) return Family::glm_4_9b_chat;
  return std::nullopt;
}

std::optional<Family> detect_by_tokens(const model_files::GgufFile& file, const tokenizer::Tokenizer& tokenizer) {
  for (const char* marker : {"<|system|>", "<|user|>", "<|assistant|>", "[gMASK]", "<sop>"}) {
    if (!tokenizer.find(marker)) return std::nullopt;
  }
  const std::string architecture = file.architecture();
  const std::string called(file.get_string("general.name").value_or(""));
  if (has(called, "Base") || has(called, "base")) return std::nullopt;
  if (architecture == "glm-dsa") return has(called, "5.2") ? Family::glm_5_2 : Family::glm_4_7_flash;
  if (architecture == "deepseek2") return Family::glm_4_7_flash;
  if (architecture == "glm4moe") return has(called, "4.7") ? Family::glm_4_7_flash : Family::glm_4_6;
  if (architecture == "glm4") return has(called, "Z1") ? Family::glm_z1 : Family::glm_4_9b_chat;
  if (architecture == "chatglm") {
    return has(called, "Edge") || has(called, "edge") ? Family::glm_edge : Family::glm_4_9b_chat;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Family> detect_family(std::string_view text) {
  if (has(text, "[gMASK]<sop>")) return detect_glm(text);
  if (has(text, "<|start_header_id|>")) {
    if (has(text, "strftime_now")) return Family::llama_3_2;
    return has(text, "Today Date: ") ? Family::llama_3_1 : Family::llama_3;
  }
  if (has(text, "<start_of_turn>")) return Family::gemma_3;
  if (has(text, "<|im_start|>")) {
    if (has(text, "named SmolLM")) return Family::smollm2;
    if (!has(text, "<think>")) return Family::chatml;  // a reasoning model needs more than ChatML
    return std::nullopt;
  }
  // Other families write <|user|> too, but end a turn by a marker, or by EOS.
  const bool ends_turns = has(text, "<|end|>") || has(text, "eos_token") || has(text, "<|endoftext|>");
  if (has(text, "<|user|>\n") && has(text, "<|assistant|>\n") && !ends_turns) return Family::glm_edge;
  return std::nullopt;
}

std::optional<Family> detect_family(const model_files::GgufFile& file, const tokenizer::Tokenizer& tokenizer) {
  if (const auto text = file.get_string("tokenizer.chat_template")) {
    if (const auto family = detect_family(*text)) return family;
  }
  return detect_by_tokens(file, tokenizer);
}

}  // namespace glmhost::chat
