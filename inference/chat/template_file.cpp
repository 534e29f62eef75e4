#include "inference/chat/template_file.h"

#include <algorithm>

#include "inference/chat/conversation.h"

namespace glmhost::chat {
namespace {

using jinja::Dict;
using jinja::Origin;
using jinja::Runtime;
using jinja::Text;
using jinja::Value;

// A role is no free text: the known names are as good as the template's own.
Value role_of(Runtime& runtime, const Json& role) {
  const bool known = role.is_string() && find_role(role.get_ref<const std::string&>()).has_value();
  return jinja::from_json(runtime, role, known ? Origin::own : Origin::given);
}

// Of the last message: its content, or of a content in parts the last text.
Value final_content(Runtime& runtime, const Json& content) {
  if (!content.is_array()) return jinja::from_json(runtime, content, Origin::final_content);
  std::vector<Value> parts;
  for (const Json& part : content) {
    const bool is_last = &part == &content.back();
    parts.push_back(jinja::from_json(runtime, part, is_last ? Origin::final_content : Origin::given));
  }
  return runtime.list(std::move(parts));
}

Value message_of(Runtime& runtime, const Json& message, bool is_last) {
  if (!message.is_object()) return jinja::from_json(runtime, message, Origin::given);
  Dict made;
  for (const auto& [key, value] : message.items()) {
    if (value.is_null()) continue;
    made.set(runtime.text(Text(key, Origin::given)), key == "role" ? role_of(runtime, value)
                                                     : is_last && key == "content"
                                                         ? final_content(runtime, value)
                                                         : jinja::from_json(runtime, value, Origin::given));
  }
  return runtime.dict(std::move(made));
}

jinja::Variables variables_of(Runtime& runtime, const RenderRequest& request, const SpecialTokens& special) {
  jinja::Variables variables;
  for (const auto& [name, token] : special) variables.emplace_back(name, runtime.own(token));
  for (const auto& [name, value] : request.variables.items()) {
    variables.emplace_back(name, jinja::from_json(runtime, value, Origin::given));
  }
  std::vector<Value> messages;
  for (const Json& message : request.messages) {
    messages.push_back(message_of(runtime, message, &message == &request.messages.back()));
  }
  variables.emplace_back("messages", runtime.list(std::move(messages)));
  variables.emplace_back("tools", jinja::from_json(runtime, request.tools, Origin::given));
  variables.emplace_back("add_generation_prompt",
                         Value(request.add_generation_prompt && !request.continue_final_message));
  if (request.enable_thinking) variables.emplace_back("enable_thinking", Value(*request.enable_thinking));
  return variables;
}

Text up_to_final_content(const Text& text) {
  std::size_t end = 0;
  for (const Text::Run& run : text.runs()) {
    if (run.origin == Origin::final_content) end = run.end;
  }
  if (end == 0) {
    refuse("continue_final_message: the content of the last message does not appear in what the chat template writes.");
  }
  return text.slice(0, end);
}

// Whether the template's last words leave a <think> open.
bool opens_reasoning(const Text& text) {
  constexpr std::string_view kOpen = "<think>";
  const std::size_t tail_begin = text.runs().size() < 2 ? 0 : text.runs()[text.runs().size() - 2].end;
  if (text.empty() || text.runs().back().origin != Origin::own) return false;
  std::string_view tail = std::string_view(text.bytes()).substr(tail_begin);
  while (tail.ends_with('\n')) tail.remove_suffix(1);
  return tail.ends_with(kOpen);
}

}  // namespace

Prompt render(const jinja::Template& source, const RenderRequest& request, const SpecialTokens& special) {
  check_nesting(request.messages, "messages");
  check_nesting(request.tools, "tools");
  check_nesting(request.variables, "The template variables");
  if (!request.messages.is_array()) {
    refuse("messages must be a list of messages, but is " + std::string(request.messages.type_name()) + ".");
  }
  if (!request.variables.is_object()) refuse("The template variables must be an object.");
  std::optional<jinja::LocalTime> now;
  if (request.today && request.today->ok()) now = std::chrono::local_days(*request.today) + request.time_of_day;
  Text text = source.render([&](Runtime& runtime) { return variables_of(runtime, request, special); }, now);
  if (request.continue_final_message) text = up_to_final_content(text);

  Prompt prompt;
  prompt.continues_message = request.continue_final_message;
  prompt.starts_in_reasoning = !request.continue_final_message && opens_reasoning(text);
  std::size_t begin = 0;
  for (const Text::Run& run : text.runs()) {
    const auto markers = run.origin == Origin::own ? tokenizer::Markers::all : tokenizer::Markers::none;
    if (prompt.parts.empty() || prompt.parts.back().markers != markers) prompt.parts.push_back({{}, markers});
    prompt.parts.back().text.append(text.bytes(), begin, run.end - begin);
    begin = run.end;
  }
  return prompt;
}

}  // namespace glmhost::chat
