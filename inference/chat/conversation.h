// A request for rendering, checked once and in the types that the families' templates work on.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inference/chat/template.h"

namespace glmhost::chat {

inline constexpr int kMaxNesting = 128;  // of arrays and objects in a request: recursion below stays bounded

enum class Role { system, developer, user, assistant, tool, observation, ipython, function };
std::string_view name(Role role);
std::optional<Role> find_role(std::string_view name);

struct ContentPart {
  enum class Kind {
    text,
    image,
    media,           // sound, film, and whatever else no built-in template can show
    output,          // {"output": "..."}: one of several results in a tool's message
    tool_reference,  // {"type": "tool_reference", "name": "..."}
  };
  Kind kind = Kind::text;
  std::string text;      // the text, the type of the media, the output, or the tool's name
  bool is_bare = false;  // a string of the list itself
};

struct Content {
  std::vector<ContentPart> parts;  // a plain string is one text part
  bool is_list = false;

  std::string text() const;  // the text parts, joined
  bool starts_with(ContentPart::Kind kind) const { return is_list && !parts.empty() && parts[0].kind == kind; }
};

struct ToolCall {
  std::string name;
  Json arguments;                  // an object
  const Json* as_given = nullptr;  // object, or string with the object's JSON; null when there were no arguments
};

struct Message {
  Role role = Role::user;
  Content content;                       // no parts when the message has none
  std::optional<std::string> reasoning;  // reasoning_content
  std::vector<ToolCall> tool_calls;
  std::string metadata;         // GLM-4 generation: the name of the function that is called
  const Json* tools = nullptr;  // glm-4-9b-chat: tools are told inside a message
};

// Borrows from the request it was made of.
struct Conversation {
  std::vector<Message> messages;
  const Json* tools =
      nullptr;  // null when there are none; an empty list is kept, since Llama's template tells it apart
  bool add_generation_prompt = true;
  std::optional<bool> enable_thinking;
  bool clear_thinking = true;
  bool reasoning_effort_high = false;
  bool tools_in_user_message = true;
  std::optional<std::string> date_string;
  std::optional<std::chrono::year_month_day> today;

  bool has_tools() const { return tools != nullptr && !tools->empty(); }
};

// Throws Error(bad_argument) naming the field.
Conversation parse_conversation(const RenderRequest& request);

// Throws Error(bad_argument) when the value, called `field`, is nested more than kMaxNesting deep.
void check_nesting(const Json& value, std::string_view field);

// A tool in OpenAI's wrapping {"type": "function", "function": {...}} or bare: the inner object, and its name.
const Json& function_of(const Json& tool);
std::string_view function_name(const Json& function);

[[noreturn]] void refuse(const std::string& sentence);  // throws Error(bad_argument)

}  // namespace glmhost::chat
