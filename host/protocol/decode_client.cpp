#include "host/protocol/decode.h"

namespace glmhost::protocol {
namespace {

using Decoded = std::variant<Envelope<ClientMessage>, DecodeError>;

constexpr std::size_t kMaxMessages = 100'000;
constexpr std::size_t kMaxInfillContext = 256;
constexpr std::size_t kMaxChoices = 1'000'000;
constexpr std::size_t kMaxTools = 1000;
constexpr std::size_t kMaxTables = 256;
constexpr std::size_t kMaxStops = 16;
constexpr std::size_t kMaxStopBytes = 256;

// What every template relies on; the rest of a message is the template's business.
void check_messages(Fields& fields, const Fields::Json& messages) {
  if (messages.empty()) return fields.fail(fields.label("messages") + " is empty. Give at least one message.");
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::string where = "messages[" + std::to_string(i) + "]";
    if (!messages[i].is_object()) return fields.fail(fields.label(where) + " must be a map.");
    const auto role = messages[i].find("role");
    if (role == messages[i].end() || !role->is_string() || role->get_ref<const std::string&>().empty()) {
      return fields.fail(fields.label(where + ".role") + " must be the name of who speaks, such as \"user\".");
    }
  }
}

void read_infill_context(Fields& fields, InfillContext& one) {
  fields.text("path", one.path, kMaxPathBytes);
  fields.text("text", one.text, kMaxBodyBytes);
}

void read_infill(Fields& fields, Infill& infill) {
  fields.text("prefix", infill.prefix, kMaxBodyBytes);
  fields.text("suffix", infill.suffix, kMaxBodyBytes);
  fields.text("language", infill.language, kMaxNameBytes);
  fields.text("path", infill.path, kMaxPathBytes);
  fields.boolean("one_line", infill.one_line);
  const Fields::Json* const context = fields.array("context", kMaxInfillContext);
  if (context == nullptr) return;
  for (std::size_t i = 0; i < context->size(); ++i) {
    read_part(fields, (*context)[i], "infill.context[" + std::to_string(i) + "].", infill.context.emplace_back(),
              read_infill_context);
  }
}

void read_form(Fields& fields, OutputForm& form) {
  std::string kind;
  fields.require("kind");
  fields.text("kind", kind, kMaxNameBytes);
  if (fields.error()) return;
  const std::optional<OutputForm::Kind> known = find_form_kind(kind);
  if (!known) {
    return fields.fail(fields.label("kind") + " must be one of json_schema, regex, grammar, choice and type.");
  }
  form.kind = *known;
  if (form.kind != OutputForm::Kind::choice) {
    fields.require("text");
    return fields.text("text", form.text, kMaxBodyBytes);
  }
  fields.require("choices");
  const Fields::Json* const choices = fields.array("choices", kMaxChoices);
  if (choices == nullptr) return;
  for (const Fields::Json& choice : *choices) {
    if (!choice.is_string()) return fields.fail(fields.label("choices") + " must hold only text.");
    form.choices.push_back(choice.get<std::string>());
  }
}

void check_tools(Fields& fields, const Fields::Json& tools) {
  for (std::size_t i = 0; i < tools.size(); ++i) {
    if (!tools[i].is_object()) return fields.fail(fields.label("tools[" + std::to_string(i) + "]") + " must be a map.");
  }
}

// What is demanded of the answer, and what may not be demanded together.
void read_demands(Fields& fields, Request& request) {
  if (const Fields::Json* const form = fields.find("form")) {
    read_part(fields, *form, "form.", request.form.emplace(), read_form);
  }
  if (const Fields::Json* const tools = fields.array("tools", kMaxTools)) {
    check_tools(fields, *tools);
    request.tools = *tools;
  }
  if (fields.error()) return;
  if (!request.tools.is_null() && request.messages.is_null()) {
    fields.fail("\"tools\" need a conversation: give \"messages\".");
  } else if (request.form && !request.tools.is_null()) {
    fields.fail("Only one of \"form\" and \"tools\" may be given, not both.");
  } else if (request.form && !request.stop.empty()) {
    fields.fail("\"stop\" and \"form\" cannot be combined: the form says where the answer ends.");
  }
}

void read_source(Fields& fields, Request& request) {
  const Fields::Json* const messages = fields.array("messages", kMaxMessages);
  if (messages != nullptr) {
    check_messages(fields, *messages);
    request.messages = *messages;
  }
  if (fields.find("prompt") != nullptr) fields.text("prompt", request.prompt.emplace(), kMaxBodyBytes);
  if (const Fields::Json* const infill = fields.find("infill")) {
    read_part(fields, *infill, "infill.", request.infill.emplace(), read_infill);
  }
  if (fields.error()) return;
  const int given = (messages != nullptr ? 1 : 0) + (request.prompt ? 1 : 0) + (request.infill ? 1 : 0);
  if (given == 0) {
    fields.fail("There is nothing to generate from: one of \"messages\", \"prompt\" and \"infill\" must be given.");
  } else if (given > 1) {
    fields.fail("Only one of \"messages\", \"prompt\" and \"infill\" may be given, not more.");
  } else if (request.prompt && request.prompt->empty()) {
    fields.fail(fields.label("prompt") + " is empty. Give some text to continue.");
  }
}

void read_stops(Fields& fields, Request& request) {
  const Fields::Json* const stops = fields.array("stop", kMaxStops);
  if (stops == nullptr) return;
  for (const Fields::Json& stop : *stops) {
    const auto* const text = stop.get_ptr<const std::string*>();
    if (text == nullptr || text->empty() || text->size() > kMaxStopBytes) {
      return fields.fail("Each entry of \"stop\" must be text of 1 to " + std::to_string(kMaxStopBytes) + " bytes.");
    }
    request.stop.push_back(*text);
  }
}

void read_request(Fields& fields, Request& request) {
  fields.text("model", request.model, kMaxPathBytes);
  read_source(fields, request);
  if (fields.find("enable_thinking") != nullptr) fields.boolean("enable_thinking", request.enable_thinking.emplace());
  fields.whole("max_tokens", request.max_tokens, 1, 1'048'576);
  fields.real("temperature", request.temperature, {0, 10});
  fields.whole("top_k", request.top_k, 0, 1'000'000);
  fields.real("top_p", request.top_p, {.min = 0, .max = 1, .open_min = true});
  fields.real("min_p", request.min_p, {.min = 0, .max = 1, .open_max = true});
  fields.real("repetition_penalty", request.repetition_penalty, {.min = 0, .max = 10, .open_min = true});
  fields.whole("seed", request.seed);
  fields.whole("logprobs", request.logprobs, 0, 20);
  read_stops(fields, request);
  read_demands(fields, request);
  auto priority = static_cast<std::uint8_t>(request.priority);
  fields.whole<std::uint8_t>("priority", priority, 0, 1);
  request.priority = static_cast<Priority>(priority);
  fields.whole<std::uint32_t>("deadline_ms", request.deadline_ms, 1, 86'400'000);
  fields.whole<std::uint32_t>("credits", request.credits, 0, kMaxCredits);
  fields.boolean("memo", request.memo);
}

void read_table_input(Fields& fields, TableInput& table) {
  fields.require("name");
  fields.text("name", table.name, kMaxNameBytes);
  fields.require("segment");
  fields.text("segment", table.segment, kMaxNameBytes);
}

void read_table(Fields& fields, TableRequest& request) {
  fields.require("pipeline");
  fields.text("pipeline", request.pipeline, kMaxBodyBytes);
  fields.require("tables");
  fields.require("result");
  fields.text("result", request.result, kMaxNameBytes);
  fields.whole<std::uint32_t>("deadline_ms", request.deadline_ms, 1, 86'400'000);
  const Fields::Json* const tables = fields.array("tables", kMaxTables);
  if (tables == nullptr) return;
  if (tables->empty()) return fields.fail(fields.label("tables") + " is empty. Give at least one table.");
  for (std::size_t i = 0; i < tables->size(); ++i) {
    read_part(fields, (*tables)[i], "tables[" + std::to_string(i) + "].", request.tables.emplace_back(),
              read_table_input);
  }
}

void read_credit(Fields& fields, Credit& credit) {
  fields.whole<std::uint32_t>("deltas", credit.deltas, 1, kMaxCredits);
}

void read_control(Fields& fields, Control& control) {
  std::uint8_t action = 0;
  fields.require("action");
  fields.whole<std::uint8_t>("action", action, 0, static_cast<std::uint8_t>(Control::Action::unload_model));
  control.action = static_cast<Control::Action>(action);
  fields.text("model", control.model, kMaxPathBytes);
}

template <class Message>
void read_nothing(Fields&, Message&) {}

Decoded decode(std::span<const std::string_view> frames) {
  auto decoded = decode_frames(frames, "client", "daemon");
  if (auto* error = std::get_if<DecodeError>(&decoded)) return std::move(*error);
  const auto& raw = std::get<RawMessage>(decoded);
  switch (static_cast<Kind>(raw.kind)) {
    case Kind::hello:
      return decode_body<ClientMessage, Hello>(raw, read_hello);
    case Kind::request:
      return decode_body<ClientMessage, Request>(raw, read_request);
    case Kind::table:
      return decode_body<ClientMessage, TableRequest>(raw, read_table);
    case Kind::cancel:
      return decode_body<ClientMessage, Cancel>(raw, read_nothing);
    case Kind::credit:
      return decode_body<ClientMessage, Credit>(raw, read_credit);
    case Kind::status:
      return decode_body<ClientMessage, StatusRequest>(raw, read_nothing);
    case Kind::control:
      return decode_body<ClientMessage, Control>(raw, read_control);
    case Kind::ping:
      return decode_body<ClientMessage, Ping>(raw, read_nothing);
    default:
      return bad_message(
          raw.id, "Messages of kind " + std::to_string(raw.kind) + " are not known to the daemon from a client.");
  }
}

}  // namespace

Decoded decode_client(std::span<const std::string_view> frames) {
  return decode_guarded<ClientMessage>(frames, decode);
}

}  // namespace glmhost::protocol
