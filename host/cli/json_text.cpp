#include "host/cli/json_text.h"

#include "host/cli/console.h"

namespace glmhost::cli {

Json call_json(const protocol::ToolCall& call) {
  return {
      {"id", call.id},         {"name", call.name},       {"arguments", Json::parse(call.arguments, nullptr, false)},
      {"status", call.status}, {"problem", call.problem}, {"source", call.source}};
}

Json answer_json(const protocol::Result& result) {
  const protocol::Usage& usage = result.usage;
  Json calls = Json::array();
  for (const protocol::ToolCall& call : result.tool_calls) calls.push_back(call_json(call));
  return {{"model", result.model},
          {"content", result.content},
          {"reasoning", result.reasoning},
          {"tool_calls", std::move(calls)},
          {"finish_reason", result.finish_reason},
          {"from_memo", result.from_memo},
          {"usage",
           {{"prompt_tokens", usage.prompt_tokens},
            {"generated_tokens", usage.generated_tokens},
            {"cached_prompt_tokens", usage.cached_prompt_tokens},
            {"queue_ms", usage.queue_ms},
            {"prompt_ms", usage.prompt_ms},
            {"decode_ms", usage.decode_ms}}}};
}

Json error_json(std::string_view code, std::string_view message) {
  return {{"error", {{"code", code}, {"message", message}}}};
}

std::string json_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json conversation(const std::string& system) {
  Json messages = Json::array();
  if (!system.empty()) messages.push_back({{"role", "system"}, {"content", system}});
  return messages;
}

void note_early_end(const protocol::Result& result, std::int32_t max_tokens) {
  if (result.finish_reason == "length") {
    print_error("the answer was cut at " + std::to_string(max_tokens) + " tokens; --max-tokens allows more.");
  } else if (result.finish_reason == "context") {
    const auto tokens = std::to_string(result.usage.prompt_tokens + result.usage.generated_tokens);
    print_error("the answer was cut: prompt and answer fill the context of " + tokens +
                " tokens. It is the model's own, or smaller where kv_bytes is or memory was short (`glm ps` shows it): "
                "shorten the prompt, or raise kv_bytes.");
  } else if (result.content.empty()) {
    print_error(result.reasoning.empty() ? "the answer is empty: the model ended it before the first word."
                                         : "the answer is empty: the model ended it after its reasoning.");
  }
}

}  // namespace glmhost::cli
