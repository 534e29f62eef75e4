// Encoding of plain text, that is of what is left between markers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "inference/tokenizer/tokenizer.h"

namespace glmhost::tokenizer {

// Implementations are immutable after construction: every member may be called from several threads at once.
class TextEncoder {
 public:
  TextEncoder() = default;
  TextEncoder(const TextEncoder&) = delete;  // their tables point into themselves and into the vocabulary
  TextEncoder& operator=(const TextEncoder&) = delete;
  virtual ~TextEncoder() = default;

  // Appends the ids of TEXT: a whole stretch between two markers or the ends of the prompt, any bytes, at most 1 GiB.
  virtual void encode(std::string_view text, std::vector<TokenId>& out) const = 0;

  // The token of plain text that writes BYTES.
  virtual std::optional<TokenId> find(std::string_view bytes) const = 0;

  // Normal tokens that encode can never give.
  virtual std::int32_t unreachable_tokens() const = 0;
};

}  // namespace glmhost::tokenizer
