#include <optional>
#include <span>
#include <string>

#include "inference/chat/families.h"
#include "inference/chat/jinja/python_text.h"

namespace glmhost::chat {
namespace {

using jinja::strip;

// Of a list the template takes the first entry only.
std::string system_text(const Content& content) {
  if (!content.is_list) return content.text();
  if (!content.starts_with(ContentPart::Kind::text)) {
    refuse("messages[0].content must begin with a text part: Gemma's template takes nothing else of a system message.");
  }
  return content.parts[0].text;
}

}  // namespace

void write_gemma_3(const Conversation& conversation, PromptWriter& out) {
  std::span<const Message> messages(conversation.messages);
  if (messages.empty()) refuse("messages is empty: Gemma's template needs at least one message.");

  out.own("<bos>");
  std::optional<std::string> system;
  if (messages[0].role == Role::system) {
    system = system_text(messages[0].content);
    messages = messages.subspan(1);
  }
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Message& message = messages[i];
    if ((message.role == Role::user) != (i % 2 == 0)) {
      refuse("Conversation roles must alternate user/assistant/user/assistant/...");
    }
    out.own("<start_of_turn>").own(message.role == Role::assistant ? "model" : name(message.role)).own("\n");
    if (i == 0 && system) out.given(*system).own("\n\n");
    for (const ContentPart& part : message.content.parts) {
      if (part.kind == ContentPart::Kind::image) out.own("<start_of_image>");
      if (part.kind == ContentPart::Kind::text) out.given(strip(part.text));
    }
    if (i + 1 == messages.size()) out.end_of_final_content();
    out.own("<end_of_turn>\n");
  }
  if (conversation.add_generation_prompt) out.own("<start_of_turn>model\n");
}

}  // namespace glmhost::chat
