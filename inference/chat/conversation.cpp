#include "inference/chat/conversation.h"

#include <array>
#include <utility>

#include "inference/error.h"

namespace glmhost::chat {
namespace {

using Kind = ContentPart::Kind;

constexpr std::array<std::string_view, 8> kRoleNames = {"system", "developer",   "user",    "assistant",
                                                        "tool",   "observation", "ipython", "function"};

// A value from outside as it may stand in a sentence: short, printable, quoted.
std::string quote(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  const bool cut = text.size() > kLongest;
  std::string shown = Json(text.substr(0, kLongest)).dump(-1, ' ', true, Json::error_handler_t::replace);
  return cut ? shown + "..." : shown;
}

// The value of a key, or null when the key is absent or its value is null: a template sees no difference.
const Json* member(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::string string_of(const Json& value, const std::string& field) {
  if (!value.is_string()) refuse(field + " must be a string, but is " + value.type_name() + ".");
  return value.get<std::string>();
}

Role role_of(const Json& message, const std::string& field) {
  const Json* role = member(message, "role");
  if (role == nullptr) refuse(field + " is missing: every message says whose it is, for example \"user\".");
  const std::string text = string_of(*role, field);
  if (const auto known_role = find_role(text)) return *known_role;
  std::string known;
  for (std::size_t i = 0; i < kRoleNames.size(); ++i) {
    known += (i == 0 ? "" : i + 1 == kRoleNames.size() ? " and " : ", ") + std::string(kRoleNames[i]);
  }
  refuse(field + " is " + quote(text) + ", which is no known role. Known are " + known + ".");
}

ContentPart part_of(const Json& part, const std::string& field) {
  if (part.is_string()) return {Kind::text, part.get<std::string>(), true};
  if (!part.is_object()) {
    refuse(field + " must be a string or an object such as {\"type\": \"text\", \"text\": \"...\"}, but is " +
           part.type_name() + ".");
  }
  if (const Json* output = member(part, "output")) return {Kind::output, string_of(*output, field + ".output"), false};
  const Json* type = member(part, "type");
  if (type == nullptr) refuse(field + ".type is missing, for example \"text\".");
  const std::string type_name = string_of(*type, field + ".type");
  if (type_name == "text") {
    const Json* text = member(part, "text");
    if (text == nullptr) refuse(field + ".text is missing.");
    return {Kind::text, string_of(*text, field + ".text"), false};
  }
  if (type_name == "tool_reference") {
    const Json* tool = member(part, "name");
    if (tool == nullptr) refuse(field + ".name is missing.");
    return {Kind::tool_reference, string_of(*tool, field + ".name"), false};
  }
  if (type_name == "image" || type_name == "image_url") return {Kind::image, type_name, false};
  for (const std::string_view media : {"video", "video_url", "audio", "audio_url", "input_audio"}) {
    if (type_name == media) return {Kind::media, type_name, false};
  }
  refuse(field + ".type is " + quote(type_name) + ", which is not supported; send the content as text.");
}

Content content_of(const Json& content, const std::string& field) {
  Content result;
  if (content.is_string()) {
    result.parts.push_back({Kind::text, content.get<std::string>(), false});
    return result;
  }
  if (!content.is_array()) {
    refuse(field + " must be a string or a list of parts, but is " + std::string(content.type_name()) + ".");
  }
  result.is_list = true;
  for (std::size_t i = 0; i < content.size(); ++i) {
    result.parts.push_back(part_of(content[i], field + "[" + std::to_string(i) + "]"));
  }
  return result;
}

// A string of JSON is what OpenAI's clients send; an empty one stands for no arguments.
Json arguments_of(const Json& arguments, const std::string& field) {
  if (arguments.is_object()) return arguments;
  if (!arguments.is_string()) {
    refuse(field + " must be an object, or a string with the JSON of one, but is " +
           std::string(arguments.type_name()) + ".");
  }
  const std::string& text = arguments.get_ref<const std::string&>();
  if (text.empty()) return Json::object();
  Json parsed = Json::parse(text, nullptr, false);
  if (!parsed.is_object())
    refuse(field + " is a string that does not hold the JSON of an object: " + quote(text) + ".");
  check_nesting(parsed, field);
  return parsed;
}

ToolCall tool_call_of(const Json& call, std::string field) {
  if (!call.is_object()) refuse(field + " must be an object, but is " + std::string(call.type_name()) + ".");
  const Json* function = &call;
  if (const Json* inner = member(call, "function")) {
    field += ".function";
    if (!inner->is_object()) refuse(field + " must be an object, but is " + std::string(inner->type_name()) + ".");
    function = inner;
  }
  const Json* called = member(*function, "name");
  if (called == nullptr) refuse(field + ".name is missing.");
  ToolCall result{string_of(*called, field + ".name"), Json::object(), member(*function, "arguments")};
  if (result.as_given != nullptr) result.arguments = arguments_of(*result.as_given, field + ".arguments");
  return result;
}

const Json* tools_of(const Json& tools, const std::string& field) {
  if (!tools.is_array()) refuse(field + " must be a list, but is " + std::string(tools.type_name()) + ".");
  for (std::size_t i = 0; i < tools.size(); ++i) {
    const std::string entry = field + "[" + std::to_string(i) + "]";
    if (!tools[i].is_object()) refuse(entry + " must be an object, but is " + std::string(tools[i].type_name()) + ".");
    const Json* function = member(tools[i], "function");
    if (function != nullptr && !function->is_object()) {
      refuse(entry + ".function must be an object, but is " + std::string(function->type_name()) + ".");
    }
    const bool built_in = function == nullptr && member(tools[i], "type") != nullptr;
    const Json* called = member(function == nullptr ? tools[i] : *function, "name");
    if (called == nullptr && !built_in) refuse(entry + " has no name.");
    if (called != nullptr) string_of(*called, entry + (function == nullptr ? ".name" : ".function.name"));
  }
  return &tools;
}

Message message_of(const Json& message, const std::string& field) {
  if (!message.is_object()) {
    refuse(field + " must be an object with role and content, but is " + std::string(message.type_name()) + ".");
  }
  Message result;
  result.role = role_of(message, field + ".role");
  if (const Json* content = member(message, "content")) {
    result.content = content_of(*content, field + ".content");
  } else if (result.role != Role::assistant) {
    refuse(field + ".content is missing.");  // an assistant may have called tools and said nothing
  }
  if (const Json* reasoning = member(message, "reasoning_content")) {
    result.reasoning = string_of(*reasoning, field + ".reasoning_content");
  }
  if (const Json* metadata = member(message, "metadata")) {
    result.metadata = string_of(*metadata, field + ".metadata");
  }
  if (const Json* tools = member(message, "tools")) result.tools = tools_of(*tools, field + ".tools");
  if (const Json* calls = member(message, "tool_calls")) {
    if (!calls->is_array())
      refuse(field + ".tool_calls must be a list, but is " + std::string(calls->type_name()) + ".");
    for (std::size_t i = 0; i < calls->size(); ++i) {
      result.tool_calls.push_back(tool_call_of((*calls)[i], field + ".tool_calls[" + std::to_string(i) + "]"));
    }
  }
  return result;
}

bool flag_of(const Json& variables, const char* key, bool standard) {
  const Json* value = member(variables, key);
  if (value == nullptr) return standard;
  if (!value->is_boolean()) refuse(std::string(key) + " must be true or false, but is " + value->type_name() + ".");
  return value->get<bool>();
}

void read_variables(const Json& variables, Conversation& conversation) {
  if (!variables.is_object()) refuse("The template variables must be an object.");
  conversation.clear_thinking = flag_of(variables, "clear_thinking", true);
  conversation.tools_in_user_message = flag_of(variables, "tools_in_user_message", true);
  if (const Json* effort = member(variables, "reasoning_effort")) {
    conversation.reasoning_effort_high = string_of(*effort, "reasoning_effort") == "high";
  }
  if (const Json* date = member(variables, "date_string")) conversation.date_string = string_of(*date, "date_string");
  for (const char* unsupported : {"builtin_tools", "custom_tools"}) {
    if (member(variables, unsupported) != nullptr) {
      refuse(std::string(unsupported) + " is not supported; describe the functions in tools.");
    }
  }
}

void check_nesting(const Json& value, std::string_view field, int depth) {
  if (!value.is_structured()) return;
  if (depth == kMaxNesting) {
    refuse(std::string(field) + " is nested more than " + std::to_string(kMaxNesting) + " levels deep.");
  }
  for (const Json& item : value) check_nesting(item, field, depth + 1);
}

}  // namespace

std::string_view name(Role role) {
  return kRoleNames[static_cast<std::size_t>(role)];
}

std::optional<Role> find_role(std::string_view name) {
  for (std::size_t i = 0; i < kRoleNames.size(); ++i) {
    if (name == kRoleNames[i]) return static_cast<Role>(i);
  }
  return std::nullopt;
}

void refuse(const std::string& sentence) {
  throw Error(ErrorKind::bad_argument, sentence);
}

void check_nesting(const Json& value, std::string_view field) {
  check_nesting(value, field, 0);
}

std::string Content::text() const {
  std::string joined;
  for (const ContentPart& part : parts) {
    if (part.kind == Kind::text) joined += part.text;
  }
  return joined;
}

const Json& function_of(const Json& tool) {
  const Json* function = member(tool, "function");
  return function == nullptr ? tool : *function;
}

std::string_view function_name(const Json& function) {
  const Json* called = member(function, "name");
  return called == nullptr ? std::string_view() : called->get_ref<const std::string&>();
}

Conversation parse_conversation(const RenderRequest& request) {
  check_nesting(request.messages, "messages");
  check_nesting(request.tools, "tools");
  if (!request.messages.is_array()) {
    refuse("messages must be a list of messages, but is " + std::string(request.messages.type_name()) + ".");
  }
  Conversation conversation;
  conversation.messages.reserve(request.messages.size());
  for (std::size_t i = 0; i < request.messages.size(); ++i) {
    conversation.messages.push_back(message_of(request.messages[i], "messages[" + std::to_string(i) + "]"));
  }
  if (!request.tools.is_null()) conversation.tools = tools_of(request.tools, "tools");
  conversation.add_generation_prompt = request.add_generation_prompt;
  conversation.enable_thinking = request.enable_thinking;
  conversation.today = request.today;
  read_variables(request.variables, conversation);
  return conversation;
}

}  // namespace glmhost::chat
