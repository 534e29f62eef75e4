// Texts of open documents against a naive reference: a string, and positions counted from the beginning.
#include "vscode-bridge/server/documents/text_buffer.h"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

using namespace glmhost::documents;

namespace {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr int kEdits = 50'000;
#else
constexpr int kEdits = 1'000'000;
#endif
#else
constexpr int kEdits = 1'000'000;
#endif

// The reference knows nothing of the tree: it decodes the text character by character, as the specification says.
struct Reference {
  std::string text;

  static std::size_t units(std::string_view character, PositionEncoding encoding) {
    if (encoding == PositionEncoding::utf8) return character.size();
    if (encoding == PositionEncoding::utf32) return 1;
    return character.size() == 4 ? 2 : 1;
  }

  std::vector<std::size_t> line_begins() const {
    std::vector<std::size_t> begins = {0};
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
      if (text[i] == '\n' || text[i] == '\r') begins.push_back(i + 1);
    }
    return begins;
  }

  std::size_t line_end(std::size_t begin) const {
    while (begin < text.size() && text[begin] != '\n' && text[begin] != '\r') ++begin;
    return begin;
  }

  std::size_t offset(const Position& position, PositionEncoding encoding) const {
    const auto begins = line_begins();
    if (position.line >= begins.size()) return text.size();
    std::size_t at = begins[position.line];
    const std::size_t end = line_end(at);
    std::uint64_t left = position.character;
    while (at < end) {
      std::size_t bytes = 1;
      while (at + bytes < text.size() && (static_cast<unsigned char>(text[at + bytes]) & 0xC0) == 0x80) ++bytes;
      const std::size_t width = units(std::string_view(text).substr(at, bytes), encoding);
      if (left < width) break;
      left -= width;
      at += bytes;
    }
    return at;
  }

  Position position(std::size_t offset, PositionEncoding encoding) const {
    const auto begins = line_begins();
    std::size_t line = 0;
    while (line + 1 < begins.size() && begins[line + 1] <= offset) ++line;
    std::size_t units_before = 0;
    for (std::size_t at = begins[line]; at < offset;) {
      std::size_t bytes = 1;
      while (at + bytes < text.size() && (static_cast<unsigned char>(text[at + bytes]) & 0xC0) == 0x80) ++bytes;
      units_before += units(std::string_view(text).substr(at, bytes), encoding);
      at += bytes;
    }
    return {line, units_before};
  }
};

const std::vector<std::string> kPieces = {"a",
                                          "b",
                                          " ",
                                          "\n",
                                          "\r\n",
                                          "\r",
                                          "é",
                                          "表",
                                          "\xF0\x9F\x98\x80",
                                          "    ",
                                          "\tx;",
                                          "}\r\n",
                                          "\xF0\x9F\x91\x8D\xF0\x9F\x8F\xBD",
                                          "def"};
constexpr PositionEncoding kEncodings[] = {PositionEncoding::utf8, PositionEncoding::utf16, PositionEncoding::utf32};

using Random = std::mt19937_64;

std::string some_text(Random& random, std::size_t pieces) {
  std::string text;
  for (std::size_t i = random() % (pieces + 1); i > 0; --i) text += kPieces[random() % kPieces.size()];
  return text;
}

std::size_t boundary(const std::string& text, std::size_t offset) {
  while (offset > 0 && offset < text.size() && (static_cast<unsigned char>(text[offset]) & 0xC0) == 0x80) --offset;
  return offset;
}

void check_positions(const TextBuffer& buffer, const Reference& reference, Random& random) {
  const auto encoding = kEncodings[random() % 3];
  const auto begins = reference.line_begins();
  REQUIRE(buffer.lines() == begins.size());
  const std::size_t line = random() % begins.size();
  REQUIRE(buffer.line_begin(line) == begins[line]);
  REQUIRE(buffer.line_end(line) == reference.line_end(begins[line]));
  const Position position{random() % (begins.size() + 2), random() % 40};
  REQUIRE(buffer.offset(position, encoding) == reference.offset(position, encoding));
  const std::size_t offset = boundary(reference.text, random() % (reference.text.size() + 1));
  REQUIRE(buffer.position(offset, encoding) == reference.position(offset, encoding));
}

}  // namespace

TEST_CASE("random edits and positions agree with a string") {
  Random random(8);
  TextBuffer buffer;
  Reference reference;
  for (int edit = 0; edit < kEdits; ++edit) {
    const std::size_t size = reference.text.size();
    const auto encoding = kEncodings[random() % 3];
    // Ranges as an editor gives them, some beyond the text's ends, and some inside a character.
    std::size_t begin = random() % (size + 1);
    std::size_t end = std::min(size, begin + random() % 12);
    if (random() % 64 == 0) begin = 0;
    if (random() % 256 == 0) end = size;
    if (random() % 4 == 0) {
      const Position a{random() % 20, random() % 30};
      begin = reference.offset(a, encoding);
      REQUIRE(buffer.offset(a, encoding) == begin);
      end = std::min(size, begin + random() % 30);
    }
    std::string text = some_text(random, random() % 200 == 0 ? 900 : 4);
    if (size > 3000) end = std::min(size, begin + 1500);  // small enough for the reference
    buffer.replace(begin, end, text);
    const std::size_t from = boundary(reference.text, begin);
    const std::size_t to = std::max(from, boundary(reference.text, end));
    reference.text.replace(from, to - from, text);
    REQUIRE(buffer.size() == reference.text.size());
    if (edit % 16 == 0) check_positions(buffer, reference, random);
    if (edit % 1024 == 0) REQUIRE(buffer.text() == reference.text);
  }
  CHECK(buffer.text() == reference.text);
}

TEST_CASE("a text far larger than its pieces, edited all over") {
  Random random(9);
  std::string text;
  while (text.size() < 300'000) text += some_text(random, 30);
  TextBuffer buffer(text);
  Reference reference{text};
  for (int i = 0; i < 300; ++i) {
    const std::size_t begin = boundary(reference.text, random() % (reference.text.size() + 1));
    const std::size_t end = boundary(reference.text, std::min(reference.text.size(), begin + random() % 5000));
    const std::string inserted = some_text(random, 600);
    buffer.replace(end, begin, inserted);  // in the wrong order: the same range
    reference.text.replace(begin, end - begin, inserted);
    if (i % 10 == 0) check_positions(buffer, reference, random);
  }
  REQUIRE(buffer.text() == reference.text);
  for (int i = 0; i < 50; ++i) {
    const std::size_t begin = random() % (text.size() + 1);
    const std::size_t size = random() % 10'000;
    CHECK(buffer.text(begin, begin + size) ==
          (begin <= reference.text.size() ? reference.text.substr(begin, size) : std::string()));
  }
}

TEST_CASE("line ends meet across an edit") {
  TextBuffer buffer("a\rb");
  CHECK(buffer.lines() == 2);
  buffer.replace(2, 2, "\n");
  CHECK(buffer.lines() == 2);
  CHECK(buffer.text() == "a\r\nb");
  CHECK(buffer.line_begin(1) == 3);
  CHECK(buffer.line_end(0) == 1);
  buffer.replace(2, 2, "x");
  CHECK(buffer.lines() == 3);
  CHECK(buffer.line_end(1) == 3);
}

TEST_CASE("line ends that meet where two pieces do") {
  // Pieces of a new text have 1024 bytes.
  const TextBuffer buffer(std::string(1023, 'x') + "\r\n" + std::string(1022, 'y') + "\r\nz");
  CHECK(buffer.lines() == 3);
  CHECK(buffer.line_begin(1) == 1025);
  CHECK(buffer.line_end(0) == 1023);
  CHECK(buffer.position(1024, PositionEncoding::utf16) == Position{0, 1024});
  CHECK(buffer.position(1025, PositionEncoding::utf16) == Position{1, 0});
  CHECK(buffer.offset({1, 5}, PositionEncoding::utf16) == 1030);
}

TEST_CASE("columns: past the end of a line, inside a pair of surrogates, and far too large") {
  const TextBuffer buffer("a\xF0\x9F\x98\x80z\r\nb");
  CHECK(buffer.offset({0, 1}, PositionEncoding::utf16) == 1);
  CHECK(buffer.offset({0, 2}, PositionEncoding::utf16) == 1);  // half of the pair
  CHECK(buffer.offset({0, 3}, PositionEncoding::utf16) == 5);
  CHECK(buffer.offset({0, 2}, PositionEncoding::utf32) == 5);
  CHECK(buffer.offset({0, 3}, PositionEncoding::utf8) == 1);
  CHECK(buffer.offset({0, 99}, PositionEncoding::utf16) == 6);
  CHECK(buffer.offset({0, ~std::uint64_t{0}}, PositionEncoding::utf32) == 6);
  CHECK(buffer.offset({~std::uint64_t{0}, ~std::uint64_t{0}}, PositionEncoding::utf16) == 9);
  CHECK(TextBuffer().offset({3, 3}, PositionEncoding::utf16) == 0);
  CHECK(TextBuffer().lines() == 1);
  CHECK(TextBuffer().position(5, PositionEncoding::utf16) == Position{0, 0});
}

TEST_CASE("ten megabytes in one line are edited like any other text") {
  std::string line(10'000'000, 'x');
  TextBuffer buffer(line);
  for (int i = 0; i < 20'000; ++i) buffer.replace(5'000'000 + i, 5'000'000 + i, "表");
  CHECK(buffer.lines() == 1);
  CHECK(buffer.size() == 10'060'000);
  CHECK(buffer.position(buffer.size(), PositionEncoding::utf16) == Position{0, 10'020'000});
}
