#include "host/daemon/memo_key.h"

#include <xxhash.h>

#include <bit>
#include <memory>
#include <new>

#include "host/daemon/output_form.h"

namespace glmhost::daemon {
namespace {

constexpr auto replace_invalid = nlohmann::ordered_json::error_handler_t::replace;

// Every value goes in with its length or as eight bytes, so that no two lists of values look alike.
class Hasher {
 public:
  Hasher() : state_(XXH3_createState()) {
    if (!state_) throw std::bad_alloc();
    XXH3_128bits_reset(state_.get());
  }
  void add(std::uint64_t value) {
    std::array<unsigned char, 8> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(value >> (8 * i));
    XXH3_128bits_update(state_.get(), bytes.data(), bytes.size());
  }
  void add(float value) { add(std::uint64_t{std::bit_cast<std::uint32_t>(value)}); }
  void add(std::string_view text) {
    add(std::uint64_t{text.size()});
    XXH3_128bits_update(state_.get(), text.data(), text.size());
  }
  Hash128 finish() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
    return {hash.high64, hash.low64};
  }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_;
};

}  // namespace

std::array<unsigned char, 16> Hash128::bytes() const {
  std::array<unsigned char, 16> out{};
  for (std::size_t i = 0; i < 8; ++i) {
    out[i] = static_cast<unsigned char>(high >> (56 - 8 * i));
    out[8 + i] = static_cast<unsigned char>(low >> (56 - 8 * i));
  }
  return out;
}

Hash128 Hash128::from_bytes(std::string_view bytes) {
  Hash128 hash;
  if (bytes.size() != 16) return hash;
  for (std::size_t i = 0; i < 8; ++i) {
    hash.high = hash.high << 8 | static_cast<unsigned char>(bytes[i]);
    hash.low = hash.low << 8 | static_cast<unsigned char>(bytes[8 + i]);
  }
  return hash;
}

std::string Hash128::hex() const {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes()) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

Hash128 memo_key(const Hash128& model_content, std::string_view chat_template, const chat::Prompt& prompt,
                 const protocol::Request& parameters) {
  Hasher hasher;
  hasher.add(std::uint64_t{kAnswerRevision});
  hasher.add(model_content.high);
  hasher.add(model_content.low);
  hasher.add(chat_template);
  hasher.add(std::uint64_t{prompt.starts_in_reasoning});
  hasher.add(std::uint64_t{prompt.continues_message});
  hasher.add(std::uint64_t{prompt.parts.size()});
  for (const tokenizer::TextPart& part : prompt.parts) {
    hasher.add(static_cast<std::uint64_t>(part.markers));
    hasher.add(part.text);
  }
  hasher.add(static_cast<std::uint64_t>(parameters.max_tokens));
  hasher.add(parameters.repetition_penalty);
  hasher.add(static_cast<std::uint64_t>(parameters.logprobs));
  hasher.add(std::uint64_t{parameters.stop.size()});
  for (const std::string& stop : parameters.stop) hasher.add(stop);
  // The tools stand in the prompt, but the types of their arguments need not.
  if (tells_tools(parameters) || (!parameters.tools.is_null() && parameters.tools.empty()))
    hasher.add(parameters.tools.dump(-1, ' ', false, replace_invalid));
  if (tells_tools(parameters)) {
    hasher.add("calls that satisfy the tools' schemas");  // not those of earlier versions, which were free
    hasher.add(static_cast<std::uint64_t>(parameters.tool_choice.kind));
    hasher.add(parameters.tool_choice.name);
  }
  if (parameters.form) {
    hasher.add(name(parameters.form->kind));
    hasher.add(parameters.form->text);
    hasher.add(std::uint64_t{parameters.form->choices.size()});
    for (const std::string& choice : parameters.form->choices) hasher.add(choice);
    hasher.add(std::uint64_t{parameters.enable_thinking.value_or(true)});  // whether reasoning may come first
  }
  // Greedy: the likeliest token survives every cut and nothing is drawn.
  const bool greedy = parameters.temperature == 0;
  hasher.add(greedy ? 0.0f : parameters.temperature);
  if (!greedy) {
    hasher.add(static_cast<std::uint64_t>(parameters.top_k));
    hasher.add(parameters.top_p);
    hasher.add(parameters.min_p);
    hasher.add(parameters.seed);
  }
  return hasher.finish();
}

}  // namespace glmhost::daemon
