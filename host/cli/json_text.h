// What `glm run --json` prints, and the small things about answers that `run` and `chat` share.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "host/protocol/client.h"

namespace glmhost::cli {

using Json = nlohmann::ordered_json;

// {"id", "name", "arguments": {...}, "status", "problem", "source"}.
Json call_json(const protocol::ToolCall& call);

// {"model", "content", "reasoning", "finish_reason", "from_memo", "usage": {...}}.
Json answer_json(const protocol::Result& result);

// What --json prints for every failure of every verb: {"error": {"code", "message"}}.
Json error_json(std::string_view code, std::string_view message);

// One line of JSON, whatever bytes its texts hold.
std::string json_line(const Json& json);

// The beginning of a conversation: a system message when there is a text for it.
Json conversation(const std::string& system);

// Says on stderr when the answer was cut, or when there is none.
void note_early_end(const protocol::Result& result, std::int32_t max_tokens);

}  // namespace glmhost::cli
