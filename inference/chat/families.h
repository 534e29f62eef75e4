// The built-in templates: each writes what the vendor's Jinja template renders. Which messages a template drops, what
// it trims and where it breaks lines is the vendor's doing; the text must not differ by a byte from what the model was
// trained on.
#pragma once

#include "inference/chat/conversation.h"
#include "inference/chat/prompt_writer.h"

namespace glmhost::chat {

// families_glm_4.cpp
void write_glm_4_9b_chat(const Conversation& conversation, PromptWriter& out);
void write_glm_edge(const Conversation& conversation, PromptWriter& out);
void write_glm_z1(const Conversation& conversation, PromptWriter& out);

// families_glm_4_5.cpp: from GLM-4.5 on
void write_glm_4_6(const Conversation& conversation, PromptWriter& out);
void write_glm_4_7_flash(const Conversation& conversation, PromptWriter& out);
void write_glm_5_2(const Conversation& conversation, PromptWriter& out);

// families_chatml.cpp
void write_chatml(const Conversation& conversation, PromptWriter& out);
void write_smollm2(const Conversation& conversation, PromptWriter& out);

// families_gemma.cpp
void write_gemma_3(const Conversation& conversation, PromptWriter& out);

// families_llama.cpp
void write_llama_3(const Conversation& conversation, PromptWriter& out);
void write_llama_3_1(const Conversation& conversation, PromptWriter& out);
void write_llama_3_2(const Conversation& conversation, PromptWriter& out);

}  // namespace glmhost::chat
