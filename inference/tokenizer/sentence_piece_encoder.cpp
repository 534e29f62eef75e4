#include "inference/tokenizer/sentence_piece_encoder.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace glmhost::tokenizer {
namespace {

std::string escape_spaces(std::string_view text, bool space_prefix) {
  const auto spaces = static_cast<std::size_t>(std::count(text.begin(), text.end(), ' ')) + 1;
  std::string out;
  out.reserve(text.size() + spaces * kEscapedSpace.size());
  if (space_prefix) out.append(kEscapedSpace);
  for (const char c : text) {
    if (c == ' ') {
      out.append(kEscapedSpace);
    } else {
      out += c;
    }
  }
  return out;
}

// The length that the first byte of a character announces, without a look at the others. On text that is not UTF-8 this
// is llama.cpp's reading: a stray byte of four takes three bytes with it, and all four become byte tokens.
std::size_t announced_length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

std::vector<std::uint32_t> rank_scores(const std::vector<float>& scores) {
  std::vector<std::uint32_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return scores[a] > scores[b]; });
  std::vector<std::uint32_t> ranks(scores.size());
  std::uint32_t rank = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && scores[order[i]] != scores[order[i - 1]]) ++rank;
    ranks[order[i]] = rank;
  }
  return ranks;
}

}  // namespace

void append_unescaped_spaces(std::string_view text, std::string& out) {
  std::size_t position = 0;
  while (position < text.size()) {
    const std::size_t found = std::min(text.find(kEscapedSpace, position), text.size());
    out.append(text.substr(position, found - position));
    if (found == text.size()) break;
    out += ' ';
    position = found + kEscapedSpace.size();
  }
}

SentencePieceEncoder::SentencePieceEncoder(const Vocabulary& vocabulary, const std::vector<std::string>& texts,
                                           const std::vector<float>& scores, bool space_prefix)
    : vocabulary_(&vocabulary),
      space_prefix_(space_prefix),
      pieces_(texts.size(), std::accumulate(texts.begin(), texts.end(), std::size_t{0},
                                            [](std::size_t sum, const std::string& s) { return sum + s.size(); })),
      index_(pieces_, texts.size()),
      ranks_(rank_scores(scores)) {
  byte_tokens_.fill(kNoToken);
  for (const std::string& text : texts) pieces_.append(text);
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    const std::string_view text = pieces_[id];
    if (vocabulary.type(id) == TokenType::byte && vocabulary.bytes(id).size() == 1) {
      TokenId& token = byte_tokens_[static_cast<unsigned char>(vocabulary.bytes(id)[0])];
      if (token == kNoToken) token = id;
    }
    if (!is_piece(id)) continue;
    index_.insert(id);
    longest_piece_ = std::max(longest_piece_, text.size());
    for (std::size_t i = text.find(kEscapedSpace, 1); i != std::string_view::npos;
         i = text.find(kEscapedSpace, i + 1)) {
      joins_space_[static_cast<unsigned char>(text[i - 1])] = true;
    }
  }
}

// Control tokens are no pieces: text that looks like one must not become it.
bool SentencePieceEncoder::is_piece(TokenId id) const {
  const TokenType type = vocabulary_->type(id);
  return (type == TokenType::normal || type == TokenType::user_defined) && !pieces_[id].empty();
}

PairMerge SentencePieceEncoder::find_merge(std::string_view text) const {
  if (text.size() > longest_piece_) return {};
  const auto id = index_.find(text);
  if (!id) return {};
  return {ranks_[static_cast<std::size_t>(*id)], *id};
}

// Whether no piece can span the place between a character that ends at BEGIN and the one at [BEGIN, END): then both
// sides merge independently. True at nearly every word, which turns one merge over the whole text into many short ones.
bool SentencePieceEncoder::splits_before(std::string_view escaped, std::size_t begin, std::size_t end) const {
  return begin > 0 && escaped.substr(begin, end - begin) == kEscapedSpace &&
         !joins_space_[static_cast<unsigned char>(escaped[begin - 1])];
}

void SentencePieceEncoder::encode(std::string_view text, std::vector<TokenId>& out) const {
  encode_escaped(escape_spaces(text, space_prefix_), out);
}

void SentencePieceEncoder::encode_escaped(std::string_view escaped, std::vector<TokenId>& out) const {
  MergeBuffers buffers;
  std::size_t end = 0;
  for (std::size_t begin = 0; begin < escaped.size(); begin = end) {
    end = std::min(begin + announced_length(escaped[begin]), escaped.size());
    if (splits_before(escaped, begin, end)) {
      encode_symbols(escaped, buffers, out);
      buffers.symbols.clear();
    }
    const auto id = index_.find(escaped.substr(begin, end - begin));
    append_symbol(buffers.symbols, begin, end, id.value_or(kNoToken));
  }
  encode_symbols(escaped, buffers, out);
}

void SentencePieceEncoder::encode_symbols(std::string_view escaped, MergeBuffers& buffers,
                                          std::vector<TokenId>& out) const {
  if (buffers.symbols.empty()) return;
  merge_symbols(buffers, [&](const Symbol& left, const Symbol& right) {
    return find_merge(escaped.substr(left.begin, right.end - left.begin));
  });
  for (std::uint32_t i = 0; i != kNoSymbol; i = buffers.symbols[i].next) {
    const Symbol& symbol = buffers.symbols[i];
    if (symbol.id != kNoToken) {
      out.push_back(symbol.id);
      continue;
    }
    const std::string_view text = escaped.substr(symbol.begin, symbol.end - symbol.begin);
    const auto byte_token = [this](char byte) { return byte_tokens_[static_cast<unsigned char>(byte)]; };
    if (std::all_of(text.begin(), text.end(), [&](char byte) { return byte_token(byte) != kNoToken; })) {
      std::transform(text.begin(), text.end(), std::back_inserter(out), byte_token);
    } else if (const auto unknown = vocabulary_->unknown()) {
      out.push_back(*unknown);
    }
  }
}

std::optional<TokenId> SentencePieceEncoder::find(std::string_view bytes) const {
  return index_.find(escape_spaces(bytes, false));
}

std::int32_t SentencePieceEncoder::unreachable_tokens() const {
  std::int32_t count = 0;
  std::vector<TokenId> ids;
  for (TokenId id = 0; id < vocabulary_->size(); ++id) {
    if (vocabulary_->type(id) != TokenType::normal || !is_piece(id)) continue;
    ids.clear();
    encode_escaped(pieces_[id], ids);
    if (ids.size() != 1 || ids[0] != id) ++count;
  }
  return count;
}

}  // namespace glmhost::tokenizer
