// Compares dequantize with values that the gguf Python package and ggml computed.
#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "inference/model_files/tensor_type.h"
#include "tests/unit/inference/model_files/gguf_writer.h"

namespace glmhost::model_files {
namespace {

constexpr std::array kTypes = {TensorType::F16,    TensorType::BF16,  TensorType::Q4_0, TensorType::Q4_1,
                               TensorType::Q5_0,   TensorType::Q5_1,  TensorType::Q8_0, TensorType::Q2_K,
                               TensorType::Q3_K,   TensorType::Q4_K,  TensorType::Q5_K, TensorType::Q6_K,
                               TensorType::IQ4_NL, TensorType::IQ4_XS};

// The number of values whose bits differ; zeros may differ in sign.
std::size_t count_different(const std::vector<float>& actual, const Bytes& expected) {
  std::size_t different = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    std::uint32_t a;
    std::uint32_t b;
    std::memcpy(&a, &actual[i], sizeof a);
    std::memcpy(&b, expected.data() + i * sizeof b, sizeof b);
    const bool both_zero = ((a | b) & 0x7fffffffu) == 0;
    different += a != b && !both_zero;
  }
  return different;
}

void check_vectors(const std::filesystem::path& folder, std::size_t rows) {
  for (const TensorType type : kTypes) {
    const std::string name(traits(type).name);
    INFO(name);
    const Bytes blocks = read_file(folder / (name + ".bin"));
    const Bytes expected = read_file(folder / (name + ".f32"));
    REQUIRE(expected.size() == rows * 256 * sizeof(float));
    std::vector<float> values(rows * 256);
    dequantize(type, blocks, values);
    CHECK(count_different(values, expected) == 0);

    // A single block, too: nothing may depend on its neighbours.
    const auto block_values = static_cast<std::size_t>(traits(type).block_values);
    const auto block_bytes = static_cast<std::size_t>(traits(type).block_bytes);
    const std::size_t last = values.size() / block_values - 1;
    std::vector<float> one(block_values);
    dequantize(type, std::span(blocks).subspan(last * block_bytes, block_bytes), one);
    CHECK(std::memcmp(one.data(), values.data() + last * block_values, block_values * sizeof(float)) == 0);
  }
}

}  // namespace

TEST_CASE("dequantize gives the reference's bits for the rows in tests/data") {
  check_vectors(std::filesystem::path(GLMHOST_TEST_DATA) / "blocks", 8);
}

TEST_CASE("dequantize gives the reference's bits for all shared rows") {
  const std::filesystem::path folder = std::filesystem::path(GLMHOST_SHARED_DATA) / "vectors" / "blocks";
  if (!std::filesystem::exists(folder)) {
    MESSAGE("skipped: " << folder.string() << " is not there");
    return;
  }
  check_vectors(folder, 64);
}

TEST_CASE("float32 is copied as it is, also from an odd address") {
  const std::array<float, 3> values = {1.5f, -0.0f, 0x1p-149f};
  Bytes shifted(1 + sizeof values);
  std::memcpy(shifted.data() + 1, values.data(), sizeof values);
  std::array<float, 3> out{};
  dequantize(TensorType::F32, std::span(shifted).subspan(1), out);
  CHECK(std::memcmp(out.data(), values.data(), sizeof values) == 0);
}

}  // namespace glmhost::model_files
