// Reads a GGUF header front to back. Every read checks first that the bytes are there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inference/model_files/byte_source.h"

namespace glmhost::model_files {

// Where in the header the reader is, for the sentence when something is wrong there.
struct HeaderPlace {
  std::string_view thing;   // "metadata entry", "tensor", "header"
  std::uint64_t index = 0;  // 0-based
  std::uint64_t count = 0;  // 0: there is only one of the thing
  std::string_view name;    // once it is known
};

class HeaderReader {
 public:
  explicit HeaderReader(const ByteSource& source);

  std::uint64_t position() const { return window_start_ + at_; }
  std::uint64_t remaining() const { return source_.size() - position(); }
  void set_place(HeaderPlace place) { place_ = place; }
  void set_name(std::string_view name) { place_.name = name; }

  template <typename Number>
  Number number() {
    Number value;
    if (window_.size() - at_ < sizeof value) refill(sizeof value);
    std::memcpy(&value, window_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

  // A u64 length and as many bytes. Throws when the length is outside [shortest, longest].
  std::string string(std::uint64_t shortest, std::uint64_t longest, std::string_view what);

  // Throws unless `bytes` more bytes are in the file; to be asked before anything of that size is allocated.
  void need(std::uint64_t bytes) const;

  // Charges memory that `count` things of `bytes_each` take once they are read. Throws when the header as a whole would
  // take too much, so that a small file (or a huge sparse one) cannot make the program allocate without bounds.
  void charge(std::uint64_t count, std::uint64_t bytes_each);

  [[noreturn]] void fail(const std::string& problem) const;  // Error(bad_file): "NAME is damaged: PLACE ..."
  [[noreturn]] void fail_unsupported(const std::string& sentence_end) const;

 private:
  void refill(std::size_t wanted);
  std::string place_text() const;

  const ByteSource& source_;
  std::vector<std::byte> buffer_;
  std::span<const std::byte> window_;  // the part of buffer_ that is filled
  std::uint64_t window_start_ = 0;     // where in the file window_ begins
  std::size_t at_ = 0;                 // next byte, in window_
  std::uint64_t charged_ = 0;
  HeaderPlace place_;
};

}  // namespace glmhost::model_files
