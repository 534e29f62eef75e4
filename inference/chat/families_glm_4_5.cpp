// GLM-4.5 and later: reasoning in <think>, tool calls in <tool_call>. Three generations of one layout; Generation says
// where they differ.
#include "inference/chat/families.h"
#include "inference/chat/jinja/python_text.h"

namespace glmhost::chat {
namespace {

using jinja::dump;
using jinja::strip;
using jinja::strip_left;
using jinja::strip_right;

constexpr std::string_view kOpen = "<think>";
constexpr std::string_view kClose = "</think>";
constexpr std::string_view kNoThink = "/nothink";

struct Generation {
  std::string_view line;          // what stands between the pieces of a message: a line break or nothing
  std::string_view no_reasoning;  // where an earlier turn's reasoning is left out, and where thinking is off
  std::string_view generation_prompt_thinks;  // behind <|assistant|> when the model shall think
  bool reasoning_verbatim;                    // not stripped
  bool may_keep_reasoning;                    // knows clear_thinking
  bool nothink_suffix;                        // thinking off is also said in each user message
  bool shows_media;                           // puts something where an image or sound was
  bool plain_tools;  // prints the function without its wrapping and without strict, defer_loading
};

constexpr Generation kGlm46 = {"\n", "<think></think>", "", false, false, true, false, false};
constexpr Generation kGlm47 = {"", "</think>", "<think>", false, true, false, false, false};
constexpr Generation kGlm52 = {"", "<think></think>", "<think>", true, true, false, true, true};

bool thinking_is_off(const Conversation& conversation) {
  return conversation.enable_thinking && !*conversation.enable_thinking;
}

// --- tools

// The keys are printed as they stand, like the template does.
std::string plain_function(const Json& function) {
  std::string out = "{";
  for (const auto& [key, value] : function.items()) {
    if (key == "defer_loading" || key == "strict") continue;
    out += (out.size() > 1 ? ", \"" : "\"") + key + "\": " + dump(value);
  }
  return out + "}";
}

bool is_deferred(const Json& function) {
  const auto flag = function.find("defer_loading");
  return flag != function.end() && *flag == true;
}

void write_tools(const Json& tools, const Generation& generation, PromptWriter& out) {
  out.own(
      "<|system|>\n# Tools\n\nYou may call one or more functions to assist with the user query.\n\n"
      "You are provided with function signatures within <tools></tools> XML tags:\n<tools>\n");
  for (const Json& tool : tools) {
    if (!generation.plain_tools) {
      out.given(dump(tool)).own("\n");
    } else if (!is_deferred(function_of(tool))) {
      out.given(plain_function(function_of(tool))).own("\n");
    }
  }
  out.own(
      "</tools>\n\nFor each function call, output the function name and arguments within the following XML format:\n"
      "<tool_call>{function-name}");
  for (const std::string_view piece :
       {"<arg_key>{arg-key-1}</arg_key>", "<arg_value>{arg-value-1}</arg_value>", "<arg_key>{arg-key-2}</arg_key>",
        "<arg_value>{arg-value-2}</arg_value>", "...", "</tool_call>"}) {
    out.own(generation.line).own(piece);
  }
}

void write_call(const ToolCall& call, const Generation& generation, PromptWriter& out) {
  out.own(generation.line).own("<tool_call>").given(call.name).own(generation.line);
  for (const auto& [key, value] : call.arguments.items()) {
    out.own("<arg_key>").given(key).own("</arg_key>").own(generation.line).own("<arg_value>");
    if (value.is_string()) {
      out.given(value.get_ref<const std::string&>());
    } else {
      out.given(dump(value));
    }
    out.own("</arg_value>").own(generation.line);
  }
  out.own("</tool_call>");
}

// --- messages

void write_content(const Content& content, const Generation& generation, PromptWriter& out) {
  for (const ContentPart& part : content.parts) {
    if (part.kind == ContentPart::Kind::text) out.given(part.text);
    if (!generation.shows_media) continue;
    if (part.kind == ContentPart::Kind::image) out.own("<|begin_of_image|><|image|><|end_of_image|>");
    if (part.kind == ContentPart::Kind::media) {
      const std::string_view medium = part.text.starts_with("video") ? "video" : "audio";
      out.own("<reminder>You are unable to process this ").own(medium);
      out.own(" because you don't have multi-modal input ability. Try different methods.</reminder>");
    }
  }
}

void write_user(const Message& message, bool is_final, const Generation& generation, const Conversation& conversation,
                PromptWriter& out) {
  out.own("<|user|>").own(generation.line);
  if (!generation.nothink_suffix || !thinking_is_off(conversation)) {
    write_content(message.content, generation, out);
    if (is_final) out.end_of_final_content();
    return;
  }
  // Typed by the user or not, this /nothink is what the request asks for, so it is a marker.
  const std::string content = message.content.text();
  std::string_view text = content;
  const bool typed = text.ends_with(kNoThink);
  if (typed) text.remove_suffix(kNoThink.size());
  out.given(text);
  if (is_final && !typed) out.end_of_final_content();
  out.own(kNoThink);
  if (is_final && typed) out.end_of_final_content();
}

struct Turn {
  std::string_view reasoning;
  std::string_view content;
  bool has_reasoning = false;
};

// An answer's own reasoning, or what stands in its content between <think> and </think>.
Turn split_turn(const Message& message, std::string_view content, const Generation& generation) {
  if (message.reasoning) return {*message.reasoning, content, true};
  const std::size_t close = content.find(kClose);
  if (close == std::string_view::npos) return {{}, content, false};
  std::string_view reasoning = content.substr(0, close);
  content.remove_prefix(content.rfind(kClose) + kClose.size());
  if (const std::size_t open = reasoning.rfind(kOpen); open != std::string_view::npos) {
    reasoning.remove_prefix(open + kOpen.size());
  }
  if (!generation.reasoning_verbatim) reasoning = strip_left(strip_right(reasoning, '\n'), '\n');
  return {reasoning, content, true};
}

// What visible_text() of the vendor's template gives for an answer; media in an answer have no marker of their own.
std::string visible_text(const Content& content, const Generation& generation) {
  PromptWriter text;
  write_content(content, generation, text);
  return text.finish().text();
}

void write_assistant(const Message& message, bool is_final, bool keeps_reasoning, const Generation& generation,
                     PromptWriter& out) {
  const std::string whole = visible_text(message.content, generation);
  const Turn turn = split_turn(message, whole, generation);
  out.own("<|assistant|>").own(generation.line);
  // 4.6 and 4.7 leave out reasoning that is empty before it is stripped, 5.2 only reasoning that is not there.
  if (keeps_reasoning && turn.has_reasoning && (generation.reasoning_verbatim || !turn.reasoning.empty())) {
    out.own(kOpen).given(generation.reasoning_verbatim ? turn.reasoning : strip(turn.reasoning)).own(kClose);
  } else {
    out.own(generation.no_reasoning);
  }
  const std::string_view content = strip(turn.content);
  if (!content.empty()) out.own(generation.line).given(content);
  if (is_final) out.end_of_final_content();
  for (const ToolCall& call : message.tool_calls) write_call(call, generation, out);
}

void write_response(std::string_view text, const Generation& generation, PromptWriter& out) {
  out.own(generation.line).own("<tool_response>").own(generation.line);
  out.given(text).own(generation.line).own("</tool_response>");
}

// A list of outputs, or of bare strings, is one response each; text parts are one text in pieces.
bool is_list_of_results(const Content& content) {
  return content.is_list &&
         (content.parts.empty() || content.parts[0].kind == ContentPart::Kind::output || content.parts[0].is_bare);
}

void write_tool_message(const Message& message, bool follows_tool, const Generation& generation, PromptWriter& out) {
  if (is_list_of_results(message.content)) {
    out.own("<|observation|>");
    for (const ContentPart& part : message.content.parts) write_response(part.text, generation, out);
    return;
  }
  if (!follows_tool) out.own("<|observation|>");
  write_response(message.content.text(), generation, out);
}

void write_referenced_tools(const Content& content, const Json& tools, PromptWriter& out) {
  out.own("<tool_response><tools>\n");
  for (const ContentPart& part : content.parts) {
    for (const Json& tool : tools) {
      if (function_name(function_of(tool)) == part.text) out.given(plain_function(function_of(tool))).own("\n");
    }
  }
  out.own("</tools></tool_response>");
}

void write_tool_message_5_2(const Message& message, bool follows_tool, const Json* tools, PromptWriter& out) {
  if (!follows_tool) out.own("<|observation|>");
  if (message.content.starts_with(ContentPart::Kind::tool_reference)) {
    write_referenced_tools(message.content, tools == nullptr ? Json::array() : *tools, out);
  } else if (message.content.starts_with(ContentPart::Kind::output)) {
    for (const ContentPart& part : message.content.parts) write_response(part.text, kGlm52, out);
  } else {
    out.own("<tool_response>");
    write_content(message.content, kGlm52, out);
    out.own("</tool_response>");
  }
}

void write_conversation(const Conversation& conversation, const Generation& generation, PromptWriter& out) {
  if (conversation.has_tools()) write_tools(*conversation.tools, generation, out);

  const std::vector<Message>& messages = conversation.messages;
  std::size_t answers_from = 0;  // behind the last user message
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (messages[i].role == Role::user) answers_from = i + 1;
  }
  const bool keeps_all_reasoning = generation.may_keep_reasoning && !conversation.clear_thinking;

  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Message& message = messages[i];
    const bool is_final = i + 1 == messages.size();
    if (message.role == Role::user) {
      write_user(message, is_final, generation, conversation, out);
    } else if (message.role == Role::assistant) {
      write_assistant(message, is_final, keeps_all_reasoning || i >= answers_from, generation, out);
    } else if (message.role == Role::tool) {
      const bool follows_tool = i > 0 && messages[i - 1].role == Role::tool;
      if (generation.plain_tools) {
        write_tool_message_5_2(message, follows_tool, conversation.tools, out);
      } else {
        write_tool_message(message, follows_tool, generation, out);
      }
    } else if (message.role == Role::system) {
      out.own("<|system|>").own(generation.line);
      write_content(message.content, generation, out);
      if (is_final) out.end_of_final_content();
    }
  }
  if (!conversation.add_generation_prompt) return;
  out.own("<|assistant|>");
  if (thinking_is_off(conversation)) {
    out.own(generation.line).own(generation.no_reasoning);
  } else if (!generation.generation_prompt_thinks.empty()) {
    out.own(generation.generation_prompt_thinks);
    out.reasoning_is_open();
  }
}

}  // namespace

void write_glm_4_6(const Conversation& conversation, PromptWriter& out) {
  out.own("[gMASK]<sop>");
  write_conversation(conversation, kGlm46, out);
}

void write_glm_4_7_flash(const Conversation& conversation, PromptWriter& out) {
  out.own("[gMASK]<sop>");
  write_conversation(conversation, kGlm47, out);
}

void write_glm_5_2(const Conversation& conversation, PromptWriter& out) {
  out.own("[gMASK]<sop>");
  if (!thinking_is_off(conversation)) {
    out.own("<|system|>Reasoning Effort: ").own(conversation.reasoning_effort_high ? "High" : "Max");
  }
  write_conversation(conversation, kGlm52, out);
}

}  // namespace glmhost::chat
