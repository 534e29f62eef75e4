#include "inference/kernels/packed_matrix.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "inference/error.h"
#include "tests/unit/inference/kernels/random_data.h"

namespace glmhost::kernels {
namespace {

using model_files::TensorType;
using testing::Random;

std::int64_t block_of(TensorType type) {
  return model_files::traits(type).block_values;
}

std::span<const std::byte> rows_of(const std::vector<std::byte>& data, TensorType type, std::int64_t columns,
                                   std::int64_t first, std::int64_t count) {
  const auto size = static_cast<std::size_t>(model_files::row_bytes(type, columns));
  return std::span(data).subspan(static_cast<std::size_t>(first) * size, static_cast<std::size_t>(count) * size);
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::vector<float> row(const PackedMatrix& matrix, std::int64_t index) {
  std::vector<float> values(static_cast<std::size_t>(matrix.columns()));
  matrix.dequantize_row(index, values.data());
  return values;
}

std::vector<float> reference_row(TensorType type, std::span<const std::byte> data, std::int64_t columns) {
  std::vector<float> values(static_cast<std::size_t>(columns));
  model_files::dequantize(type, data, values);
  return values;
}

std::vector<TensorType> all_types() {
  std::vector<TensorType> types(std::begin(testing::kQuantizedTypes), std::end(testing::kQuantizedTypes));
  types.insert(types.end(), std::begin(testing::kFloatTypes), std::end(testing::kFloatTypes));
  return types;
}

}  // namespace

TEST_CASE("A packed row comes back bit for bit, whatever its type and place") {
  Random random(1);
  for (const TensorType type : all_types()) {
    CAPTURE(model_files::traits(type).name);
    for (const std::int64_t blocks : {1, 2, 3, 7}) {
      const std::int64_t columns = blocks * block_of(type);
      const std::int64_t rows = random.between(1, 50);
      const std::vector<std::byte> data = testing::random_rows(type, rows, columns, random);
      PackedMatrix matrix(type, rows, columns);
      matrix.pack_rows(0, rows, data);
      for (std::int64_t r = 0; r < rows; ++r) {
        CHECK(same_bits(row(matrix, r), reference_row(type, rows_of(data, type, columns, r, 1), columns)));
      }
    }
  }
}

TEST_CASE("Packed rows equal the reference values of every type") {
  const std::filesystem::path folder = std::filesystem::path(GLMHOST_SHARED_DATA) / "vectors/blocks";
  if (!std::filesystem::exists(folder)) {
    MESSAGE("skipped: no reference blocks beside this checkout");
    return;
  }
  for (const TensorType type : all_types()) {
    if (type == TensorType::F32) continue;
    const std::string name(model_files::traits(type).name);
    CAPTURE(name);
    constexpr std::int64_t kRows = 64, kColumns = 256;
    std::vector<std::byte> data(static_cast<std::size_t>(kRows * model_files::row_bytes(type, kColumns)));
    std::ifstream(folder / (name + ".bin"), std::ios::binary)
        .read(reinterpret_cast<char*>(data.data()), std::ssize(data));
    std::vector<float> expected(kRows * kColumns);
    std::ifstream values(folder / (name + ".f32"), std::ios::binary);
    values.read(reinterpret_cast<char*>(expected.data()), std::ssize(expected) * 4);
    REQUIRE(values);
    PackedMatrix matrix(type, kRows, kColumns);
    matrix.pack_rows(0, kRows, data);
    for (std::int64_t r = 0; r < kRows; ++r) {
      const std::vector<float> got = row(matrix, r);
      for (std::int64_t k = 0; k < kColumns; ++k) {
        CHECK(got[static_cast<std::size_t>(k)] == expected[static_cast<std::size_t>(r * kColumns + k)]);
      }
    }
  }
}

TEST_CASE("Ranges of rows may be packed in any order and by several threads") {
  Random random(2);
  constexpr std::int64_t kRows = 100, kColumns = 96;
  const std::vector<std::byte> data = testing::random_rows(TensorType::Q5_0, kRows, kColumns, random);
  PackedMatrix whole(TensorType::Q5_0, kRows, kColumns);
  whole.pack_rows(0, kRows, data);
  PackedMatrix pieces(TensorType::Q5_0, kRows, kColumns);
  std::thread other([&] { pieces.pack_rows(48, 52, rows_of(data, TensorType::Q5_0, kColumns, 48, 52)); });
  pieces.pack_rows(16, 32, rows_of(data, TensorType::Q5_0, kColumns, 16, 32));
  pieces.pack_rows(0, 16, rows_of(data, TensorType::Q5_0, kColumns, 0, 16));
  other.join();
  REQUIRE(whole.bytes() == pieces.bytes());
  CHECK(std::memcmp(whole.panel(0), pieces.panel(0), whole.bytes()) == 0);
}

TEST_CASE("The rows that fill up the last panel are zero") {
  Random random(3);
  const std::vector<std::byte> data = testing::random_rows(TensorType::Q4_1, 17, 64, random);
  PackedMatrix matrix(TensorType::Q4_1, 17, 64);
  matrix.pack_rows(0, 17, data);
  for (std::int64_t r = 17; r < 32; ++r) CHECK(row(matrix, r) == std::vector<float>(64, 0.0F));
}

TEST_CASE("Packed weights take little more memory than in the file") {
  for (const TensorType type : all_types()) {
    CAPTURE(model_files::traits(type).name);
    const auto file = static_cast<double>(160 * model_files::row_bytes(type, 1536));
    CHECK(static_cast<double>(PackedMatrix::bytes_for(type, 160, 1536)) <= file * 1.06);
  }
  CHECK(PackedMatrix::bytes_for(TensorType::Q4_0, 16, 4096) ==
        static_cast<std::size_t>(16 * model_files::row_bytes(TensorType::Q4_0, 4096)));
}

TEST_CASE("Memory is aligned and survives a move") {
  Random random(4);
  PackedMatrix matrix(TensorType::Q8_0, 20, 32);
  matrix.pack_rows(0, 20, testing::random_rows(TensorType::Q8_0, 20, 32, random));
  CHECK(reinterpret_cast<std::uintptr_t>(matrix.panel(0)) % 64 == 0);
  CHECK(reinterpret_cast<std::uintptr_t>(matrix.panel(1)) % 64 == 0);
  const std::vector<float> before = row(matrix, 19);
  PackedMatrix moved(std::move(matrix));
  CHECK(row(moved, 19) == before);
  PackedMatrix assigned;
  assigned = std::move(moved);
  CHECK(row(assigned, 19) == before);
}

TEST_CASE("Shapes and ranges that cannot be are refused") {
  CHECK_THROWS_AS(PackedMatrix(TensorType::Q4_0, 4, 33), Error);
  CHECK_THROWS_AS(PackedMatrix(TensorType::Q4_K, 4, 32), Error);
  CHECK_THROWS_AS(PackedMatrix(TensorType::F32, 0, 32), Error);
  PackedMatrix matrix(TensorType::Q8_0, 40, 32);
  const std::vector<std::byte> data(static_cast<std::size_t>(model_files::row_bytes(TensorType::Q8_0, 32)) * 48);
  CHECK_THROWS_AS(matrix.pack_rows(8, 16, rows_of(data, TensorType::Q8_0, 32, 0, 16)), Error);
  CHECK_THROWS_AS(matrix.pack_rows(0, 8, rows_of(data, TensorType::Q8_0, 32, 0, 8)), Error);
  CHECK_THROWS_AS(matrix.pack_rows(0, 48, data), Error);
  CHECK_THROWS_AS(matrix.pack_rows(0, 16, rows_of(data, TensorType::Q8_0, 32, 0, 15)), Error);
}

}  // namespace glmhost::kernels
