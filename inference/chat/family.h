// What is known of each family besides its template.
#pragma once

#include <string_view>

#include "inference/chat/conversation.h"
#include "inference/chat/prompt_writer.h"

namespace glmhost::chat {

// Which newlines around reasoning and content a family's template writes itself (see ReasoningSplitter).
enum class AnswerNewlines {
  kept,         // none are the template's
  one_leading,  // <|assistant|>\n{content}
  all_around,   // the template strips them from both
};

struct FamilyFacts {
  Family family;
  std::string_view name;
  void (*write)(const Conversation& conversation, PromptWriter& out);
  bool thinks;       // answers may begin with <think>
  bool takes_tools;  // the template tells the model about `tools`
  bool takes_calls;  // the template writes `tool_calls`
  bool takes_parts;  // the template knows content parts other than text
  AnswerNewlines newlines;
};

const FamilyFacts& facts(Family family);

}  // namespace glmhost::chat
