#include "inference/model_files/tensor_type.h"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "tests/unit/inference/model_files/refusal.h"

namespace glmhost::model_files {

TEST_CASE("every type has the id, name and block size of the GGUF specification") {
  struct Row {
    std::uint32_t id;
    std::string_view name;
    std::int64_t values;
    std::int64_t bytes;
  };
  constexpr std::array kTable = {
      Row{0, "F32", 1, 4},       Row{1, "F16", 1, 2},         Row{2, "Q4_0", 32, 18},    Row{3, "Q4_1", 32, 20},
      Row{6, "Q5_0", 32, 22},    Row{7, "Q5_1", 32, 24},      Row{8, "Q8_0", 32, 34},    Row{10, "Q2_K", 256, 84},
      Row{11, "Q3_K", 256, 110}, Row{12, "Q4_K", 256, 144},   Row{13, "Q5_K", 256, 176}, Row{14, "Q6_K", 256, 210},
      Row{20, "IQ4_NL", 32, 18}, Row{23, "IQ4_XS", 256, 136}, Row{30, "BF16", 1, 2},
  };
  std::size_t found = 0;
  for (std::uint32_t id = 0; id < 300; ++id) found += find_traits(id) != nullptr;
  CHECK(found == kTable.size());
  for (const Row& row : kTable) {
    INFO(row.name);
    const TensorTypeTraits* known = find_traits(row.id);
    REQUIRE(known);
    CHECK(static_cast<std::uint32_t>(known->type) == row.id);
    CHECK(known->name == row.name);
    CHECK(known->block_values == row.values);
    CHECK(known->block_bytes == row.bytes);
    CHECK(&traits(known->type) == known);
    CHECK(tensor_type_name(row.id) == row.name);
    CHECK(row_bytes(known->type, 512) == 512 / row.values * row.bytes);
    CHECK(row_bytes(known->type, 0) == 0);
  }
}

TEST_CASE("types that are not read are named, with what to take instead") {
  CHECK(tensor_type_name(16) == "IQ2_XXS");
  CHECK(tensor_type_name(18) == "IQ3_XXS");
  CHECK(tensor_type_name(39) == "MXFP4");
  CHECK(tensor_type_name(77) == "type 77");
  CHECK(tensor_type_name(0xffffffff) == "type 4294967295");
  CHECK(supported_instead_of(18).find("Q3_K") != std::string::npos);
  CHECK(supported_instead_of(77).find("Q4_K_M") != std::string::npos);
}

TEST_CASE("sizes that are no whole blocks are refused") {
  check_refused([] { row_bytes(TensorType::Q4_0, 33); }, ErrorKind::bad_argument, {"33", "Q4_0", "32"});
  check_refused([] { row_bytes(TensorType::Q6_K, 128); }, ErrorKind::bad_argument, {"128", "Q6_K", "256"});
  check_refused([] { row_bytes(TensorType::F32, -1); }, ErrorKind::bad_argument, {"-1"});
  check_refused([] { row_bytes(static_cast<TensorType>(77), 32); }, ErrorKind::bad_argument, {"type 77"});

  std::array<float, 32> out;
  std::array<std::byte, 19> blocks{};
  check_refused([&] { dequantize(TensorType::Q4_0, blocks, out); }, ErrorKind::bad_argument, {"Q4_0", "18", "19"});
  check_refused([&] { dequantize(TensorType::F32, std::span(blocks).first(3), std::span(out).first(1)); },
                ErrorKind::bad_argument, {"F32", "4 bytes"});
  CHECK_NOTHROW(dequantize(TensorType::Q4_0, {}, {}));
}

// The compiler's own half type is the reference, where it has one.
#ifdef __FLT16_MANT_DIG__
TEST_CASE("every half converts to float as the compiler converts it") {
  int different = 0;
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float expected = static_cast<float>(std::bit_cast<_Float16>(half));
    const float actual = f16_to_f32(half);
    if (std::isnan(expected)) {
      different += !std::isnan(actual);
    } else {
      different += std::bit_cast<std::uint32_t>(actual) != std::bit_cast<std::uint32_t>(expected);
    }
  }
  CHECK(different == 0);
}

TEST_CASE("floats round to the nearest half, ties to even, as the compiler rounds them") {
  int different = 0;
  const auto compare = [&](float value) {
    const auto expected = std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
    const std::uint16_t actual = f32_to_f16(value);
    if (std::isnan(value)) {
      different += (actual & 0x7c00) != 0x7c00 || (actual & 0x3ff) == 0;
    } else {
      different += actual != expected;
    }
  };
  // Every half, the midpoint to the next one, and the floats beside both.
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const float value = f16_to_f32(static_cast<std::uint16_t>(bits));
    const float next = f16_to_f32(static_cast<std::uint16_t>(bits + 1));
    const float middle = value + (next - value) / 2;
    for (const float near : {value, middle}) {
      compare(near);
      compare(std::nextafter(near, std::numeric_limits<float>::infinity()));
      compare(std::nextafter(near, -std::numeric_limits<float>::infinity()));
    }
  }
  // A stride through all floats; odd, so that every exponent and many mantissas occur.
  for (std::uint64_t bits = 0; bits <= 0xffffffff; bits += 65'521) {
    compare(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  for (const float value : {65519.99f, 65520.0f, 1e30f, 0x1p-25f, 0x1.000002p-25f, 0x1p-149f}) {
    compare(value);
    compare(-value);
  }
  CHECK(different == 0);
}

#endif

TEST_CASE("bfloat16 is the upper half of a float") {
  CHECK(bf16_to_f32(0x3f80) == 1.0f);
  CHECK(bf16_to_f32(0xc000) == -2.0f);
  CHECK(std::bit_cast<std::uint32_t>(bf16_to_f32(0x0001)) == 0x00010000u);  // subnormal, kept
  CHECK(std::isinf(bf16_to_f32(0x7f80)));
}

}  // namespace glmhost::model_files
