#include "inference/kernels/matmul.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <limits>
#include <vector>

#include "inference/error.h"
#include "inference/kernels/activations.h"
#include "tests/unit/inference/kernels/random_data.h"

namespace glmhost::kernels {
namespace {

using model_files::TensorType;
using testing::Random;

PackedMatrix packed(TensorType type, std::int64_t rows, std::int64_t columns, const std::vector<std::byte>& data) {
  PackedMatrix matrix(type, rows, columns);
  matrix.pack_rows(0, rows, data);
  return matrix;
}

PackedMatrix random_matrix(TensorType type, std::int64_t rows, std::int64_t columns, Random& random) {
  return packed(type, rows, columns, testing::random_rows(type, rows, columns, random));
}

std::vector<float> multiply(InstructionSet set, const PackedMatrix& weights, const std::vector<float>& x,
                            std::int64_t n, ThreadPool& pool, const float* bias = nullptr, std::int64_t bulk = 0) {
  std::vector<float> out(static_cast<std::size_t>(n * weights.rows()), -1.0F);
  Activations input(n, weights.columns());
  input.set(x.data(), n, weights.columns(), weights.columns(), bulk);
  const Product product = {.weights = &weights, .bias = bias, .out = out.data(), .out_stride = weights.rows()};
  matmul_with(matmul_kernels(set), input, {&product, 1}, pool);
  return out;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// The activations as a quantised product sees them: int8 times max / 127 in blocks of 32.
std::vector<double> rounded_activations(const std::vector<float>& x) {
  std::vector<double> values(x.size());
  for (std::size_t begin = 0; begin < x.size(); begin += 32) {
    float most = 0;
    for (std::size_t k = begin; k < begin + 32; ++k) most = std::max(most, std::fabs(x[k]));
    const float scale = most / 127.0F;
    const float inverse = 127.0F / most;
    for (std::size_t k = begin; k < begin + 32; ++k) {
      values[k] = most == 0 ? 0 : std::nearbyint(x[k] * inverse) * static_cast<double>(scale);
    }
  }
  return values;
}

struct Expected {
  double value;
  double magnitude;  // the sum of the absolute values of the terms: rounding errors are relative to it
};

std::vector<float> weights_of(const PackedMatrix& weights, std::int64_t row) {
  std::vector<float> w(static_cast<std::size_t>(weights.columns()));
  weights.dequantize_row(row, w.data());
  return w;
}

Expected dot(const std::vector<float>& w, const double* x) {
  Expected sum{0, 0};
  for (std::size_t k = 0; k < w.size(); ++k) {
    sum.value += w[k] * x[k];
    sum.magnitude += std::fabs(w[k] * x[k]);
  }
  return sum;
}

std::int64_t block_of(TensorType type) {
  return model_files::traits(type).block_values;
}

std::vector<TensorType> all_types() {
  std::vector<TensorType> types(std::begin(testing::kQuantizedTypes), std::end(testing::kQuantizedTypes));
  types.insert(types.end(), std::begin(testing::kFloatTypes), std::end(testing::kFloatTypes));
  return types;
}

}  // namespace

TEST_CASE("A product equals the sum in double precision over the dequantised weights and the int8 activations") {
  Random random(11);
  ThreadPool pool(2);
  for (const InstructionSet set : supported_instruction_sets()) {
    CAPTURE(name(set));
    for (const TensorType type : testing::kQuantizedTypes) {
      CAPTURE(model_files::traits(type).name);
      for (const std::int64_t n : {1, 2, 3, 5, 7, 8, 13, 40}) {
        const std::int64_t columns = block_of(type) * random.between(1, 768 / block_of(type));
        const std::int64_t rows = random.between(1, 70);
        CAPTURE(n);
        CAPTURE(rows);
        CAPTURE(columns);
        const PackedMatrix weights = random_matrix(type, rows, columns, random);
        const std::vector<float> x = random.normals(n * columns);
        const std::vector<float> bias = random.normals(rows);
        const std::vector<float> out = multiply(set, weights, x, n, pool, bias.data());
        const std::vector<double> rounded = rounded_activations(x);
        double worst = 0;
        for (std::int64_t r = 0; r < rows; ++r) {
          const std::vector<float> w = weights_of(weights, r);
          for (std::int64_t t = 0; t < n; ++t) {
            const Expected sum = dot(w, rounded.data() + t * columns);
            const double expected = sum.value + static_cast<double>(bias[static_cast<std::size_t>(r)]);
            // A type with minima subtracts two large sums, so its terms are larger than the products.
            const double limit = 1e-6 * (8 * sum.magnitude + std::fabs(expected)) + 1e-30;
            worst = std::max(worst, std::fabs(out[static_cast<std::size_t>(t * rows + r)] - expected) / limit);
          }
        }
        CHECK(worst <= 1);
      }
    }
  }
}

TEST_CASE("A product with float weights is exact to a millionth") {
  Random random(12);
  ThreadPool pool(2);
  for (const InstructionSet set : supported_instruction_sets()) {
    CAPTURE(name(set));
    for (const TensorType type : testing::kFloatTypes) {
      CAPTURE(model_files::traits(type).name);
      for (const std::int64_t n : {1, 2, 3, 5, 7, 8, 13, 40}) {
        const std::int64_t columns = random.between(1, 400);
        const std::int64_t rows = random.between(1, 70);
        const PackedMatrix weights = random_matrix(type, rows, columns, random);
        const std::vector<float> x = random.normals(n * columns);
        const std::vector<float> out = multiply(set, weights, x, n, pool);
        const std::vector<double> exact(x.begin(), x.end());
        double worst = 0;
        for (std::int64_t r = 0; r < rows; ++r) {
          const std::vector<float> w = weights_of(weights, r);
          for (std::int64_t t = 0; t < n; ++t) {
            const Expected sum = dot(w, exact.data() + t * columns);
            worst = std::max(worst, std::fabs(out[static_cast<std::size_t>(t * rows + r)] - sum.value) / sum.magnitude);
          }
        }
        CHECK(worst <= 1e-6);
      }
    }
  }
}

TEST_CASE("A row's result has the same bits in any batch, on any threads and with any instruction set") {
  Random random(13);
  ThreadPool one(1);
  ThreadPool three(3);
  for (const TensorType type : all_types()) {
    CAPTURE(model_files::traits(type).name);
    for (const std::int64_t columns : {block_of(type), 3 * block_of(type), 512 / block_of(type) * block_of(type)}) {
      constexpr std::int64_t kRows = 37, kTokens = 40;
      CAPTURE(columns);
      const PackedMatrix weights = random_matrix(type, kRows, columns, random);
      const std::vector<float> x = random.normals(kTokens * columns);
      std::vector<float> alone;
      for (std::int64_t t = 0; t < kTokens; ++t) {
        const std::vector<float> row(x.begin() + t * columns, x.begin() + (t + 1) * columns);
        const std::vector<float> out = multiply(InstructionSet::scalar, weights, row, 1, one);
        alone.insert(alone.end(), out.begin(), out.end());
      }
      for (const InstructionSet set : supported_instruction_sets()) {
        CAPTURE(name(set));
        for (const std::int64_t n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 19, 24, 25, 31, 40}) {
          if (set == InstructionSet::scalar && n != 13) continue;  // slow
          CAPTURE(n);
          const std::vector<float> first(x.begin(), x.begin() + n * columns);
          const std::vector<float> expected(alone.begin(), alone.begin() + n * kRows);
          CHECK(same_bits(multiply(set, weights, first, n, one), expected));
          CHECK(same_bits(multiply(set, weights, first, n, three), expected));
        }
      }
    }
  }
}

TEST_CASE("Bulk rows are as exact as bfloat16, and have the same bits in any batch and on any threads") {
  Random random(14);
  ThreadPool one(1);
  ThreadPool three(3);
  for (const InstructionSet set : supported_instruction_sets()) {
    if (matmul_kernels(set).multiply_bulk == nullptr) continue;
    for (const TensorType type : testing::kQuantizedTypes) {
      CAPTURE(model_files::traits(type).name);
      for (const std::int64_t n : {1, 15, 16, 17, 32, 33, 70}) {
        CAPTURE(n);
        const std::int64_t columns = block_of(type) * random.between(1, 768 / block_of(type));
        const std::int64_t rows = random.between(1, 70);
        CAPTURE(rows);
        CAPTURE(columns);
        const PackedMatrix weights = random_matrix(type, rows, columns, random);
        const std::vector<float> x = random.normals(n * columns);
        const std::vector<float> bias = random.normals(rows);
        const float* add = n % 2 == 0 ? nullptr : bias.data();
        const std::vector<double> exact(x.begin(), x.end());
        const std::vector<float> out = multiply(set, weights, x, n, three, add, n);
        double worst = 0;
        for (std::int64_t r = 0; r < rows; ++r) {
          const std::vector<float> w = weights_of(weights, r);
          for (std::int64_t t = 0; t < n; ++t) {
            const Expected sum = dot(w, exact.data() + t * columns);
            const double expected = sum.value + (add == nullptr ? 0 : static_cast<double>(add[r]));
            // Either factor is rounded to 8 bits.
            const double error = std::fabs(out[static_cast<std::size_t>(t * rows + r)] - expected);
            worst = std::max(worst, error / (sum.magnitude / 128 + 1e-6 * std::fabs(expected) + 1e-30));
          }
        }
        CHECK(worst < 1);
        // The last row alone; the first rows as bulk and the others not.
        const std::vector<float> last(x.end() - columns, x.end());
        CHECK(same_bits(multiply(set, weights, last, 1, one, add, 1), {out.end() - rows, out.end()}));
        const std::vector<float> mixed = multiply(set, weights, x, n, three, add, n / 2);
        const std::vector<float> others = multiply(set, weights, x, n, one, add);
        const std::ptrdiff_t middle = n / 2 * rows;
        CHECK(same_bits({mixed.begin(), mixed.begin() + middle}, {out.begin(), out.begin() + middle}));
        CHECK(same_bits({mixed.begin() + middle, mixed.end()}, {others.begin() + middle, others.end()}));
      }
    }
  }
}

TEST_CASE("Products of one input run together and write only their own rows") {
  Random random(14);
  ThreadPool pool(2);
  constexpr std::int64_t kColumns = 256, kTokens = 9;
  const PackedMatrix q = random_matrix(TensorType::Q4_K, 48, kColumns, random);
  const PackedMatrix k = random_matrix(TensorType::Q6_K, 17, kColumns, random);
  const PackedMatrix v = random_matrix(TensorType::F16, 5, kColumns, random);
  const std::vector<float> bias = random.normals(17);
  // Rows of x and of out lie further apart than they are long.
  constexpr std::int64_t kStride = kColumns + 3, kOutStride = 80;
  const std::vector<float> x = random.normals(kTokens * kStride);
  std::vector<float> compact;
  for (std::int64_t t = 0; t < kTokens; ++t) {
    compact.insert(compact.end(), x.begin() + t * kStride, x.begin() + t * kStride + kColumns);
  }
  for (const InstructionSet set : supported_instruction_sets()) {
    CAPTURE(name(set));
    std::vector<float> out(kTokens * kOutStride, 7.0F);
    Activations input(16, 512);
    input.set(x.data(), kTokens, kColumns, kStride);
    const Product products[] = {{&q, nullptr, out.data(), kOutStride},
                                {&k, bias.data(), out.data() + 48, kOutStride},
                                {&v, nullptr, out.data() + 66, kOutStride}};
    matmul_with(matmul_kernels(set), input, products, pool);
    const std::vector<float> q_out = multiply(set, q, compact, kTokens, pool);
    const std::vector<float> k_out = multiply(set, k, compact, kTokens, pool, bias.data());
    const std::vector<float> v_out = multiply(set, v, compact, kTokens, pool);
    for (std::int64_t t = 0; t < kTokens; ++t) {
      const float* row = out.data() + t * kOutStride;
      CHECK(std::equal(row, row + 48, q_out.begin() + t * 48));
      CHECK(std::equal(row + 48, row + 65, k_out.begin() + t * 17));
      CHECK(row[65] == 7.0F);
      CHECK(std::equal(row + 66, row + 71, v_out.begin() + t * 5));
      CHECK(std::all_of(row + 71, row + 80, [](float untouched) { return untouched == 7.0F; }));
    }
  }
}

TEST_CASE("An input is quantised anew after each set") {
  Random random(15);
  ThreadPool pool(1);
  const PackedMatrix weights = random_matrix(TensorType::Q8_0, 20, 64, random);
  const std::vector<float> a = random.normals(64);
  const std::vector<float> b = random.normals(64);
  std::vector<float> out(20);
  Activations input(4, 64);
  const Product product = {&weights, nullptr, out.data(), 20};
  input.set(a.data(), 1, 64, 64);
  matmul(input, {&product, 1}, pool);
  input.set(b.data(), 1, 64, 64);
  matmul(input, {&product, 1}, pool);
  CHECK(same_bits(out, multiply(selected_instruction_set(), weights, b, 1, pool)));
}

TEST_CASE("Activations at the edges of float32") {
  Random random(16);
  ThreadPool pool(1);
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const PackedMatrix quantized = random_matrix(TensorType::Q4_0, 16, 64, random);
  const PackedMatrix floats = random_matrix(TensorType::F32, 16, 64, random);
  for (const InstructionSet set : supported_instruction_sets()) {
    CAPTURE(name(set));
    for (const PackedMatrix* weights : {&quantized, &floats}) {
      // What is not finite shows in the result, in its own row only.
      for (const float bad : {nan, -nan, infinity, -infinity}) {
        for (const std::int64_t n : {2, 20}) {
          std::vector<float> x = random.normals(n * 64);
          x[70] = bad;
          const std::vector<float> out = multiply(set, *weights, x, n, pool);
          CHECK(std::all_of(out.begin() + 16, out.begin() + 32, [](float y) { return !std::isfinite(y); }));
          CHECK(std::all_of(out.begin(), out.begin() + 16, [](float y) { return std::isfinite(y); }));
          CHECK(std::all_of(out.begin() + 32, out.end(), [](float y) { return std::isfinite(y); }));
        }
      }
      CHECK(multiply(set, *weights, std::vector<float>(64, 0.0F), 1, pool) == std::vector<float>(16, 0.0F));
    }
    const std::vector<float> tiny(64, std::numeric_limits<float>::denorm_min());
    CHECK(multiply(set, quantized, tiny, 1, pool) == std::vector<float>(16, 0.0F));
    const std::vector<float> huge(64, std::numeric_limits<float>::max() / 1e6F);
    CHECK(std::all_of(huge.begin(), huge.end(), [](float y) { return std::isfinite(y); }));
    CHECK(
        same_bits(multiply(set, quantized, huge, 1, pool), multiply(InstructionSet::scalar, quantized, huge, 1, pool)));
  }
}

TEST_CASE("The extremes of quants and activations do not saturate") {
  ThreadPool pool(1);
  // Every quant at its largest against activations at +127 and -127.
  for (const TensorType type : testing::kQuantizedTypes) {
    CAPTURE(model_files::traits(type).name);
    const std::int64_t columns = 512;
    std::vector<std::byte> data(static_cast<std::size_t>(16 * model_files::row_bytes(type, columns)));
    for (const int fill : {0x00, 0x7F, 0x80, 0xFF}) {
      std::fill(data.begin(), data.end(), static_cast<std::byte>(fill));
      const auto bytes = static_cast<std::size_t>(model_files::traits(type).block_bytes);
      const std::uint16_t one = model_files::f32_to_f16(1.0F);
      for (std::size_t block = 0; block < data.size(); block += bytes) {
        for (const std::size_t offset : testing::half_offsets(type)) std::memcpy(&data[block + offset], &one, 2);
      }
      const PackedMatrix weights = packed(type, 16, columns, data);
      std::vector<float> x(static_cast<std::size_t>(columns), 1.0F);
      for (const bool alternate : {false, true}) {
        for (std::size_t k = 0; alternate && k < x.size(); k += 2) x[k] = -1.0F;
        const std::vector<float> expected = multiply(InstructionSet::scalar, weights, x, 1, pool);
        const std::vector<double> rounded = rounded_activations(x);
        const Expected sum = dot(weights_of(weights, 0), rounded.data());
        CHECK(std::fabs(expected[0] - sum.value) <= 1e-5 * sum.magnitude);
        for (const InstructionSet set : supported_instruction_sets()) {
          CAPTURE(name(set));
          CHECK(same_bits(multiply(set, weights, x, 1, pool), expected));
          std::vector<float> many;
          for (int i = 0; i < 17; ++i) many.insert(many.end(), x.begin(), x.end());
          const std::vector<float> out = multiply(set, weights, many, 17, pool);
          CHECK(std::equal(expected.begin(), expected.end(), out.begin() + 16 * 16));
        }
      }
    }
  }
}

TEST_CASE("Shapes that do not fit are refused") {
  Random random(17);
  ThreadPool pool(1);
  const PackedMatrix weights = random_matrix(TensorType::Q8_0, 4, 64, random);
  const std::vector<float> x(128);
  std::vector<float> out(8);
  Activations input(2, 64);
  CHECK_THROWS_AS(input.set(x.data(), 3, 64, 64), Error);
  CHECK_THROWS_AS(input.set(x.data(), 1, 65, 65), Error);
  CHECK_THROWS_AS(input.set(x.data(), 1, 64, 32), Error);
  const Product product = {&weights, nullptr, out.data(), 4};
  input.set(x.data(), 1, 32, 32);
  CHECK_THROWS_AS(matmul(input, {&product, 1}, pool), Error);
  input.set(x.data(), 0, 64, 64);
  out.assign(8, 3.0F);
  matmul(input, {&product, 1}, pool);
  CHECK(out == std::vector<float>(8, 3.0F));
}

}  // namespace glmhost::kernels
