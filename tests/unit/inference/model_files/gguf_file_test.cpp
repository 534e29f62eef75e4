#include "inference/model_files/gguf_file.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <thread>

#include "tests/unit/inference/model_files/refusal.h"

namespace glmhost::model_files {
namespace {

GgufFile open_bytes(const GgufWriter& writer) {
  return GgufFile::from_bytes(writer.bytes(), "x.gguf");
}

}  // namespace

TEST_CASE("a sound file opens with its metadata and tensors") {
  const TemporaryFolder folder;
  const Bytes bytes = small_model().bytes();
  const auto path = folder.write("model.gguf", bytes);
  const GgufFile file = GgufFile::open(path);

  CHECK(file.path() == path);
  CHECK(file.file_bytes() == bytes.size());
  CHECK(file.architecture() == "llama");
  CHECK(file.keys() == std::vector<std::string>{"general.architecture", "llama.block_count", "llama.rope.freq_base",
                                                "tokenizer.ggml.tokens", "tokenizer.ggml.scores",
                                                "tokenizer.ggml.token_type"});
  CHECK(file.get_unsigned("llama.block_count") == 2u);
  CHECK(file.get_number("llama.rope.freq_base") == 10000.0);
  REQUIRE(file.get_strings("tokenizer.ggml.tokens"));
  CHECK(file.get_strings("tokenizer.ggml.tokens")->at(299) == "token299");
  CHECK(file.get_floats("tokenizer.ggml.scores")->at(2) == -1.0f);
  CHECK(file.get_integers("tokenizer.ggml.token_type")->at(2) == 3);

  REQUIRE(file.tensors().size() == 5);
  const TensorInfo* experts = file.find_tensor("blk.0.ffn_down_exps.weight");
  REQUIRE(experts);
  CHECK(experts == &file.tensors()[4]);
  CHECK(experts->type == TensorType::Q6_K);
  CHECK(experts->dimensions == 3);
  CHECK(experts->columns() == 256);
  CHECK(experts->rows() == 6);
  CHECK(experts->bytes == 6 * 210);
  CHECK(file.find_tensor("blk.0.ffn_down_exps") == nullptr);

  const TensorInfo* norm = file.find_tensor("output_norm.weight");
  REQUIRE(norm);
  std::array<float, 3> values{};
  file.read(*norm, 4, std::as_writable_bytes(std::span(values)));
  CHECK(values == std::array<float, 3>{2, 3, 4});
}

TEST_CASE("tensor data is read from where the file says, to the last byte") {
  const GgufWriter writer = small_model();
  const Bytes bytes = writer.bytes();
  const GgufFile file = open_bytes(writer);
  for (const TensorInfo& tensor : file.tensors()) {
    INFO(tensor.name);
    Bytes data(tensor.bytes);
    file.read(tensor, 0, data);
    CHECK(std::equal(data.begin(), data.end(), bytes.begin() + static_cast<std::ptrdiff_t>(tensor.offset)));
    std::byte last{};
    file.read(tensor, tensor.bytes - 1, {&last, 1});
    CHECK(last == data.back());
    CHECK_NOTHROW(file.read(tensor, tensor.bytes, {}));
    CHECK(tensor.offset % 32 == 0);
  }
  // The last tensor ends the file: nothing was skipped before it.
  CHECK(file.tensors().back().offset + file.tensors().back().bytes == bytes.size());
}

TEST_CASE("reads outside a tensor are refused") {
  const GgufFile file = open_bytes(small_model());
  const TensorInfo& tensor = file.tensors()[0];
  Bytes out(8);
  check_refused([&] { file.read(tensor, 16, out); }, ErrorKind::bad_argument, {"output_norm.weight", "20 bytes"});
  check_refused([&] { file.read(tensor, 21, {}); }, ErrorKind::bad_argument, {"output_norm.weight"});
  check_refused([&] { file.read(tensor, std::numeric_limits<std::uint64_t>::max() - 3, out); }, ErrorKind::bad_argument,
                {"output_norm.weight"});
  TensorInfo foreign = tensor;
  foreign.shard = 1;
  check_refused([&] { file.read(foreign, 0, out); }, ErrorKind::bad_argument, {"another file"});
  foreign.shard = -1;
  check_refused([&] { file.read(foreign, 0, out); }, ErrorKind::bad_argument, {"another file"});
}

TEST_CASE("version 2 reads as version 3 does") {
  GgufWriter writer = small_model();
  writer.version = 2;
  CHECK(open_bytes(writer).tensors().size() == 5);
}

TEST_CASE("a vocabulary-only file has no tensors and needs no data section") {
  GgufWriter writer;
  writer.text("general.architecture", "glm4").texts("tokenizer.ggml.tokens", {"a", "b"});
  const GgufFile file = open_bytes(writer);
  CHECK(file.tensors().empty());
  CHECK(file.get_strings("tokenizer.ggml.tokens")->size() == 2);
}

TEST_CASE("a file without an architecture opens, and says so when asked") {
  const GgufFile file = open_bytes(GgufWriter().u32("other", 1));
  check_refused([&] { file.architecture(); }, ErrorKind::bad_file, {"x.gguf", "general.architecture"});
  const GgufFile wrong = open_bytes(GgufWriter().u32("general.architecture", 1));
  check_refused([&] { wrong.architecture(); }, ErrorKind::bad_file, {"general.architecture", "a text"});
}

TEST_CASE("integers of every stored type are read by value") {
  GgufWriter writer;
  writer.number<std::uint8_t>("u8", kU8, 200).number<std::int8_t>("i8", kI8, -100);
  writer.number<std::uint16_t>("u16", kU16, 60000).number<std::int16_t>("i16", kI16, 30000);
  writer.number<std::uint32_t>("u32", kU32, 4000000000u).number<std::int32_t>("i32", kI32, 2000000000);
  writer.number<std::uint64_t>("u64", kU64, ~std::uint64_t{0}).number<std::int64_t>("i64", kI64, -5);
  writer.number("f32", kF32, 0.5f).number("f64", kF64, 1e300).number<std::uint8_t>("bool", kBool, 1);
  writer.text("text", "hello");
  const GgufFile file = open_bytes(writer);

  CHECK(file.get_unsigned("u8") == 200u);
  CHECK(file.get_unsigned("u16") == 60000u);
  CHECK(file.get_unsigned("i16") == 30000u);
  CHECK(file.get_unsigned("u32") == 4000000000u);
  CHECK(file.get_unsigned("i32") == 2000000000u);
  CHECK(file.get_unsigned("u64") == ~std::uint64_t{0});
  CHECK(file.get_number("i8") == -100.0);
  CHECK(file.get_number("u16") == 60000.0);
  CHECK(file.get_number("f32") == 0.5);
  CHECK(file.get_number("f64") == 1e300);
  CHECK(file.get_bool("bool") == true);
  CHECK(file.get_string("text") == "hello");
  CHECK(std::get<std::int64_t>(*file.find("i64")) == -5);

  CHECK(file.find("absent") == nullptr);
  CHECK(!file.get_unsigned("absent"));
  CHECK(!file.get_number("absent"));
  CHECK(!file.get_bool("absent"));
  CHECK(!file.get_string("absent"));
  CHECK(file.get_strings("absent") == nullptr);
  CHECK(!file.get_integers("absent"));
  CHECK(!file.get_floats("absent"));

  check_refused([&] { file.get_unsigned("i8"); }, ErrorKind::bad_file, {"x.gguf", "\"i8\"", "-100", "negative"});
  check_refused([&] { file.get_unsigned("f32"); }, ErrorKind::bad_file, {"\"f32\"", "fractional", "whole number"});
  check_refused([&] { file.get_unsigned("bool"); }, ErrorKind::bad_file, {"\"bool\"", "whole number"});
  check_refused([&] { file.get_number("text"); }, ErrorKind::bad_file, {"\"text\"", "is a text", "a number"});
  check_refused([&] { file.get_bool("u8"); }, ErrorKind::bad_file, {"\"u8\"", "true or false"});
  check_refused([&] { file.get_string("u8"); }, ErrorKind::bad_file, {"\"u8\"", "a text"});
  check_refused([&] { file.get_strings("text"); }, ErrorKind::bad_file, {"\"text\"", "a list of texts"});
  check_refused([&] { file.get_integers("text"); }, ErrorKind::bad_file, {"\"text\"", "a list of whole numbers"});
  check_refused([&] { file.get_floats("text"); }, ErrorKind::bad_file, {"\"text\"", "a list of numbers"});
}

TEST_CASE("lists keep their values and their kind") {
  GgufWriter writer;
  writer.numbers<std::int8_t>("i8", kI8, {-1, 2}).numbers<std::uint32_t>("u32", kU32, {1, 4000000000u});
  writer.numbers<std::uint64_t>("u64", kU64, {1, ~std::uint64_t{0}}).numbers<float>("f32", kF32, {0.25f, -1});
  writer.numbers<double>("f64", kF64, {1e300}).numbers<std::uint8_t>("bool", kBool, {1, 0, 1});
  writer.numbers<double>("special", kF64, {std::numeric_limits<double>::infinity(), std::nan("")});
  writer.texts("texts", {"", "b", std::string("\0c", 2)}).texts("none", {});
  const GgufFile file = open_bytes(writer);

  CHECK(file.get_integers("i8") == std::vector<std::int64_t>{-1, 2});
  CHECK(file.get_integers("u32") == std::vector<std::int64_t>{1, 4000000000});
  CHECK(file.get_integers("bool") == std::vector<std::int64_t>{1, 0, 1});
  CHECK(file.get_floats("f32") == std::vector<float>{0.25f, -1});
  CHECK(file.get_floats("i8") == std::vector<float>{-1, 2});
  CHECK(file.get_floats("u32") == std::vector<float>{1, 4e9f});
  CHECK(std::isinf(file.get_floats("special")->at(0)));
  CHECK(std::isnan(file.get_floats("special")->at(1)));
  CHECK(std::get<std::vector<bool>>(*file.find("bool")) == std::vector<bool>{true, false, true});
  CHECK(*file.get_strings("texts") == std::vector<std::string>{"", "b", std::string("\0c", 2)});
  CHECK(file.get_strings("none")->empty());

  check_refused([&] { file.get_integers("u64"); }, ErrorKind::bad_file, {"\"u64\"", "18446744073709551615"});
  check_refused([&] { file.get_integers("f32"); }, ErrorKind::bad_file, {"\"f32\"", "list of fractional numbers"});
  check_refused([&] { file.get_floats("f64"); }, ErrorKind::bad_file, {"\"f64\"", "too large"});
  check_refused([&] { file.get_floats("bool"); }, ErrorKind::bad_file, {"\"bool\"", "list of true or false"});
  check_refused([&] { file.get_strings("i8"); }, ErrorKind::bad_file, {"\"i8\"", "list of whole numbers"});
}

TEST_CASE("a vocabulary of the largest GLM kind is read whole") {
  constexpr std::size_t kTokens = 151'552;
  constexpr std::size_t kMerges = 318'088;
  std::vector<std::string> tokens(kTokens);
  for (std::size_t i = 0; i < kTokens; ++i) tokens[i] = numbered("t", i * 7919);
  std::vector<std::string> merges(kMerges);
  for (std::size_t i = 0; i < kMerges; ++i) merges[i] = tokens[i % kTokens] + " " + tokens[i / 3];
  // One text longer than the reader's window, in the middle of short ones.
  merges[1000] = std::string(1'000'000, 'x');
  GgufWriter writer;
  writer.text("general.architecture", "glm4").texts("tokenizer.ggml.tokens", tokens);
  writer.texts("tokenizer.ggml.merges", merges).f32_tensor("a", {1, 2, 3});

  const GgufFile file = open_bytes(writer);
  CHECK(*file.get_strings("tokenizer.ggml.tokens") == tokens);
  CHECK(*file.get_strings("tokenizer.ggml.merges") == merges);
  std::array<float, 3> values{};
  file.read(file.tensors()[0], 0, std::as_writable_bytes(std::span(values)));
  CHECK(values == std::array<float, 3>{1, 2, 3});
}

TEST_CASE("general.alignment moves the data, and gaps between tensors are allowed") {
  GgufWriter writer;
  writer.alignment = 256;
  writer.number<std::uint64_t>("general.alignment", kU64, 256).f32_tensor("a", {1}).f32_tensor("b", {2});
  const GgufFile file = open_bytes(writer);
  CHECK(file.tensors()[0].offset % 256 == 0);
  CHECK(file.tensors()[1].offset == file.tensors()[0].offset + 256);
  float value = 0;
  file.read(file.tensors()[1], 0, std::as_writable_bytes(std::span(&value, 1)));
  CHECK(value == 2.0f);
}

TEST_CASE("tensors may lie in another order than the table's") {
  GgufWriter writer;
  writer.tensor({"second", 0, {1}, ByteString().number(1.0f).bytes(), 32});
  writer.tensor({"first", 0, {1}, ByteString().number(2.0f).bytes(), 0});
  const GgufFile file = open_bytes(writer);
  CHECK(file.find_tensor("second")->offset == file.find_tensor("first")->offset + 32);
}

TEST_CASE("a moved file goes on working, and threads may read at once") {
  const TemporaryFolder folder;
  const GgufWriter writer = small_model();
  GgufFile first = GgufFile::open(folder.write("model.gguf", writer.bytes()));
  const GgufFile file = std::move(first);
  const TensorInfo& tensor = *file.find_tensor("blk.0.ffn_down_exps.weight");
  Bytes expected(tensor.bytes);
  file.read(tensor, 0, expected);

  std::array<int, 4> wrong{};
  std::vector<std::thread> threads;
  for (int& count : wrong) {
    threads.emplace_back([&file, &tensor, &expected, &count] {
      for (std::size_t offset = 0; offset + 16 <= tensor.bytes; offset += 16) {
        std::array<std::byte, 16> part{};
        file.read(tensor, offset, part);
        count += !std::equal(part.begin(), part.end(), expected.begin() + static_cast<std::ptrdiff_t>(offset));
        count += file.get_strings("tokenizer.ggml.tokens")->at(offset % 300).empty();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::array<int, 4>{});
}

// Tensor counts as the ggml library lists them, vocabularies as the models' JSON files do.
TEST_CASE("every shared model opens") {
  const std::filesystem::path folder = std::filesystem::path(GLMHOST_SHARED_DATA) / "vectors" / "models";
  if (!std::filesystem::exists(folder)) {
    MESSAGE("skipped: " << folder.string() << " is not there");
    return;
  }
  struct Expected {
    std::string_view architecture;
    std::size_t tensors;
    std::int64_t vocabulary;
  };
  const std::map<std::string, Expected> models = {
      {"chatglm-a", {"chatglm", 17, 512}},
      {"chatglm-b", {"chatglm", 27, 576}},
      {"deepseek2-a", {"deepseek2", 52, 512}},
      {"deepseek2-b", {"deepseek2", 52, 576}},
      {"deepseek2-groups", {"deepseek2", 34, 512}},
      {"gemma3-a", {"gemma3", 80, 512}},
      {"gemma3-b", {"gemma3", 106, 640}},
      {"glm-dsa-a", {"glm-dsa", 67, 512}},
      {"glm-dsa-b", {"glm-dsa", 62, 512}},
      {"glm-dsa-share", {"glm-dsa", 98, 512}},
      {"glm4-Q4_K", {"glm4", 29, 512}},
      {"glm4-a", {"glm4", 23, 512}},
      {"glm4-b", {"glm4", 42, 576}},
      {"glm4moe-a", {"glm4moe", 55, 512}},
      {"glm4moe-b", {"glm4moe", 61, 512}},
      {"glm4moe-mtp", {"glm4moe", 59, 512}},
      {"llama-a", {"llama", 20, 512}},
      {"llama-b", {"llama", 30, 640}},
  };
  for (const auto& entry : models) {
    const auto& name = entry.first;
    const auto& expected = entry.second;
    INFO(name);
    const GgufFile file = GgufFile::open(folder / (name + ".gguf"));
    CHECK(file.architecture() == expected.architecture);
    CHECK(file.tensors().size() == expected.tensors);
    const TensorInfo* embedding = file.find_tensor("token_embd.weight");
    REQUIRE(embedding);
    CHECK(embedding->rows() == expected.vocabulary);
    std::uint64_t read = 0;
    for (const TensorInfo& tensor : file.tensors()) {
      Bytes data(tensor.bytes);
      file.read(tensor, 0, data);
      std::vector<float> values(static_cast<std::size_t>(tensor.columns() * tensor.rows()));
      dequantize(tensor.type, data, values);
      read += std::ranges::all_of(values, [](float value) { return std::isfinite(value) && std::abs(value) < 100; });
    }
    CHECK(read == expected.tensors);
  }
}

}  // namespace glmhost::model_files
