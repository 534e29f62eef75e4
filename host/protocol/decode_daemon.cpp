#include "host/protocol/decode.h"

namespace glmhost::protocol {
namespace {

using Decoded = std::variant<Envelope<DaemonMessage>, DecodeError>;

constexpr std::size_t kMaxModels = 10'000;
constexpr std::size_t kMaxToolCalls = 1'000'000;
constexpr Fields::Range kAnyDuration{0, 1e15};
constexpr Fields::Range kAnyLogprob{-std::numeric_limits<double>::infinity(), 0};

void read_accepted(Fields& fields, Accepted& accepted) {
  fields.text("model", accepted.model, kMaxPathBytes);
  fields.whole("queue_position", accepted.queue_position);
}

bool read_candidate(const Fields::Json& pair, TokenProbability& candidate) {
  if (!pair.is_array() || pair.size() < 2 || pair.size() > 3 || !pair[0].is_string() || !pair[1].is_number()) {
    return false;
  }
  candidate.text = pair[0].get_ref<const std::string&>();
  candidate.logprob = pair[1].get<float>();
  if (pair.size() == 3) {
    if (!pair[2].is_number()) return false;
    candidate.constrained_logprob = pair[2].get<float>();
    if (!(*candidate.constrained_logprob <= kAnyLogprob.max)) return false;
  }
  return candidate.logprob <= kAnyLogprob.max;
}

void read_tool_call(Fields& fields, ToolCall& call) {
  fields.require("id");
  fields.text("id", call.id, kMaxNameBytes);
  fields.text("name", call.name, kMaxBodyBytes);
  fields.text("arguments", call.arguments, kMaxBodyBytes);
  fields.text("status", call.status, kMaxNameBytes);
  fields.text("problem", call.problem, kMaxBodyBytes);
  fields.text("source", call.source, kMaxBodyBytes);
}

void read_tool_calls(Fields& fields, std::vector<ToolCall>& calls) {
  const Fields::Json* const list = fields.array("tool_calls", kMaxToolCalls);
  if (list == nullptr) return;
  for (std::size_t i = 0; i < list->size(); ++i) {
    read_part(fields, (*list)[i], "tool_calls[" + std::to_string(i) + "].", calls.emplace_back(), read_tool_call);
  }
}

void read_delta(Fields& fields, Delta& delta) {
  fields.text("content", delta.content, kMaxBodyBytes);
  fields.text("reasoning", delta.reasoning, kMaxBodyBytes);
  read_tool_calls(fields, delta.tool_calls);
  const Fields::Json* const tokens = fields.array("logprobs", kMaxBodyBytes);
  if (tokens == nullptr) return;
  delta.logprobs.reserve(tokens->size());
  for (const Fields::Json& token : *tokens) {
    auto& candidates = delta.logprobs.emplace_back();
    bool valid = token.is_array();
    for (std::size_t i = 0; valid && i < token.size(); ++i) valid = read_candidate(token[i], candidates.emplace_back());
    if (!valid) {
      return fields.fail(fields.label("logprobs") +
                         " must hold, for each token, pairs of text and a logarithm that is "
                         "not above 0.");
    }
  }
}

void read_usage(Fields& fields, Usage& usage) {
  fields.whole("prompt_tokens", usage.prompt_tokens);
  fields.whole("generated_tokens", usage.generated_tokens);
  fields.whole("cached_prompt_tokens", usage.cached_prompt_tokens);
  fields.real("queue_ms", usage.queue_ms, kAnyDuration);
  fields.real("prompt_ms", usage.prompt_ms, kAnyDuration);
  fields.real("decode_ms", usage.decode_ms, kAnyDuration);
}

void read_queue(Fields& fields, QueueStatus& queue) {
  fields.whole("waiting", queue.waiting);
  fields.whole("running", queue.running);
  fields.whole("answered", queue.answered);
  fields.whole("from_memo", queue.from_memo);
  fields.whole("coalesced", queue.coalesced);
  fields.whole("refused", queue.refused);
  fields.whole("cancelled", queue.cancelled);
  fields.whole("failed", queue.failed);
}

void read_model(Fields& fields, ModelStatus& model) {
  fields.require("name");
  fields.text("name", model.name, kMaxPathBytes);
  fields.text("path", model.path, kMaxPathBytes);
  fields.text("state", model.state, kMaxNameBytes);
  fields.real("load_fraction", model.load_fraction, {0, 1});
  fields.text("architecture", model.architecture, kMaxNameBytes);
  fields.text("chat_template", model.chat_template, kMaxNameBytes);
  fields.whole("file_bytes", model.file_bytes);
  fields.whole("memory_bytes", model.memory_bytes);
  fields.whole("context_tokens", model.context_tokens);
  fields.whole<std::int64_t>("unload_in_s", model.unload_in_s, -1);
  fields.text("note", model.note, kMaxBodyBytes);
}

void read_result(Fields& fields, Result& result) {
  fields.text("content", result.content, kMaxBodyBytes);
  fields.text("reasoning", result.reasoning, kMaxBodyBytes);
  read_tool_calls(fields, result.tool_calls);
  fields.text("finish_reason", result.finish_reason, kMaxNameBytes);
  fields.text("model", result.model, kMaxPathBytes);
  fields.boolean("from_memo", result.from_memo);
  if (const auto* usage = fields.find("usage")) read_part(fields, *usage, "usage.", result.usage, read_usage);
}

void read_error(Fields& fields, ErrorMessage& error) {
  std::string code;
  fields.require("code");
  fields.text("code", code, kMaxNameBytes);
  fields.text("sentence", error.sentence, kMaxBodyBytes);
  // A code of a later release still comes with its sentence.
  error.code = find_error_code(code).value_or(ErrorCode::internal);
}

void read_status(Fields& fields, Status& status) {
  fields.require("pid");
  fields.whole("pid", status.pid);
  fields.text("version", status.version, kMaxNameBytes);
  fields.whole("protocol_version", status.protocol_version);
  fields.text("endpoint", status.endpoint, kMaxPathBytes);
  fields.real("uptime_s", status.uptime_s, kAnyDuration);
  fields.whole("memory_bytes", status.memory_bytes);
  fields.text("kernels", status.kernels, kMaxNameBytes);
  fields.whole("threads", status.threads);
  fields.text("problem", status.problem, kMaxBodyBytes);
  if (const auto* models = fields.array("models", kMaxModels)) {
    for (std::size_t i = 0; i < models->size(); ++i) {
      read_part(fields, (*models)[i], "models[" + std::to_string(i) + "].", status.models.emplace_back(), read_model);
    }
  }
  if (const auto* queue = fields.find("queue")) read_part(fields, *queue, "queue.", status.queue, read_queue);
}

void read_nothing(Fields&, Ping&) {}

Decoded decode(std::span<const std::string_view> frames) {
  auto decoded = decode_frames(frames, "daemon", "client");
  if (auto* error = std::get_if<DecodeError>(&decoded)) return std::move(*error);
  const auto& raw = std::get<RawMessage>(decoded);
  switch (static_cast<Kind>(raw.kind)) {
    case Kind::hello:
      return decode_body<DaemonMessage, Hello>(raw, read_hello);
    case Kind::accepted:
      return decode_body<DaemonMessage, Accepted>(raw, read_accepted);
    case Kind::delta:
      return decode_body<DaemonMessage, Delta>(raw, read_delta);
    case Kind::result:
      return decode_body<DaemonMessage, Result>(raw, read_result);
    case Kind::error:
      return decode_body<DaemonMessage, ErrorMessage>(raw, read_error);
    case Kind::status:
      return decode_body<DaemonMessage, Status>(raw, read_status);
    case Kind::ping:
      return decode_body<DaemonMessage, Ping>(raw, read_nothing);
    default:
      return bad_message(
          raw.id, "Messages of kind " + std::to_string(raw.kind) + " are not known to a client from the daemon.");
  }
}

}  // namespace

Decoded decode_daemon(std::span<const std::string_view> frames) {
  return decode_guarded<DaemonMessage>(frames, decode);
}

}  // namespace glmhost::protocol
