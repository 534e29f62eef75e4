#include <array>

#include "host/protocol/messages.h"

namespace glmhost::protocol {
namespace {

using Json = nlohmann::ordered_json;

constexpr Kind kind_of(const Hello&) {
  return Kind::hello;
}
constexpr Kind kind_of(const Request&) {
  return Kind::request;
}
constexpr Kind kind_of(const TableRequest&) {
  return Kind::table;
}
constexpr Kind kind_of(const Cancel&) {
  return Kind::cancel;
}
constexpr Kind kind_of(const Credit&) {
  return Kind::credit;
}
constexpr Kind kind_of(const StatusRequest&) {
  return Kind::status;
}
constexpr Kind kind_of(const Control&) {
  return Kind::control;
}
constexpr Kind kind_of(const Ping&) {
  return Kind::ping;
}
constexpr Kind kind_of(const Accepted&) {
  return Kind::accepted;
}
constexpr Kind kind_of(const Delta&) {
  return Kind::delta;
}
constexpr Kind kind_of(const Result&) {
  return Kind::result;
}
constexpr Kind kind_of(const ErrorMessage&) {
  return Kind::error;
}
constexpr Kind kind_of(const Status&) {
  return Kind::status;
}

Json body_of(const Cancel&) {
  return Json::object();
}
Json body_of(const Ping&) {
  return Json::object();
}
Json body_of(const StatusRequest&) {
  return Json::object();
}
Json body_of(const Credit& credit) {
  return {{"deltas", credit.deltas}};
}
Json body_of(const Status& status) {
  return to_json(status);
}

Json body_of(const Hello& hello) {
  return {{"protocol_version", hello.protocol_version},
          {"program", hello.program},
          {"version", hello.version},
          {"pid", hello.pid}};
}

Json map_of(const Infill& infill) {
  Json context = Json::array();
  for (const InfillContext& one : infill.context) context.push_back({{"path", one.path}, {"text", one.text}});
  return {{"prefix", infill.prefix}, {"suffix", infill.suffix},     {"language", infill.language},
          {"path", infill.path},     {"one_line", infill.one_line}, {"context", std::move(context)}};
}

Json map_of(const OutputForm& form) {
  Json map = {{"kind", name(form.kind)}};
  if (form.kind == OutputForm::Kind::choice) {
    map["choices"] = form.choices;
  } else {
    map["text"] = form.text;
  }
  return map;
}

Json list_of(const std::vector<ToolCall>& calls) {
  Json list = Json::array();
  for (const ToolCall& call : calls) {
    list.push_back({{"id", call.id},
                    {"name", call.name},
                    {"arguments", call.arguments},
                    {"status", call.status},
                    {"problem", call.problem},
                    {"source", call.source}});
  }
  return list;
}

Json body_of(const Request& request) {
  Json body = {{"model", request.model}};
  if (!request.messages.is_null()) body["messages"] = request.messages;
  if (request.prompt) body["prompt"] = *request.prompt;
  if (request.infill) body["infill"] = map_of(*request.infill);
  if (!request.tools.is_null()) body["tools"] = request.tools;
  if (request.form) body["form"] = map_of(*request.form);
  if (request.enable_thinking) body["enable_thinking"] = *request.enable_thinking;
  body["max_tokens"] = request.max_tokens;
  body["temperature"] = request.temperature;
  body["top_k"] = request.top_k;
  body["top_p"] = request.top_p;
  body["min_p"] = request.min_p;
  body["repetition_penalty"] = request.repetition_penalty;
  body["seed"] = request.seed;
  body["logprobs"] = request.logprobs;
  body["stop"] = request.stop;
  body["priority"] = static_cast<unsigned>(request.priority);
  body["deadline_ms"] = request.deadline_ms;
  body["credits"] = request.credits;
  body["memo"] = request.memo;
  return body;
}

Json body_of(const TableRequest& request) {
  Json tables = Json::array();
  for (const TableInput& table : request.tables) tables.push_back({{"name", table.name}, {"segment", table.segment}});
  return {{"pipeline", request.pipeline},
          {"tables", std::move(tables)},
          {"result", request.result},
          {"deadline_ms", request.deadline_ms}};
}

Json body_of(const Control& control) {
  return {{"action", static_cast<unsigned>(control.action)}, {"model", control.model}};
}

Json body_of(const Accepted& accepted) {
  return {{"model", accepted.model}, {"queue_position", accepted.queue_position}};
}

Json body_of(const Delta& delta) {
  Json body = Json::object();
  if (!delta.content.empty()) body["content"] = delta.content;
  if (!delta.reasoning.empty()) body["reasoning"] = delta.reasoning;
  if (!delta.tool_calls.empty()) body["tool_calls"] = list_of(delta.tool_calls);
  if (delta.logprobs.empty()) return body;
  Json& tokens = body["logprobs"] = Json::array();
  for (const auto& candidates : delta.logprobs) {
    Json& token = tokens.emplace_back(Json::array());
    for (const TokenProbability& candidate : candidates) {
      Json& entry = token.emplace_back(Json::array({candidate.text, candidate.logprob}));
      if (candidate.constrained_logprob) entry.push_back(*candidate.constrained_logprob);
    }
  }
  return body;
}

Json body_of(const Result& result) {
  const Usage& usage = result.usage;
  return {{"content", result.content},
          {"reasoning", result.reasoning},
          {"tool_calls", list_of(result.tool_calls)},
          {"finish_reason", result.finish_reason},
          {"model", result.model},
          {"from_memo", result.from_memo},
          {"usage",
           {{"prompt_tokens", usage.prompt_tokens},
            {"generated_tokens", usage.generated_tokens},
            {"cached_prompt_tokens", usage.cached_prompt_tokens},
            {"queue_ms", usage.queue_ms},
            {"prompt_ms", usage.prompt_ms},
            {"decode_ms", usage.decode_ms}}}};
}

Json body_of(const ErrorMessage& error) {
  return {{"code", name(error.code)}, {"sentence", error.sentence}};
}

template <class Message>
Frames encode_any(const Envelope<Message>& envelope) {
  return std::visit(
      [&](const auto& message) {
        Frames frames(3);
        frames[0] = {static_cast<char>(kProtocolVersion), static_cast<char>(kind_of(message))};
        for (int byte = 0; byte < 8; ++byte) frames[1] += static_cast<char>(envelope.id >> (8 * byte) & 0xFF);
        Json::to_msgpack(body_of(message), frames[2]);
        return frames;
      },
      envelope.message);
}

}  // namespace

Frames encode(const Envelope<ClientMessage>& envelope) {
  return encode_any(envelope);
}
Frames encode(const Envelope<DaemonMessage>& envelope) {
  return encode_any(envelope);
}

}  // namespace glmhost::protocol
