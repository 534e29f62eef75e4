#include <array>
#include <span>

#include "inference/chat/families.h"
#include "inference/chat/jinja/python_text.h"

namespace glmhost::chat {
namespace {

using jinja::dump;
using jinja::strip;

void write_header(std::string_view role, PromptWriter& out) {
  out.own("<|start_header_id|>").own(role).own("<|end_header_id|>\n\n");
}

void write_call(const Message& message, PromptWriter& out) {
  if (message.tool_calls.size() != 1) refuse("This model only supports single tool-calls at once!");
  const ToolCall& call = message.tool_calls[0];
  write_header("assistant", out);
  // Arguments that came as a string are printed as a string: the template does not parse them.
  out.own("{\"name\": \"").given(call.name).own("\", \"parameters\": ");
  out.given(dump(call.as_given == nullptr ? call.arguments : *call.as_given)).own("}<|eot_id|>");
}

void write_messages(std::span<const Message> messages, PromptWriter& out) {
  for (const Message& message : messages) {
    if (!message.tool_calls.empty()) {
      write_call(message, out);
      continue;
    }
    const std::string content = message.content.text();
    if (message.role == Role::tool || message.role == Role::ipython) {
      write_header("ipython", out);
      out.given(dump(Json(content)));
    } else {
      write_header(name(message.role), out);
      out.given(strip(content));
    }
    if (&message == &messages.back()) out.end_of_final_content();
    out.own("<|eot_id|>");
  }
}

void write_tools(const Json& tools, PromptWriter& out) {
  for (const Json& tool : tools) out.given(dump(tool, 4)).own("\n\n");
}

void write_dated(const Conversation& conversation, std::string_view date, PromptWriter& out) {
  std::span<const Message> messages(conversation.messages);
  if (messages.empty()) refuse("messages is empty: Llama's template needs at least one message.");
  std::string system;
  const Message* only_system = nullptr;
  if (messages[0].role == Role::system) {
    system = messages[0].content.text();
    messages = messages.subspan(1);
    if (messages.empty()) only_system = &conversation.messages[0];
  }

  out.own("<|begin_of_text|>");
  write_header("system", out);
  const Json* tools = conversation.tools;
  if (tools != nullptr) out.own("Environment: ipython\n");
  out.own("Cutting Knowledge Date: December 2023\nToday Date: ");
  if (conversation.date_string) {
    out.given(*conversation.date_string);
  } else {
    out.own(date);
  }
  out.own("\n\n");
  if (tools != nullptr && !conversation.tools_in_user_message) {
    out.own(
        "You have access to the following functions. To call a function, please respond with JSON for a function call."
        "Respond in the format {\"name\": function name, \"parameters\": dictionary of argument name and its value}."
        "Do not use variables.\n\n");
    write_tools(*tools, out);
  }
  out.given(strip(system));
  if (only_system != nullptr) out.end_of_final_content();
  out.own("<|eot_id|>");

  if (tools != nullptr && conversation.tools_in_user_message) {
    if (messages.empty()) refuse("Cannot put tools in the first user message when there's no first user message!");
    write_header("user", out);
    out.own(
        "Given the following functions, please respond with a JSON for a function call with its proper arguments that "
        "best answers the given prompt.\n\n"
        "Respond in the format {\"name\": function name, \"parameters\": dictionary of argument name and its value}."
        "Do not use variables.\n\n");
    write_tools(*tools, out);
    const std::string content = messages[0].content.text();
    out.given(strip(content));
    if (messages.size() == 1) out.end_of_final_content();
    out.own("<|eot_id|>");
    messages = messages.subspan(1);
  }
  write_messages(messages, out);
  if (conversation.add_generation_prompt) write_header("assistant", out);
}

// strftime's "%d %b %Y" in the C locale.
std::string written_date(std::chrono::year_month_day day) {
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::string of_month = std::to_string(static_cast<unsigned>(day.day()));
  return (of_month.size() < 2 ? "0" + of_month : of_month) + " " +
         std::string(kMonths[static_cast<unsigned>(day.month()) - 1]) + " " +
         std::to_string(static_cast<int>(day.year()));
}

constexpr std::string_view kFixedDate = "26 Jul 2024";  // what both templates print when they know no other

}  // namespace

void write_llama_3(const Conversation& conversation, PromptWriter& out) {
  if (conversation.messages.empty()) refuse("messages is empty: Llama's template needs at least one message.");
  out.own("<|begin_of_text|>");
  write_messages(conversation.messages, out);
  if (conversation.add_generation_prompt) write_header("assistant", out);
}

void write_llama_3_1(const Conversation& conversation, PromptWriter& out) {
  write_dated(conversation, kFixedDate, out);
}

void write_llama_3_2(const Conversation& conversation, PromptWriter& out) {
  const bool dated = conversation.today && conversation.today->ok();
  write_dated(conversation, dated ? written_date(*conversation.today) : std::string(kFixedDate), out);
}

}  // namespace glmhost::chat
