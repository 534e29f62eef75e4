#include "host/cli/generation_flags.h"

#include "host/cli/model_access.h"

namespace glmhost::cli {

void GenerationFlags::add_to(Command& command) {
  // Ranges are those of protocol::Request; checked here too so that the sentence can name the flag.
  command.text("-m,--model", request_.model, "MODEL", "A name from `glm models`, or a path to a .gguf file");
  command.text("-s,--system", system_, "TEXT", "Instructions that stand before the conversation");
  command.number("--max-tokens", request_.max_tokens, 1, 1 << 20, "The longest answer, in tokens (512)");
  command.number("--temperature", request_.temperature, 0, 10, "0 takes the likeliest token each time (0)");
  command.number("--top-k", request_.top_k, 0, 1'000'000, "Draw from the K likeliest tokens; 0: off (0)");
  command.number("--top-p", request_.top_p, 1e-6f, 1, "Draw from the likeliest tokens that make up P; 1: off (1)");
  command.number("--min-p", request_.min_p, 0, 0.999999f, "Leave out tokens less likely than P times the best (0)");
  command.number("--repetition-penalty", request_.repetition_penalty, 1e-6f, 10, "Above 1 avoids repetition (1)");
  command.number("--seed", request_.seed, "The same seed and request give the same answer (0)");
  command.texts("--stop", request_.stop, "TEXT", "End the answer before this text; may be given up to 16 times");
  command.choice("--thinking", thinking_, {"on", "off"},
                 "For models that can reason first (as the model does by itself)");
  command.flag("--show-thinking", show_thinking_, "Write the model's reasoning to stderr");
  command.number("--deadline", deadline_s_, 1, 86'400, "Give up after this many seconds (600)");
  command.flag("--no-memo", no_memo_, "Compute anew even when the same request was answered before");
}

protocol::Request GenerationFlags::request() const {
  protocol::Request request = request_;
  request.model = model_for_daemon(request.model);
  if (!thinking_.empty()) request.enable_thinking = thinking_ == "on";
  if (deadline_s_ > 0) request.deadline_ms = static_cast<std::uint32_t>(deadline_s_) * 1000;
  request.memo = !no_memo_;
  return request;
}

}  // namespace glmhost::cli
