#include "vscode-bridge/server/documents/text_buffer.h"

#include <algorithm>
#include <utility>

namespace glmhost::documents {
namespace {

constexpr std::size_t kPieceBytes = 1024;  // of a new piece
constexpr std::size_t kMostBytes = 2048;   // that a piece may grow to

std::size_t previous_boundary(std::string_view text, std::size_t offset) {
  while (offset > 0 && offset < text.size() && is_continuation(text[offset])) --offset;
  return offset;
}

std::size_t count(const TextSummary& sum, PositionEncoding encoding) {
  switch (encoding) {
    case PositionEncoding::utf8:
      return sum.bytes;
    case PositionEncoding::utf16:
      return sum.units;
    case PositionEncoding::utf32:
      return sum.characters;
  }
  return sum.bytes;
}

std::size_t units_of(char lead, PositionEncoding encoding) {
  switch (encoding) {
    case PositionEncoding::utf8:
      return character_bytes(lead);
    case PositionEncoding::utf16:
      return static_cast<unsigned char>(lead) >= 0xF0 ? 2 : 1;
    case PositionEncoding::utf32:
      return 1;
  }
  return 1;
}

// Line ends in a stretch before which nothing and behind which NEXT_IS_LF matters.
std::size_t line_ends(const TextSummary& sum, bool next_is_lf) {
  return sum.line_ends - (sum.ends_with_cr && next_is_lf ? 1 : 0);
}

// Behind line end number NUMBER (from 1) of the piece.
std::size_t behind_line_end(std::string_view piece, std::size_t number, bool next_is_lf) {
  for (std::size_t i = 0; i < piece.size(); ++i) {
    const bool followed_by_lf = i + 1 < piece.size() ? piece[i + 1] == '\n' : next_is_lf;
    const bool ends = piece[i] == '\n' || (piece[i] == '\r' && !followed_by_lf);
    if (ends && --number == 0) return i + 1;
  }
  return piece.size();
}

}  // namespace

std::string_view name(PositionEncoding encoding) {
  switch (encoding) {
    case PositionEncoding::utf8:
      return "utf-8";
    case PositionEncoding::utf16:
      return "utf-16";
    case PositionEncoding::utf32:
      return "utf-32";
  }
  return "utf-16";
}

struct TextBuffer::Node {
  Node(std::string piece, std::uint64_t random) : text(std::move(piece)), own(summarize(text)), priority(random) {
    all = own;
  }
  std::string text;  // never empty
  TextSummary own;
  TextSummary all;  // of the whole subtree
  std::uint64_t priority;
  Tree left, right;
};

TextBuffer::TextBuffer() = default;
TextBuffer::TextBuffer(std::string_view text) {
  root_ = build(text);
}
TextBuffer::~TextBuffer() = default;
TextBuffer::TextBuffer(TextBuffer&&) noexcept = default;
TextBuffer& TextBuffer::operator=(TextBuffer&&) noexcept = default;

const TextSummary& TextBuffer::summary(const Tree& tree) {
  static constexpr TextSummary kEmpty;
  return tree ? tree->all : kEmpty;
}

void TextBuffer::update(Node& node) {
  node.all = summary(node.left) + node.own + summary(node.right);
}

TextBuffer::Tree TextBuffer::merge(Tree left, Tree right) {
  if (!left) return right;
  if (!right) return left;
  if (left->priority > right->priority) {
    left->right = merge(std::move(left->right), std::move(right));
    update(*left);
    return left;
  }
  right->left = merge(std::move(left), std::move(right->left));
  update(*right);
  return right;
}

void TextBuffer::split(Tree tree, std::size_t offset, Tree& left, Tree& right) {
  if (!tree) {
    left = nullptr;
    right = nullptr;
    return;
  }
  const std::size_t begin = summary(tree->left).bytes;
  const std::size_t end = begin + tree->text.size();
  if (offset <= begin) {
    Tree inner;
    split(std::move(tree->left), offset, left, inner);
    tree->left = std::move(inner);
    update(*tree);
    right = std::move(tree);
  } else if (offset >= end) {
    Tree inner;
    split(std::move(tree->right), offset - end, inner, right);
    tree->right = std::move(inner);
    update(*tree);
    left = std::move(tree);
  } else {
    // The rest of the piece becomes a node of its own, as high as the one it comes from.
    auto rest = std::make_unique<Node>(tree->text.substr(offset - begin), tree->priority);
    rest->right = std::move(tree->right);
    update(*rest);
    tree->text.resize(offset - begin);
    tree->own = summarize(tree->text);
    update(*tree);
    left = std::move(tree);
    right = std::move(rest);
  }
}

std::string TextBuffer::take_last(Tree& tree) {
  if (!tree) return {};
  if (tree->right) {
    std::string text = take_last(tree->right);
    update(*tree);
    return text;
  }
  std::string text = std::move(tree->text);
  tree = std::move(tree->left);
  return text;
}

std::string TextBuffer::take_first(Tree& tree) {
  if (!tree) return {};
  if (tree->left) {
    std::string text = take_first(tree->left);
    update(*tree);
    return text;
  }
  std::string text = std::move(tree->text);
  tree = std::move(tree->right);
  return text;
}

// Where the edit lies in one piece that does not become too large or empty by it: what typing is.
bool TextBuffer::edit_in_place(Node& node, std::size_t begin, std::size_t end, std::string_view text) {
  const std::size_t own_begin = summary(node.left).bytes;
  const std::size_t own_end = own_begin + node.text.size();
  bool edited = false;
  if (begin >= own_begin && end <= own_end) {
    const std::size_t size = node.text.size() - (end - begin) + text.size();
    if (size == 0 || size > kMostBytes) return false;
    node.text.replace(begin - own_begin, end - begin, text);
    node.own = summarize(node.text);
    edited = true;
  } else if (end <= own_begin) {
    edited = node.left && edit_in_place(*node.left, begin, end, text);
  } else if (begin >= own_end) {
    edited = node.right && edit_in_place(*node.right, begin - own_end, end - own_end, text);
  }
  if (edited) update(node);
  return edited;
}

TextBuffer::Tree TextBuffer::build(std::string_view text) {
  Tree tree;
  while (!text.empty()) {
    const std::size_t size = previous_boundary(text, std::min(text.size(), kPieceBytes));
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    tree = merge(std::move(tree), std::make_unique<Node>(std::string(text.substr(0, size)), random_));
    text.remove_prefix(size);
  }
  return tree;
}

std::size_t TextBuffer::size() const {
  return summary(root_).bytes;
}

std::size_t TextBuffer::lines() const {
  return summary(root_).line_ends + 1;
}

void TextBuffer::append(const Node* node, std::size_t begin, std::size_t end, std::string& out) {
  if (node == nullptr || begin >= end) return;
  const std::size_t own_begin = summary(node->left).bytes;
  const std::size_t own_end = own_begin + node->text.size();
  if (begin < own_begin) append(node->left.get(), begin, std::min(end, own_begin), out);
  const std::size_t from = std::max(begin, own_begin);
  const std::size_t to = std::min(end, own_end);
  if (from < to) out.append(node->text, from - own_begin, to - from);
  if (end > own_end) append(node->right.get(), std::max(begin, own_end) - own_end, end - own_end, out);
}

std::string TextBuffer::text() const {
  return text(0, size());
}

std::string TextBuffer::text(std::size_t begin, std::size_t end) const {
  std::string out;
  end = std::min(end, size());
  if (begin >= end) return out;
  out.reserve(end - begin);
  append(root_.get(), begin, end, out);
  return out;
}

char TextBuffer::byte_at(std::size_t offset) const {
  const Node* node = root_.get();
  while (true) {
    const std::size_t begin = summary(node->left).bytes;
    if (offset < begin) {
      node = node->left.get();
    } else if (offset < begin + node->text.size()) {
      return node->text[offset - begin];
    } else {
      offset -= begin + node->text.size();
      node = node->right.get();
    }
  }
}

std::size_t TextBuffer::character_begin(std::size_t offset) const {
  offset = std::min(offset, size());
  while (offset > 0 && offset < size() && is_continuation(byte_at(offset))) --offset;
  return offset;
}

std::size_t TextBuffer::line_begin(std::size_t line) const {
  if (line == 0) return 0;
  std::size_t base = 0;
  bool next_is_lf = false;
  for (const Node* node = root_.get(); node != nullptr;) {
    const std::size_t left = line_ends(summary(node->left), node->own.begins_with_lf);
    if (line <= left) {
      next_is_lf = node->own.begins_with_lf;
      node = node->left.get();
      continue;
    }
    line -= left;
    base += summary(node->left).bytes;
    const bool behind = node->right ? node->right->all.begins_with_lf : next_is_lf;
    const std::size_t own = line_ends(node->own, behind);
    if (line <= own) return base + behind_line_end(node->text, line, behind);
    line -= own;
    base += node->text.size();
    node = node->right.get();
  }
  return base;
}

std::size_t TextBuffer::line_end(std::size_t line) const {
  if (line + 1 >= lines()) return size();
  std::size_t end = line_begin(line + 1);
  if (byte_at(end - 1) == '\n') {
    --end;
    if (end > 0 && byte_at(end - 1) == '\r') --end;
    return end;
  }
  return end - 1;
}

TextSummary TextBuffer::before(std::size_t offset) const {
  TextSummary sum;
  for (const Node* node = root_.get(); node != nullptr;) {
    const std::size_t begin = summary(node->left).bytes;
    if (offset < begin) {
      node = node->left.get();
      continue;
    }
    sum = sum + summary(node->left);
    offset -= begin;
    if (offset < node->text.size()) return sum + summarize(std::string_view(node->text).substr(0, offset));
    sum = sum + node->own;
    offset -= node->text.size();
    node = node->right.get();
  }
  return sum;
}

// Where the character begins that holds unit number UNIT (from 0) of the whole text.
std::size_t TextBuffer::offset_of_unit(std::size_t unit, PositionEncoding encoding) const {
  std::size_t base = 0;
  for (const Node* node = root_.get(); node != nullptr;) {
    const std::size_t left = count(summary(node->left), encoding);
    if (unit < left) {
      node = node->left.get();
      continue;
    }
    unit -= left;
    base += summary(node->left).bytes;
    const std::size_t own = count(node->own, encoding);
    if (unit < own) {
      for (std::size_t i = 0; i < node->text.size();) {
        const std::size_t units = units_of(node->text[i], encoding);
        if (unit < units) return base + i;
        unit -= units;
        i += character_bytes(node->text[i]);
      }
    }
    unit -= own;
    base += node->text.size();
    node = node->right.get();
  }
  return base;
}

std::size_t TextBuffer::offset(const Position& position, PositionEncoding encoding) const {
  if (position.line >= lines()) return size();
  const std::size_t begin = line_begin(position.line);
  const std::size_t end = line_end(position.line);
  if (position.character >= end - begin) {
    // No encoding has more units than there are bytes.
    return end;
  }
  const std::size_t unit = count(before(begin), encoding) + position.character;
  return std::min(end, offset_of_unit(unit, encoding));
}

Position TextBuffer::position(std::size_t offset, PositionEncoding encoding) const {
  offset = character_begin(offset);
  const TextSummary sum = before(offset);
  const bool next_is_lf = offset < size() && byte_at(offset) == '\n';
  const std::size_t line = line_ends(sum, next_is_lf);
  return {line, count(sum, encoding) - count(before(line_begin(line)), encoding)};
}

void TextBuffer::replace(std::size_t begin, std::size_t end, std::string_view text) {
  if (begin > end) std::swap(begin, end);
  begin = character_begin(begin);
  end = character_begin(end);
  if (begin == end && text.empty()) return;
  if (root_ && edit_in_place(*root_, begin, end, text)) return;
  Tree left, middle, right;
  split(std::move(root_), end, middle, right);
  split(std::move(middle), begin, left, middle);
  // With the pieces next to the edit, so that small ones do not pile up.
  const std::string joined = take_last(left) + std::string(text) + take_first(right);
  root_ = merge(merge(std::move(left), build(joined)), std::move(right));
}

}  // namespace glmhost::documents
