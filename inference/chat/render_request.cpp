#include <charconv>
#include <utility>

#include "inference/chat/conversation.h"

namespace glmhost::chat {
namespace {

constexpr const char* kVariables[] = {"clear_thinking", "reasoning_effort",      "date_string",
                                      "builtin_tools",  "tools_in_user_message", "custom_tools"};

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

// "2026-02-03" or "2026-02-03T04:05:06": templates print the day only.
std::chrono::year_month_day day_of(const Json& value) {
  if (value.is_string()) {
    const std::string_view text = value.get_ref<const std::string&>();
    const bool shaped = text.size() >= 10 && text[4] == '-' && text[7] == '-' && (text.size() == 10 || text[10] == 'T');
    const int year = shaped ? number_of(text.substr(0, 4)) : -1;
    const int month = shaped ? number_of(text.substr(5, 2)) : -1;
    const int day = shaped ? number_of(text.substr(8, 2)) : -1;
    if (year >= 0 && month >= 0 && day >= 0) {
      const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                             std::chrono::day(static_cast<unsigned>(day))};
      if (date.ok()) return date;
    }
  }
  refuse("now must be a date such as \"2026-02-03T04:05:06\".");
}

}  // namespace

RenderRequest RenderRequest::from_json(const Json& request) {
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
  if (const auto now = request.find("now"); now != request.end() && !now->is_null()) result.today = day_of(*now);

  parse_conversation(result);  // for its checks: a bad request is refused before it waits in a queue
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
