// The token list of a GGUF file: what each token is and what it writes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inference/model_files/gguf_file.h"
#include "inference/tokenizer/token_table.h"
#include "inference/tokenizer/tokenizer.h"

namespace glmhost::tokenizer {

// As numbered in tokenizer.ggml.token_type.
enum class TokenType : std::uint8_t {
  normal = 1,
  unknown = 2,
  control = 3,       // <|user|>: never printed
  user_defined = 4,  // <think>: taken as one token, and printed
  unused = 5,        // padding of the list
  byte = 6,          // <0x0A>
};

enum class Family { byte_pair, sentence_piece };

// Immutable after construction.
class Vocabulary {
 public:
  // Throws Error: bad_file, unsupported (as Tokenizer).
  explicit Vocabulary(const model_files::GgufFile& file);

  Family family() const { return family_; }
  const std::string& pre_tokenizer() const { return pre_tokenizer_; }  // tokenizer.ggml.pre; may be empty
  std::int32_t size() const { return static_cast<std::int32_t>(types_.size()); }
  bool contains(TokenId id) const { return id >= 0 && id < size(); }

  TokenType type(TokenId id) const { return types_[static_cast<std::size_t>(id)]; }
  // What the token writes: its text with byte-level characters, U+2581 and <0x0A> turned back into bytes. The text of
  // control, unknown and user-defined tokens stands for itself.
  std::string_view bytes(TokenId id) const { return bytes_[id]; }
  const TokenTable& bytes_table() const { return bytes_; }

  // Control, unknown, and every token that ends generation whatever its type: some files list <end_of_turn> as
  // user-defined, and nobody wants to read it.
  bool is_control(TokenId id) const { return type(id) == TokenType::control || type(id) == TokenType::unknown; }
  // A token that is looked for in a text before anything else, with the Markers value that it takes.
  bool is_marker(TokenId id) const { return is_control(id) || type(id) == TokenType::user_defined; }
  Markers marker_level(TokenId id) const;

  std::optional<TokenId> bos() const { return bos_; }
  std::optional<TokenId> eos() const { return eos_; }
  std::optional<TokenId> unknown() const { return unknown_; }
  std::span<const TokenId> end_of_generation() const { return end_of_generation_; }

 private:
  void read_special_tokens(const model_files::GgufFile& file, const std::vector<std::string>& texts);

  Family family_;
  std::string pre_tokenizer_;
  TokenTable bytes_;
  std::vector<TokenType> types_;
  std::optional<TokenId> bos_;
  std::optional<TokenId> eos_;
  std::optional<TokenId> unknown_;
  std::vector<TokenId> end_of_generation_;  // sorted
};

}  // namespace glmhost::tokenizer
