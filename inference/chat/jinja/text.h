// Text that remembers, for each of its characters, who wrote it.
//
// A template mixes its own words with those of a request. Only its own may become special tokens, so every operation
// that makes text out of text keeps the origin of each character it takes over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace glmhost::jinja {

enum class Origin : std::uint8_t {
  own,            // the template's: markers in it become their tokens
  given,          // the request's
  final_content,  // the request's, and of these the content of the last message
};

// UTF-8. A byte that belongs to no valid character counts as a character of its own. Positions are in bytes.
class Text {
 public:
  struct Run {
    std::size_t end;  // it begins where the run before it ends
    Origin origin;
  };

  Text() = default;
  Text(std::string_view bytes, Origin origin) { append(bytes, origin); }

  const std::string& bytes() const { return bytes_; }
  std::size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  const std::vector<Run>& runs() const { return runs_; }
  Origin origin_at(std::size_t position) const;  // position < size()
  bool has_given() const;                        // anything that is not the template's own

  Text& append(std::string_view bytes, Origin origin);
  Text& append(const Text& other) { return append(other, 0, other.size()); }
  Text& append(const Text& other, std::size_t begin, std::size_t end);
  Text slice(std::size_t begin, std::size_t end) const;

 private:
  std::string bytes_;
  std::vector<Run> runs_;  // neighbours differ; the last one ends at size()
};

// --- characters of UTF-8

std::size_t character_bytes(std::string_view text, std::size_t position);  // 1 to 4; position < text.size()
char32_t character(std::string_view text, std::size_t position);           // U+FFFD for a byte that is none
void append_utf8(std::string& out, char32_t c);
std::size_t count_characters(std::string_view text);
// Where the character with this number begins; text.size() when there are not so many.
std::size_t character_offset(std::string_view text, std::size_t number);

// --- what Python's str does; the results keep their origins

Text strip(const Text& text, bool left, bool right);                               // white space
Text strip(const Text& text, std::string_view characters, bool left, bool right);  // any of these characters
Text to_upper(const Text& text);
Text to_lower(const Text& text);
Text to_title(const Text& text);        // a capital behind everything that is no letter
Text to_capitalized(const Text& text);  // one capital, the rest small

}  // namespace glmhost::jinja
