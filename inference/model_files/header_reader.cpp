#include "inference/model_files/header_reader.h"

#include <algorithm>

#include "inference/error.h"
#include "inference/model_files/error_text.h"

namespace glmhost::model_files {
namespace {

constexpr std::size_t kWindowBytes = std::size_t{256} * 1024;

// All metadata and the tensor table together, in memory. The largest real vocabularies take some 60 MB.
constexpr std::uint64_t kMemoryLimit = std::uint64_t{512} << 20;

}  // namespace

HeaderReader::HeaderReader(const ByteSource& source) : source_(source) {
  buffer_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kWindowBytes, source.size())));
}

void HeaderReader::refill(std::size_t wanted) {
  need(wanted);
  window_start_ += at_;
  at_ = 0;
  window_ = {};  // stays empty should the read below throw
  const auto fill = std::min<std::uint64_t>(buffer_.size(), source_.size() - window_start_);
  const std::span<std::byte> target = std::span(buffer_).first(static_cast<std::size_t>(fill));
  source_.read(window_start_, target);
  window_ = target;
}

std::string HeaderReader::string(std::uint64_t shortest, std::uint64_t longest, std::string_view what) {
  const auto length = number<std::uint64_t>();
  if (length > longest) {
    fail("says that " + std::string(what) + " is " + byte_count(length) + " long, and at most " + grouped(longest) +
         " are allowed");
  }
  if (length < shortest) fail("has no text for " + std::string(what));
  need(length);
  charge(length, 1);

  std::string text;
  if (length <= window_.size() - at_) {
    text.assign(reinterpret_cast<const char*>(window_.data() + at_), static_cast<std::size_t>(length));
    at_ += static_cast<std::size_t>(length);
    return text;
  }
  text.resize(static_cast<std::size_t>(length));
  const std::uint64_t start = position();
  source_.read(start, std::as_writable_bytes(std::span(text)));
  window_start_ = start + length;
  window_ = {};
  at_ = 0;
  return text;
}

void HeaderReader::need(std::uint64_t bytes) const {
  if (bytes <= remaining()) return;
  throw Error(ErrorKind::bad_file, source_.name() + " is cut short: it ends inside its header, in the " + place_text() +
                                       ", where at least " + byte_count(bytes - remaining()) +
                                       " more should follow. Download the file again.");
}

void HeaderReader::charge(std::uint64_t count, std::uint64_t bytes_each) {
  if (count <= (kMemoryLimit - charged_) / bytes_each) {
    charged_ += count * bytes_each;
    return;
  }
  fail("brings the header to more than " + grouped(kMemoryLimit >> 20) + " MB of memory, more than any model needs");
}

void HeaderReader::fail(const std::string& problem) const {
  throw Error(ErrorKind::bad_file, source_.name() + " is damaged: the " + place_text() + " " + problem +
                                       ". Download or convert the file again.");
}

void HeaderReader::fail_unsupported(const std::string& sentence_end) const {
  throw Error(ErrorKind::unsupported, source_.name() + ": the " + place_text() + " " + sentence_end);
}

std::string HeaderReader::place_text() const {
  std::string text(place_.thing);
  if (place_.count > 0) text.append(" ").append(grouped(place_.index + 1)).append(" of ").append(grouped(place_.count));
  if (!place_.name.empty()) text.append(" (").append(quoted_text(place_.name)).append(")");
  return text;
}

}  // namespace glmhost::model_files
