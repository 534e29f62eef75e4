// LSP's framing: header lines, an empty line, a body of Content-Length bytes.
//
// Nothing that comes in is trusted: a header is as long as it may be and no longer, a body that is too large is passed
// over without being kept, and after bytes that are no header the reader looks for the next Content-Length line, so
// that one damaged message does not end the conversation. Each such place is reported once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace glmhost::lsp {

struct FrameError {
  std::string sentence;
};

using Frame = std::variant<std::string, FrameError>;  // a body, or what is wrong

class FrameReader {
 public:
  static constexpr std::size_t kMostLineBytes = 1024;
  static constexpr std::uint64_t kMostBodyBytes = std::uint64_t{128} << 20;

  // How many bytes may be read without going past the end of what is being read: 1 within a header.
  std::size_t wanted() const;

  // Takes bytes from the front of BYTES, up to the end of a message, and removes them. Returns a message, an error, or
  // nothing when more bytes are needed: call it until BYTES is empty.
  std::optional<Frame> feed(std::string_view& bytes);

 private:
  std::optional<Frame> take_byte(char byte);
  std::optional<Frame> end_line();
  std::optional<Frame> begin_body();
  std::optional<Frame> fail(std::string sentence);

  enum class State { header, body, passing_over };
  State state_ = State::header;
  std::string line_;
  bool line_too_long_ = false;
  bool lost_ = false;  // reported, and no good header since
  bool any_line_ = false;
  std::optional<std::uint64_t> length_;
  std::uint64_t left_ = 0;  // of the body
  std::string body_;
};

}  // namespace glmhost::lsp
