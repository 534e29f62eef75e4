#include "inference/constraints/token_trie.h"

#include <algorithm>

#include "inference/constraints/json_text.h"

namespace glmhost::constraints {
namespace {

// Any text, with a count of its characters.
struct AnyTextCursor {
  DfaState state = 0;
  std::uint32_t characters = 0;

  bool step(std::uint8_t byte) { return (state = any_text().step(state, byte)) != kDead; }
  bool reaches(char32_t, char32_t) const { return any_text().accepts(state); }
  bool accepts() const { return any_text().accepts(state); }
  bool begin_character() {
    ++characters;
    return true;
  }
  static bool one_spelling() { return false; }
};

}  // namespace

TokenTrie::TokenTrie(const tokenizer::Tokenizer& tokenizer)
    : TokenTrie(tokenizer.vocabulary_size(),
                [&](std::int32_t id) { return tokenizer.is_control(id) ? std::string_view() : tokenizer.bytes(id); },
                {tokenizer.end_of_generation().begin(), tokenizer.end_of_generation().end()}) {}

TokenTrie::TokenTrie(std::int32_t vocabulary_size, const std::function<std::string_view(std::int32_t)>& bytes_of,
                     std::vector<std::int32_t> end_tokens)
    : end_tokens_(std::move(end_tokens)) {
  std::ranges::sort(end_tokens_);
  std::size_t total = 0;
  for (std::int32_t id = 0; id < vocabulary_size; ++id) {
    if (!is_end_token(id)) total += bytes_of(id).size();
  }
  text_.reserve(total);
  bytes_.resize(static_cast<std::size_t>(vocabulary_size));
  std::vector<std::int32_t> order;
  for (std::int32_t id = 0; id < vocabulary_size; ++id) {
    const std::string_view bytes = is_end_token(id) ? std::string_view() : bytes_of(id);
    if (bytes.empty()) continue;
    bytes_[static_cast<std::size_t>(id)] = {text_.data() + text_.size(), bytes.size()};
    text_.insert(text_.end(), bytes.begin(), bytes.end());
    order.push_back(id);
  }
  build(std::move(order));
  classify_text();
}

bool TokenTrie::is_end_token(std::int32_t id) const {
  return std::ranges::binary_search(end_tokens_, id);
}

void TokenTrie::build(std::vector<std::int32_t> order) {
  std::ranges::sort(order, [&](std::int32_t a, std::int32_t b) {
    const int compared = bytes(a).compare(bytes(b));
    return compared != 0 ? compared < 0 : a < b;
  });
  nodes_.emplace_back();
  std::vector<Node> path = {kRoot};  // path[d]: the node of the current string's first d bytes
  const auto close_down_to = [&](std::size_t depth) {
    while (path.size() - 1 > depth) {
      nodes_[path.back()].after = static_cast<Node>(nodes_.size());
      path.pop_back();
    }
  };
  std::string_view previous;
  for (const std::int32_t id : order) {
    const std::string_view text = bytes(id);
    if (text != previous) {
      close_down_to(static_cast<std::size_t>(std::ranges::mismatch(previous, text).in1 - previous.begin()));
      while (path.size() - 1 < text.size()) {
        Entry entry;
        entry.byte = static_cast<std::uint8_t>(text[path.size() - 1]);
        entry.depth = static_cast<std::int32_t>(path.size());
        entry.tokens = static_cast<std::uint32_t>(node_tokens_.size());
        path.push_back(static_cast<Node>(nodes_.size()));
        nodes_.push_back(entry);
      }
      deepest_ = std::max(deepest_, static_cast<int>(text.size()));
      previous = text;
    }
    node_tokens_.push_back(id);
  }
  close_down_to(0);
  nodes_[kRoot].after = static_cast<Node>(nodes_.size());
  Entry end;
  end.tokens = static_cast<std::uint32_t>(node_tokens_.size());
  nodes_.push_back(end);
}

void TokenTrie::classify_text() {
  const auto last = static_cast<Node>(nodes_.size() - 1);
  within_.assign(kCounts, std::vector<MaskWord>(mask_words(), 0));
  any_text_tokens_.assign(mask_words(), 0);
  struct Place {
    AnyTextCursor cursor;
    Spelling spelling = spelling::kText;
  };
  std::vector<Place> places(static_cast<std::size_t>(deepest_) + 1);
  for (Node node = 1; node < last;) {
    const auto level = static_cast<std::size_t>(depth(node));
    Place place = places[level - 1];
    if (!step_json_text(place.spelling, place.cursor, byte(node))) {
      node = after(node);
      continue;
    }
    const std::uint32_t count = place.cursor.characters;
    if (place.spelling == spelling::kClosed) {
      if (closings_.size() <= count) closings_.resize(count + 1);
      closings_[count].tokens.insert(closings_[count].tokens.end(), tokens(node).begin(), tokens(node).end());
      closings_[count].quotes.push_back(node);
      for (Node child = node + 1; child < after(node); child = after(child)) closings_[count].behind.push_back(child);
      node = after(node);
      continue;
    }
    for (const std::int32_t token : tokens(node)) {
      set_bit(any_text_tokens_, token);
      if (count < kCounts) {
        set_bit(within_[count], token);
      } else {
        longer_.push_back({count, token});
      }
      most_characters_ = std::max(most_characters_, count);
    }
    places[level] = place;
    ++node;
  }
  for (std::size_t count = 1; count < kCounts; ++count) {
    for (std::size_t word = 0; word < mask_words(); ++word) within_[count][word] |= within_[count - 1][word];
  }
  std::ranges::stable_sort(longer_, {}, &LongToken::characters);
  for (Closing& closing : closings_)
    std::ranges::stable_sort(closing.behind, {}, [&](Node node) { return byte(node); });
}

}  // namespace glmhost::constraints
