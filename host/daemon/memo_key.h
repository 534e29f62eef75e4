// The name of an answer: everything that decides its text, as one hash.
//
// XXH3 (128 bits) is no cryptographic hash: whoever can make two prompts collide on purpose only fools himself, since
// the store belongs to one user.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "host/protocol/messages.h"
#include "inference/chat/template.h"

namespace glmhost::daemon {

struct Hash128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  auto operator<=>(const Hash128&) const = default;

  std::array<unsigned char, 16> bytes() const;        // big-endian
  static Hash128 from_bytes(std::string_view bytes);  // zero when not 16
  std::string hex() const;
};

// To be raised whenever equal keys would no longer mean equal answers: the sampler, stop strings, the splitting of
// reasoning or the tokenizer changed.
inline constexpr std::uint32_t kAnswerRevision = 2;

// The prompt goes in rendered, with its markers, so a changed chat template changes the key. The tokenizer and the
// weights are those of the model file's content. Parameters that cannot matter (the seed of a greedy answer) are left
// out, so that more requests are equal.
Hash128 memo_key(const Hash128& model_content, std::string_view chat_template, const chat::Prompt& prompt,
                 const protocol::Request& parameters);

}  // namespace glmhost::daemon
