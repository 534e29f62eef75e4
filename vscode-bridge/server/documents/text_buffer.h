// The text of an open document: a balanced tree (a treap) of pieces of one to two kilobytes, each node with the summary
// of all below it. Edits, and positions in every encoding that LSP knows, cost O(log n) and a look into one piece, also
// where a line has megabytes. Nothing is normalised: line ends stay as they are.
//
// Text is valid UTF-8 (JSON is). Offsets are in bytes and lie between characters; positions that do not are moved to
// the character's beginning. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "vscode-bridge/server/documents/text_summary.h"

namespace glmhost::documents {

enum class PositionEncoding { utf8, utf16, utf32 };
std::string_view name(PositionEncoding encoding);  // "utf-16"

struct Position {
  std::uint64_t line = 0;
  std::uint64_t character = 0;  // in units of the encoding

  bool operator==(const Position&) const = default;
};

class TextBuffer {
 public:
  TextBuffer();
  explicit TextBuffer(std::string_view text);
  ~TextBuffer();
  TextBuffer(TextBuffer&&) noexcept;
  TextBuffer& operator=(TextBuffer&&) noexcept;

  std::size_t size() const;
  std::size_t lines() const;  // at least 1

  std::string text() const;
  std::string text(std::size_t begin, std::size_t end) const;  // clamped to the text

  // Of a line that exists. The end is where its line end begins.
  std::size_t line_begin(std::size_t line) const;
  std::size_t line_end(std::size_t line) const;

  // A column past the end of its line is the line's end, a line past the last one is the text's end.
  std::size_t offset(const Position& position, PositionEncoding encoding) const;
  Position position(std::size_t offset, PositionEncoding encoding) const;

  // Puts TEXT in the place of [begin, end). Both are clamped and may come in either order.
  void replace(std::size_t begin, std::size_t end, std::string_view text);

  // The nearest beginning of a character at or before OFFSET.
  std::size_t character_begin(std::size_t offset) const;

 private:
  struct Node;
  using Tree = std::unique_ptr<Node>;

  static const TextSummary& summary(const Tree& tree);
  static void update(Node& node);
  static Tree merge(Tree left, Tree right);
  static void split(Tree tree, std::size_t offset, Tree& left, Tree& right);
  static std::string take_last(Tree& tree);
  static std::string take_first(Tree& tree);
  static bool edit_in_place(Node& node, std::size_t begin, std::size_t end, std::string_view text);
  static void append(const Node* node, std::size_t begin, std::size_t end, std::string& out);

  Tree build(std::string_view text);
  TextSummary before(std::size_t offset) const;
  char byte_at(std::size_t offset) const;
  std::size_t offset_of_unit(std::size_t unit, PositionEncoding encoding) const;

  Tree root_;
  std::uint64_t random_ = 0x9E3779B97F4A7C15;  // priorities: any fixed start will do
};

}  // namespace glmhost::documents
