#include <string>

#include "inference/chat/family.h"

namespace glmhost::chat {
namespace {

// What a template would drop, or print as a Python object, is refused instead: nothing in a request is lost silently.
void check_support(const Conversation& conversation, const FamilyFacts& family) {
  const std::string who = "the chat template of " + std::string(family.name);
  if (conversation.has_tools() && !family.takes_tools) {
    refuse("tools: " + who + " has no place for tools. Leave them out, or use a model of a newer GLM generation.");
  }
  for (std::size_t i = 0; i < conversation.messages.size(); ++i) {
    const Message& message = conversation.messages[i];
    const std::string field = "messages[" + std::to_string(i) + "]";
    if (!message.tool_calls.empty() && !family.takes_calls) {
      refuse(field + ".tool_calls: " + who + " has no place for tool calls.");
    }
    if (family.takes_parts) continue;
    for (std::size_t part = 0; part < message.content.parts.size(); ++part) {
      if (message.content.parts[part].kind != ContentPart::Kind::text) {
        refuse(field + ".content[" + std::to_string(part) + "]: " + who + " takes text only.");
      }
    }
  }
}

}  // namespace

std::string Prompt::text() const {
  std::string joined;
  for (const tokenizer::TextPart& part : parts) joined += part.text;
  return joined;
}

Prompt render(Family family, const RenderRequest& request) {
  const FamilyFacts& known = facts(family);
  const Conversation conversation = parse_conversation(request);
  check_support(conversation, known);
  PromptWriter out;
  known.write(conversation, out);
  if (!request.continue_final_message) return out.finish();
  if (!out.has_final_content()) {
    refuse("continue_final_message: " +
           (conversation.messages.empty()
                ? std::string("there is no message to continue.")
                : "the last message's content is not the last thing that the chat template of " +
                      std::string(known.name) + " writes; end with an assistant message."));
  }
  return out.finish_at_final_content();
}

}  // namespace glmhost::chat
