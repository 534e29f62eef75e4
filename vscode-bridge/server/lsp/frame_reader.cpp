#include "vscode-bridge/server/lsp/frame_reader.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace glmhost::lsp {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

bool equal_without_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

}  // namespace

std::size_t FrameReader::wanted() const {
  if (state_ == State::header) return 1;
  return static_cast<std::size_t>(std::min<std::uint64_t>(left_, std::uint64_t{1} << 16));
}

std::optional<Frame> FrameReader::fail(std::string sentence) {
  if (std::exchange(lost_, true)) return std::nullopt;
  return FrameError{std::move(sentence)};
}

std::optional<Frame> FrameReader::feed(std::string_view& bytes) {
  while (!bytes.empty()) {
    if (state_ == State::header) {
      const char byte = bytes.front();
      bytes.remove_prefix(1);
      if (auto frame = take_byte(byte)) return frame;
      continue;
    }
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
    if (state_ == State::body) body_.append(bytes.substr(0, size));
    bytes.remove_prefix(size);
    left_ -= size;
    if (left_ > 0) return std::nullopt;
    if (std::exchange(state_, State::header) == State::body) return std::exchange(body_, {});
  }
  return std::nullopt;
}

std::optional<Frame> FrameReader::take_byte(char byte) {
  if (byte == '\n') {
    if (!line_.empty() && line_.back() == '\r') line_.pop_back();
    auto frame = end_line();
    line_.clear();
    line_too_long_ = false;
    return frame;
  }
  if (line_.size() < kMostLineBytes) {
    line_ += byte;
    return std::nullopt;
  }
  line_too_long_ = true;
  return std::nullopt;
}

std::optional<Frame> FrameReader::end_line() {
  if (line_too_long_) {
    return fail("A header line is longer than " + std::to_string(kMostLineBytes) + " bytes; it is passed over.");
  }
  if (line_.empty()) return begin_body();
  any_line_ = true;
  const std::string_view line = line_;
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return fail("A line without a colon stands where a header should be.");
  if (!equal_without_case(trimmed(line.substr(0, colon)), "Content-Length")) return std::nullopt;  // Content-Type
  const auto value = number(trimmed(line.substr(colon + 1)));
  length_ = value;
  if (!value) return fail("Content-Length must be a whole number of bytes.");
  return std::nullopt;
}

std::optional<Frame> FrameReader::begin_body() {
  const std::optional<std::uint64_t> length = std::exchange(length_, std::nullopt);
  if (!std::exchange(any_line_, false)) return std::nullopt;  // line ends between messages do no harm
  if (!length) return fail("A message came without a Content-Length header.");
  left_ = *length;
  if (left_ > kMostBodyBytes) {
    state_ = State::passing_over;
    lost_ = false;
    return FrameError{"A message of " + std::to_string(left_) + " bytes is too large; at most " +
                      std::to_string(kMostBodyBytes) + " are taken."};
  }
  lost_ = false;
  if (left_ == 0) return Frame(std::string());
  state_ = State::body;
  return std::nullopt;
}

}  // namespace glmhost::lsp
