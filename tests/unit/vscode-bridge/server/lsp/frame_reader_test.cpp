#include "vscode-bridge/server/lsp/frame_reader.h"

#include <doctest/doctest.h>

#include <vector>

using namespace glmhost::lsp;

namespace {

// Everything that comes out of BYTES, fed in pieces of STEP bytes.
std::vector<std::string> read(std::string_view bytes, std::size_t step) {
  FrameReader reader;
  std::vector<std::string> out;
  while (!bytes.empty()) {
    std::string_view piece = bytes.substr(0, step);
    bytes.remove_prefix(piece.size());
    while (!piece.empty()) {
      const auto frame = reader.feed(piece);
      if (!frame) continue;
      if (const auto* body = std::get_if<std::string>(&*frame)) {
        out.push_back(*body);
      } else {
        out.push_back("! " + std::get<FrameError>(*frame).sentence);
      }
    }
  }
  return out;
}

std::vector<std::string> read(std::string_view bytes) {
  const auto whole = read(bytes, bytes.size());
  for (const std::size_t step : {1, 2, 3, 7}) CHECK(read(bytes, step) == whole);
  return whole;
}

using Frames = std::vector<std::string>;

}  // namespace

TEST_CASE("messages come out however their bytes are cut") {
  CHECK(read("Content-Length: 2\r\n\r\n{}Content-Length: 3\r\n\r\n[1]") == Frames{"{}", "[1]"});
  CHECK(read("content-length:2\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n{}") == Frames{"{}"});
  CHECK(read("Content-Length: 2\n\n{}\n\nContent-Length: 0\n\n") == Frames{"{}", ""});
}

TEST_CASE("what is no header is reported once, and the next message is found") {
  const std::string good = "Content-Length: 2\r\n\r\n{}";
  const auto after = [&](const std::string& bad) {
    const Frames frames = read(bad + good);
    REQUIRE(frames.size() == 2);
    CHECK(frames[0].starts_with("! "));
    CHECK(frames[0].back() == '.');
    CHECK(frames[1] == "{}");
  };
  after("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  after("Content-Length: -5\r\n\r\n");
  after("Content-Length: 99999999999999999999999\r\n\r\n");
  after("Content-Length: 1x\r\n\r\n");
  after("Content-Length:\r\n\r\n");
  after("Content-Type: x\r\n\r\n");
  after("\x01\x02\x03\n\n");
  after(std::string(5000, 'x') + "\r\n");
  after(std::string(3, '\0') + "\n");
}

TEST_CASE("a header of a hundred megabytes takes no memory and ends nothing") {
  FrameReader reader;
  int errors = 0;
  const std::string megabyte(1 << 20, 'h');
  for (int i = 0; i < 100; ++i) {
    std::string_view piece = megabyte;
    while (!piece.empty()) errors += reader.feed(piece) ? 1 : 0;
  }
  std::string_view end = "\r\nContent-Length: 1\r\n\r\n7";
  std::optional<Frame> last;
  while (!end.empty()) {
    if (auto frame = reader.feed(end)) {
      last = std::move(frame);
      errors += std::holds_alternative<FrameError>(*last) ? 1 : 0;
    }
  }
  CHECK(errors == 1);
  REQUIRE(last.has_value());
  CHECK(std::get<std::string>(*last) == "7");
}

TEST_CASE("a body that is too large is passed over without being kept") {
  const std::uint64_t size = FrameReader::kMostBodyBytes + 1;
  FrameReader reader;
  const std::string header = "Content-Length: " + std::to_string(size) + "\r\n\r\n";
  std::string_view bytes = header;
  const auto error = reader.feed(bytes);
  REQUIRE(error.has_value());
  CHECK(std::holds_alternative<FrameError>(*error));
  const std::string megabyte(1 << 20, ' ');
  for (std::uint64_t left = size; left > 0;) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left, megabyte.size()));
    CHECK(reader.wanted() <= left);
    std::string_view piece = std::string_view(megabyte).substr(0, count);
    CHECK_FALSE(reader.feed(piece).has_value());
    left -= count;
  }
  CHECK(reader.wanted() == 1);
  std::string_view good = "Content-Length: 2\r\n\r\n{}";
  CHECK(std::get<std::string>(*reader.feed(good)) == "{}");
}
