#include "inference/tokenizer/pre_tokenizer.h"

#include <algorithm>
#include <array>

#include "inference/tokenizer/patterns.h"

namespace glmhost::tokenizer {
namespace {

constexpr std::array<PatternMatcher, 1> kGpt2 = {match_gpt2};
constexpr std::array<PatternMatcher, 2> kSmolLm = {match_number, match_gpt2};
constexpr std::array<PatternMatcher, 1> kLlama3 = {match_llama3};
constexpr std::array<PatternMatcher, 1> kQwen2 = {match_qwen2};
// llama.cpp takes runs of digits here (\p{N}+), and white space beyond ASCII as no part of these lists of characters;
// the models were trained with what stands here. No real vocabulary of theirs has a token of two digits.
constexpr std::array<PatternMatcher, 6> kDeepSeekLlm = {
    match_newline,      match_listed_letters, match_listed_punctuation, match_trailing_whitespace,
    match_deepseek_cjk, match_number};
constexpr std::array<PatternMatcher, 5> kDeepSeekCoder = {match_newline, match_letters, match_punctuation,
                                                          match_deepseek_cjk, match_number};
constexpr std::array<PatternMatcher, 3> kDeepSeekV3 = {match_up_to_three_numbers, match_cjk_or_kana,
                                                       match_deepseek_v3_words};

// One line a name; names that converters give to the same patterns follow the one that is known best. As in llama.cpp,
// only Llama 3's own names look a whole piece up and add BOS when the file is silent.
constexpr std::array kPreTokenizers = {
    PreTokenizer{"gpt-2", kGpt2, false, false},
    PreTokenizer{"smollm", kSmolLm, false, false},
    PreTokenizer{"llama-bpe", kLlama3, true, true},
    PreTokenizer{"llama3", kLlama3, true, true},
    PreTokenizer{"llama-v3", kLlama3, true, true},
    PreTokenizer{"falcon3", kLlama3, true, true},
    PreTokenizer{"smaug-bpe", kLlama3, false, false},
    PreTokenizer{"glm4", kLlama3, false, false},
    PreTokenizer{"chatglm-bpe", kLlama3, false, false},
    PreTokenizer{"qwen2", kQwen2, false, false},
    PreTokenizer{"deepseek-r1-qwen", kQwen2, false, false},
    PreTokenizer{"megrez", kQwen2, false, false},
    PreTokenizer{"deepseek-llm", kDeepSeekLlm, false, false},
    PreTokenizer{"deepseek-coder", kDeepSeekCoder, false, false},
    PreTokenizer{"deepseek-v3", kDeepSeekV3, false, false},
};

}  // namespace

std::span<const PreTokenizer> known_pre_tokenizers() {
  return kPreTokenizers;
}

const PreTokenizer* find_pre_tokenizer(std::string_view name) {
  const auto found =
      std::find_if(kPreTokenizers.begin(), kPreTokenizers.end(), [name](const auto& p) { return p.name == name; });
  return found == kPreTokenizers.end() ? nullptr : &*found;
}

}  // namespace glmhost::tokenizer
