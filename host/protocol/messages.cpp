#include "host/protocol/messages.h"

#include <array>
#include <utility>

namespace glmhost::protocol {
namespace {

constexpr std::array<std::pair<ErrorCode, std::string_view>, 9> kErrorNames = {{
    {ErrorCode::no_model, "no_model"},
    {ErrorCode::model_load_failed, "model_load_failed"},
    {ErrorCode::bad_request, "bad_request"},
    {ErrorCode::too_large, "too_large"},
    {ErrorCode::cancelled, "cancelled"},
    {ErrorCode::deadline, "deadline"},
    {ErrorCode::busy, "busy"},
    {ErrorCode::backend_failed, "backend_failed"},
    {ErrorCode::internal, "internal"},
}};

constexpr std::array<std::pair<OutputForm::Kind, std::string_view>, 5> kFormNames = {{
    {OutputForm::Kind::json_schema, "json_schema"},
    {OutputForm::Kind::regex, "regex"},
    {OutputForm::Kind::grammar, "grammar"},
    {OutputForm::Kind::choice, "choice"},
    {OutputForm::Kind::type, "type"},
}};

template <class Value, std::size_t N>
std::optional<Value> find_in(const std::array<std::pair<Value, std::string_view>, N>& names, std::string_view name) {
  for (const auto& [value, text] : names) {
    if (text == name) return value;
  }
  return std::nullopt;
}

nlohmann::ordered_json to_json(const ModelStatus& model) {
  return {
      {"name", model.name},
      {"path", model.path},
      {"state", model.state},
      {"load_fraction", model.load_fraction},
      {"architecture", model.architecture},
      {"template", model.chat_template},
      {"chat_template", model.chat_template},  // its name in version 0.1
      {"file_bytes", model.file_bytes},
      {"memory_bytes", model.memory_bytes},
      {"context_tokens", model.context_tokens},
      {"unload_in_s", model.unload_in_s},
      {"note", model.note},
  };
}

nlohmann::ordered_json to_json(const QueueStatus& queue) {
  return {
      {"waiting", queue.waiting},     {"running", queue.running},     {"answered", queue.answered},
      {"from_memo", queue.from_memo}, {"coalesced", queue.coalesced}, {"refused", queue.refused},
      {"cancelled", queue.cancelled}, {"failed", queue.failed},
  };
}

}  // namespace

std::string_view name(ErrorCode code) {
  for (const auto& [known, text] : kErrorNames) {
    if (known == code) return text;
  }
  return "internal";
}

std::optional<ErrorCode> find_error_code(std::string_view name) {
  return find_in(kErrorNames, name);
}

std::string_view name(OutputForm::Kind kind) {
  for (const auto& [known, text] : kFormNames) {
    if (known == kind) return text;
  }
  return "json_schema";
}

std::optional<OutputForm::Kind> find_form_kind(std::string_view name) {
  return find_in(kFormNames, name);
}

nlohmann::ordered_json to_json(const Status& status) {
  nlohmann::ordered_json models = nlohmann::ordered_json::array();
  for (const ModelStatus& model : status.models) models.push_back(to_json(model));
  return {
      {"pid", status.pid},
      {"version", status.version},
      {"protocol_version", status.protocol_version},
      {"endpoint", status.endpoint},
      {"uptime_s", status.uptime_s},
      {"memory_bytes", status.memory_bytes},
      {"kernels", status.kernels},
      {"threads", status.threads},
      {"problem", status.problem},
      {"models", std::move(models)},
      {"queue", to_json(status.queue)},
  };
}

}  // namespace glmhost::protocol
