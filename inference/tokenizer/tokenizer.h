// Text to token ids and back: byte-level BPE (tokenizer.ggml.model gpt2) and SentencePiece BPE with byte fallback
// (tokenizer.ggml.model llama), with the vocabulary of a GGUF file. A vocabulary-only file is enough.
//
// BPE rule: tiktoken's. A pre-token that is a token is taken whole (only where the kind asks for it: ignore_merges);
// else the neighbouring pair with the lowest rank is merged until none is left. Pre-tokenisers are hand-written
// matchers of each kind's published pattern. All of it is linear (n log n in one pre-token) in the text's length.
// Input that is not UTF-8 is accepted: each bad byte counts as U+FFFD in BPE kinds, as a byte token in SentencePiece.
// In BPE kinds decode(encode(text), true) is the text again, with those U+FFFD, if its bytes have tokens: some real
// vocabularies lack a few control characters and unassigned planes, and such bytes give no token, as in other engines.
//
// Thread rules: a Tokenizer is immutable after construction; every member may be called from several threads at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inference/model_files/gguf_file.h"

namespace glmhost::tokenizer {

using TokenId = std::int32_t;

// Which markers written in a text become their token instead of plain text. Two sorts of user-defined tokens are no
// markers but part of what plain text is, taken always: in byte-level files those of a single character or of white
// space only, in SentencePiece files all (Gemma: runs of spaces and line ends, HTML tags). Control tokens never are.
enum class Markers {
  none,          // a user's text: nothing in it can forge a marker
  user_defined,  // <think> and the like only (what llama.cpp does with parse_special = false)
  all,           // a template's own text: <|user|> too
};

// A stretch of a prompt and who wrote it. Markers are looked for inside one stretch only, but plain text is split into
// tokens across stretches, as if the whole prompt were one string.
struct TextPart {
  std::string text;
  Markers markers = Markers::none;
};

class Tokenizer {
 public:
  // Throws Error: bad_file (arrays of different lengths, ids out of range), unsupported (names the kind).
  explicit Tokenizer(const model_files::GgufFile& file);
  ~Tokenizer();
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;

  // No BOS is added; see add_bos(). Throws Error(bad_argument) for more than 1 GiB between two markers.
  std::vector<TokenId> encode(std::string_view text, Markers markers) const;
  std::vector<TokenId> encode(std::span<const TextPart> parts) const;

  // The bytes of one token; may be part of a character. Control tokens give "" unless `special` is set; user-defined
  // markers such as <think> are always given. Ids outside the vocabulary give "".
  std::string_view bytes(TokenId id, bool special = false) const;
  std::string decode(std::span<const TokenId> ids, bool special = false) const;

  std::int32_t vocabulary_size() const;
  std::string_view kind() const;                                   // tokenizer.ggml.pre, or "spm"
  std::optional<TokenId> find(std::string_view token_text) const;  // by what it writes: "<|user|>", " the"; any type
  bool is_control(TokenId id) const;  // unknown tokens and all that end generation count, whatever the file says
  // What ends a model's answer: the file's eos, eot and eom, <|im_end|>, <end_of_turn> and their like, and in GLM files
  // <|endoftext|>, <|user|> and <|observation|>. Sorted.
  std::span<const TokenId> end_of_generation() const;
  bool is_end_of_generation(TokenId id) const;
  std::optional<TokenId> bos() const;
  std::optional<TokenId> eos() const;
  bool add_bos() const;  // whether this model wants BOS before a prompt

  // Tokens of plain text that encode never gives, because no sequence of merges reaches them and the kind does not look
  // whole words up (a defect of some converters; shown by `glm models`). Costs a pass over the vocabulary; computed on
  // first use.
  std::int32_t unreachable_tokens() const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

// Cuts a stream of token bytes into valid UTF-8: holds back an unfinished character, replaces bytes that can never
// become one by U+FFFD.
class Utf8Stream {
 public:
  std::string push(std::string_view bytes);  // what can be shown now
  std::string finish();                      // what is left at the end

 private:
  std::string pending_;
};

}  // namespace glmhost::tokenizer
