#include "inference/chat/families.h"

namespace glmhost::chat {

void write_chatml(const Conversation& conversation, PromptWriter& out) {
  for (const Message& message : conversation.messages) {
    out.own("<|im_start|>").own(name(message.role)).own("\n").given(message.content.text());
    if (&message == &conversation.messages.back()) out.end_of_final_content();
    out.own("<|im_end|>\n");
  }
  if (conversation.add_generation_prompt) out.own("<|im_start|>assistant\n");
}

void write_smollm2(const Conversation& conversation, PromptWriter& out) {
  if (!conversation.messages.empty() && conversation.messages[0].role != Role::system) {
    out.own("<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n");
  }
  write_chatml(conversation, out);
}

}  // namespace glmhost::chat
