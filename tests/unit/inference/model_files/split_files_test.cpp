#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <string>

#include "inference/model_files/shard_name.h"
#include "tests/unit/inference/model_files/refusal.h"

namespace glmhost::model_files {
namespace {

std::string shard_file(std::size_t number, std::size_t count) {
  std::array<char, 64> name;
  std::snprintf(name.data(), name.size(), "model-%05zu-of-%05zu.gguf", number, count);
  return name.data();
}

// Part `number` (0-based) of a set of three, holding tensors tNa and tNb with the values 10 N and 10 N + 1.
GgufWriter shard(std::uint16_t number, std::uint16_t count = 3, std::int32_t tensors = 6) {
  GgufWriter writer;
  if (number == 0) writer.text("general.architecture", "llama").u32("llama.block_count", 7);
  writer.number("split.no", kU16, number).number("split.count", kU16, count);
  writer.number("split.tensors.count", kI32, tensors);
  const std::string name = numbered("t", number);
  const auto value = static_cast<float>(10 * number);
  writer.f32_tensor(name + "a", {value}).f32_tensor(name + "b", {value + 1});
  return writer;
}

void write_set(const TemporaryFolder& folder) {
  for (std::uint16_t i = 0; i < 3; ++i) folder.write(shard_file(i + 1u, 3), shard(i).bytes());
}

}  // namespace

TEST_CASE("shard names are parsed and made") {
  const auto name = parse_shard_name("/a b/GLM-4.5-00002-of-00010.gguf");
  REQUIRE(name);
  CHECK(name->number == 2);
  CHECK(name->count == 10);
  CHECK(name->sibling(10) == std::filesystem::path("/a b/GLM-4.5-00010-of-00010.gguf"));
  CHECK(name->sibling(1) == std::filesystem::path("/a b/GLM-4.5-00001-of-00010.gguf"));
  CHECK(parse_shard_name(u8"模型-00001-of-00002.gguf")->sibling(2) ==
        std::filesystem::path(u8"模型-00002-of-00002.gguf"));
  for (const char* other :
       {"x.gguf", "x-1-of-2.gguf", "x-00003-of-00002.gguf", "x-00000-of-00002.gguf", "", "x-00001-of-00002.bin",
        "x-0000a-of-00002.gguf", "x-00001-to-00002.gguf", "x-00001-of-00002.gguf.part"}) {
    INFO(other);
    CHECK(!parse_shard_name(other));
  }
}

TEST_CASE("a split model opens as one") {
  const TemporaryFolder folder;
  write_set(folder);
  const GgufFile file = GgufFile::open(folder.path() / shard_file(1, 3));
  CHECK(file.path() == folder.path() / shard_file(1, 3));
  CHECK(file.get_unsigned("llama.block_count") == 7u);
  REQUIRE(file.tensors().size() == 6);
  std::uint64_t bytes = 0;
  for (std::uint16_t i = 0; i < 3; ++i) bytes += shard(i).bytes().size();
  CHECK(file.file_bytes() == bytes);
  for (std::uint16_t i = 0; i < 3; ++i) {
    const TensorInfo* tensor = file.find_tensor(numbered("t", i) + "b");
    REQUIRE(tensor);
    CHECK(tensor->shard == i);
    float value = -1;
    file.read(*tensor, 0, std::as_writable_bytes(std::span(&value, 1)));
    CHECK(value == static_cast<float>(10 * i + 1));
  }
}

TEST_CASE("the first part may hold no tensors, and the total may be left out") {
  const TemporaryFolder folder;
  GgufWriter first;
  first.text("general.architecture", "llama").number<std::uint16_t>("split.no", kU16, 0);
  first.number<std::uint16_t>("split.count", kU16, 2);
  GgufWriter second;
  second.number<std::uint16_t>("split.no", kU16, 1).number<std::uint16_t>("split.count", kU16, 2);
  second.f32_tensor("a", {5});
  folder.write(shard_file(1, 2), first.bytes());
  folder.write(shard_file(2, 2), second.bytes());
  const GgufFile file = GgufFile::open(folder.path() / shard_file(1, 2));
  REQUIRE(file.tensors().size() == 1);
  CHECK(file.tensors()[0].shard == 1);
}

TEST_CASE("a set of one part is a whole model under any name") {
  const TemporaryFolder folder;
  CHECK(GgufFile::open(folder.write("whole.gguf", shard(0, 1, 2).bytes())).tensors().size() == 2);
}

TEST_CASE("a missing part is named") {
  const TemporaryFolder folder;
  write_set(folder);
  std::filesystem::remove(folder.path() / shard_file(3, 3));
  check_refused([&] { GgufFile::open(folder.path() / shard_file(1, 3)); }, ErrorKind::not_found,
                {"Part 3 of 3", shard_file(3, 3), "one folder"});
}

TEST_CASE("another part than the first sends the user to the first") {
  const TemporaryFolder folder;
  write_set(folder);
  check_refused([&] { GgufFile::open(folder.path() / shard_file(2, 3)); }, ErrorKind::bad_file,
                {"part 2 of 3", "open the first part", shard_file(1, 3)});
}

TEST_CASE("renamed parts are refused with the name they need") {
  const TemporaryFolder folder;
  for (const char* name : {"renamed.gguf", "model-00001-of-00002.gguf", "model-00002-of-00003.gguf"}) {
    INFO(name);
    const auto path = folder.write(name, shard(0).bytes());
    check_refused([&] { GgufFile::open(path); }, ErrorKind::bad_file, {name, "part 1 of 3", "original names"});
  }
  check_bytes_refused(shard(0).bytes(), ErrorKind::bad_file, {"x.gguf", "split model"});
}

TEST_CASE("parts of different sets are refused") {
  const TemporaryFolder folder;
  write_set(folder);
  const auto open = [&] { GgufFile::open(folder.path() / shard_file(1, 3)); };
  // The right number of another set, the same part twice, a whole model, a set with another number of tensors.
  folder.write(shard_file(2, 3), shard(1, 4).bytes());
  check_refused(open, ErrorKind::bad_file, {shard_file(2, 3), "part 2 of 3", "\"split.count\" 4"});
  folder.write(shard_file(2, 3), shard(0).bytes());
  check_refused(open, ErrorKind::bad_file, {shard_file(2, 3), "part 2 of 3", "\"split.no\" 0"});
  folder.write(shard_file(2, 3), small_model().bytes());
  check_refused(open, ErrorKind::bad_file, {shard_file(2, 3), "part 2 of 3"});
  folder.write(shard_file(2, 3), shard(1).f32_tensor("extra", {1}).bytes());
  check_refused(open, ErrorKind::bad_file, {"6 tensors", "7 together"});
  GgufWriter repeated = shard(1);
  repeated.f32_tensor("t0a", {1});
  folder.write(shard_file(1, 3), shard(0, 3, 7).bytes());
  folder.write(shard_file(2, 3), repeated.bytes());
  check_refused(open, ErrorKind::bad_file, {shard_file(2, 3), "\"t0a\"", "twice"});
}

TEST_CASE("damage in any part names that part") {
  const TemporaryFolder folder;
  write_set(folder);
  Bytes cut = shard(2).bytes();
  cut.resize(cut.size() - 3);
  folder.write(shard_file(3, 3), cut);
  check_refused([&] { GgufFile::open(folder.path() / shard_file(1, 3)); }, ErrorKind::bad_file,
                {shard_file(3, 3), "cut short", "3 bytes"});
  folder.write(shard_file(3, 3), "<html>");
  check_refused([&] { GgufFile::open(folder.path() / shard_file(1, 3)); }, ErrorKind::bad_file,
                {shard_file(3, 3), "web page"});
}

TEST_CASE("impossible split numbers are refused") {
  const TemporaryFolder folder;
  check_refused([&] { GgufFile::open(folder.write("a.gguf", shard(0, 0).bytes())); }, ErrorKind::bad_file,
                {"split.count"});
  check_refused([&] { GgufFile::open(folder.write("a.gguf", shard(3, 3).bytes())); }, ErrorKind::bad_file,
                {"\"split.no\" is 3"});
  check_refused([&] { GgufFile::open(folder.write(shard_file(1, 600), shard(0, 600).bytes())); },
                ErrorKind::unsupported, {"600 parts", "merge"});
  GgufWriter huge;
  huge.number("split.no", kU64, ~std::uint64_t{0}).number("split.count", kU64, ~std::uint64_t{0});
  check_refused([&] { GgufFile::open(folder.write("a.gguf", huge.bytes())); }, ErrorKind::bad_file, {"split.no"});
  GgufWriter text;
  text.text("split.count", "3");
  check_refused([&] { GgufFile::open(folder.write("a.gguf", text.bytes())); }, ErrorKind::bad_file,
                {"split.count", "a text"});
}

}  // namespace glmhost::model_files
