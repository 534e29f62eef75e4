// What `glm run --json` prints, and the small things about answers that `run` and `chat` share.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "host/protocol/client.h"

namespace glmhost::cli {

using Json = nlohmann::ordered_json;

// {"model", "content", "reasoning", "finish_reason", "from_memo", "usage": {...}} or {"error": {"code", "sentence"}}.
Json answer_json(const protocol::Outcome& outcome);

// The beginning of a conversation: a system message when there is a text for it.
Json conversation(const std::string& system);

// Says on stderr when the answer was cut.
void note_early_end(const protocol::Result& result, std::int32_t max_tokens);

}  // namespace glmhost::cli
