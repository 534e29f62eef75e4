#include <charconv>
#include <utility>

#include "inference/chat/conversation.h"

namespace glmhost::chat {
namespace {

constexpr const char* kVariables[] = {"clear_thinking", "reasoning_effort",      "date_string",
                                      "builtin_tools",  "tools_in_user_message", "custom_tools"};
constexpr const char* kTokenVariables[] = {"bos_token", "eos_token", "pad_token", "unk_token"};

std::optional<bool> flag_of(const Json& object, const char* key) {
  const auto value = object.find(key);
  if (value == object.end() || value->is_null()) return std::nullopt;
  if (!value->is_boolean()) refuse(std::string(key) + " must be true or false, but is " + value->type_name() + ".");
  return value->get<bool>();
}

int number_of(std::string_view digits) {
  int number = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size() ? number : -1;
}

struct Moment {
  std::chrono::year_month_day day;
  std::chrono::seconds time{0};
};

// What stands behind the day: "T04:05:06", or nothing.
std::optional<std::chrono::seconds> time_in(std::string_view text) {
  if (text.empty()) return std::chrono::seconds(0);
  if (text.size() < 9 || text[3] != ':' || text[6] != ':') return std::nullopt;
  const int hours = number_of(text.substr(1, 2));
  const int minutes = number_of(text.substr(4, 2));
  const int seconds = number_of(text.substr(7, 2));
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || seconds < 0 || seconds > 60) return std::nullopt;
  return std::chrono::hours(hours) + std::chrono::minutes(minutes) + std::chrono::seconds(seconds);
}

// "2026-02-03" or "2026-02-03T04:05:06".
Moment moment_of(const Json& value) {
  if (value.is_string()) {
    const std::string_view text = value.get_ref<const std::string&>();
    const bool shaped = text.size() >= 10 && text[4] == '-' && text[7] == '-' && (text.size() == 10 || text[10] == 'T');
    const int year = shaped ? number_of(text.substr(0, 4)) : -1;
    const int month = shaped ? number_of(text.substr(5, 2)) : -1;
    const int day = shaped ? number_of(text.substr(8, 2)) : -1;
    if (year >= 0 && month >= 0 && day >= 0) {
      const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                             std::chrono::day(static_cast<unsigned>(day))};
      const auto time = time_in(text.substr(10));
      if (date.ok() && time) return {date, *time};
    }
  }
  refuse("now must be a date such as \"2026-02-03T04:05:06\".");
}

RenderRequest read(const Json& request) {
  if (!request.is_object()) {
    refuse("A request must be an object with messages, but is " + std::string(request.type_name()) + ".");
  }
  check_nesting(request, "The request");  // before anything is copied: a copy recurses as deep as the value
  RenderRequest result;
  const auto messages = request.find("messages");
  if (messages == request.end() || messages->is_null()) refuse("messages is missing.");
  result.messages = *messages;
  if (const auto tools = request.find("tools"); tools != request.end()) result.tools = *tools;

  for (const char* key : {"kwargs", "chat_template_kwargs"}) {
    const auto values = request.find(key);
    if (values == request.end() || values->is_null()) continue;
    if (!values->is_object()) refuse(std::string(key) + " must be an object, but is " + values->type_name() + ".");
    result.variables.update(*values);
  }
  for (const char* key : kVariables) {
    if (const auto value = request.find(key); value != request.end()) result.variables[key] = *value;
  }

  result.enable_thinking = flag_of(result.variables, "enable_thinking");
  if (const auto flag = flag_of(request, "enable_thinking")) result.enable_thinking = flag;
  result.add_generation_prompt = flag_of(request, "add_generation_prompt").value_or(true);
  result.continue_final_message = flag_of(request, "continue_final_message").value_or(false);
  if (const auto now = request.find("now"); now != request.end() && !now->is_null()) {
    const Moment moment = moment_of(*now);
    result.today = moment.day;
    result.time_of_day = moment.time;
  }
  return result;
}

}  // namespace

RenderRequest RenderRequest::from_json(const Json& request) {
  RenderRequest result = read(request);
  parse_conversation(result);  // for its checks: a bad request is refused before it waits in a queue
  return result;
}

RenderRequest RenderRequest::for_template(const Json& request) {
  RenderRequest result = read(request);
  if (!result.messages.is_array()) {
    refuse("messages must be a list of messages, but is " + std::string(result.messages.type_name()) + ".");
  }
  if (const auto special = request.find("special"); special != request.end() && special->is_object()) {
    result.variables.update(*special);
  }
  for (const char* key : kTokenVariables) {
    if (const auto value = request.find(key); value != request.end()) result.variables[key] = *value;
  }
  return result;
}

RenderRequest with_known_roles(Family family, RenderRequest request) {
  if (!request.messages.is_array()) return request;  // render() says so
  const bool knows_observation = family == Family::glm_4_9b_chat || family == Family::glm_z1;
  for (Json& message : request.messages) {
    if (!message.is_object()) continue;
    const auto role = message.find("role");
    if (role == message.end()) continue;
    if (*role == "developer") *role = "system";
    if (*role == "function") *role = "tool";
    if (*role == "tool" && knows_observation) *role = "observation";
  }
  return request;
}

}  // namespace glmhost::chat
