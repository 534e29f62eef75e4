// GPT-2's spelling of bytes: every byte has a printable character, so that a token list is readable text. Bytes that
// are printable in Latin-1 stand for themselves, the others in order for U+0100 and up (a space is U+0120).
#pragma once

#include <string>
#include <string_view>

namespace glmhost::tokenizer {

// Appends the bytes that TEXT spells to OUT. What is none of the 256 characters is taken over as it stands: such text
// can be in the list, and comes out again, but no merge leads to it.
void append_byte_level(std::string_view text, std::string& out);

}  // namespace glmhost::tokenizer
