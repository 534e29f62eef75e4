#include "host/cli/json_text.h"

#include "host/cli/console.h"

namespace glmhost::cli {

Json answer_json(const protocol::Outcome& outcome) {
  if (const auto* error = std::get_if<protocol::ErrorMessage>(&outcome)) {
    return {{"error", {{"code", std::string(protocol::name(error->code))}, {"sentence", error->sentence}}}};
  }
  const auto& result = std::get<protocol::Result>(outcome);
  const protocol::Usage& usage = result.usage;
  Json calls = Json::array();
  for (const protocol::ToolCall& call : result.tool_calls) {
    calls.push_back({{"id", call.id},
                     {"name", call.name},
                     {"arguments", Json::parse(call.arguments, nullptr, false)},
                     {"status", call.status},
                     {"problem", call.problem},
                     {"source", call.source}});
  }
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

Json conversation(const std::string& system) {
  Json messages = Json::array();
  if (!system.empty()) messages.push_back({{"role", "system"}, {"content", system}});
  return messages;
}

void note_early_end(const protocol::Result& result, std::int32_t max_tokens) {
  if (result.finish_reason == "length") {
    print_error("the answer was cut at " + std::to_string(max_tokens) + " tokens; --max-tokens allows more.");
  } else if (result.finish_reason == "context") {
    print_error("the answer was cut because the model's context is full.");
  }
}

}  // namespace glmhost::cli
