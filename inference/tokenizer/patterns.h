// The published patterns of pre-tokenisers, one matcher each (see PatternMatcher for the contract). \s is Unicode's
// White_Space, \p{..} a general category.
#pragma once

#include <cstddef>
#include <string_view>

namespace glmhost::tokenizer {

std::size_t match_gpt2(std::string_view text, std::size_t position);
std::size_t match_llama3(std::string_view text, std::size_t position);  // llama-bpe, glm4, chatglm-bpe
std::size_t match_qwen2(std::string_view text, std::size_t position);   // the same with single digits

std::size_t match_number(std::string_view text, std::size_t position);               // \p{N}
std::size_t match_up_to_three_numbers(std::string_view text, std::size_t position);  // \p{N}{1,3}

std::size_t match_newline(std::string_view text, std::size_t position);            // [\r\n]
std::size_t match_cjk_or_kana(std::string_view text, std::size_t position);        // [一-龥぀-ゟ゠-ヿ]+
std::size_t match_deepseek_v3_words(std::string_view text, std::size_t position);  // its third pattern
std::size_t match_letters(std::string_view text, std::size_t position);            // \s?\p{L}+
std::size_t match_punctuation(std::string_view text, std::size_t position);        // \s?\p{P}+
std::size_t match_listed_letters(std::string_view text, std::size_t position);     // deepseek-llm's own list
std::size_t match_listed_punctuation(std::string_view text, std::size_t position);  // \s?[!-/:-~！-／：-～‘-‟　-。]+
std::size_t match_trailing_whitespace(std::string_view text, std::size_t position);  // \s+$
std::size_t match_deepseek_cjk(std::string_view text, std::size_t position);         // [一-龥ࠀ-一가-퟿]+

}  // namespace glmhost::tokenizer
