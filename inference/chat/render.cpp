#include <string>

#include "inference/chat/family.h"

namespace glmhost::chat {
namespace {

void check_tools(const Conversation& conversation, const FamilyFacts& family) {
  const std::string who = "the chat template of " + std::string(family.name);
  if (conversation.has_tools() && !family.takes_tools) {
    refuse("tools: " + who + " has no place for tools. Leave them out, or use a model of a newer GLM generation.");
  }
  for (std::size_t i = 0; i < conversation.messages.size(); ++i) {
    if (!conversation.messages[i].tool_calls.empty() && !family.takes_calls) {
      refuse("messages[" + std::to_string(i) + "].tool_calls: " + who + " has no place for tool calls.");
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
  check_tools(conversation, known);
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
