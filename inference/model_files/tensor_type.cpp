#include "inference/model_files/tensor_type.h"

#include <algorithm>
#include <array>

#include "inference/error.h"

namespace glmhost::model_files {
namespace {

constexpr std::array kTraits = {
    TensorTypeTraits{TensorType::F32, "F32", 1, 4},         TensorTypeTraits{TensorType::F16, "F16", 1, 2},
    TensorTypeTraits{TensorType::Q4_0, "Q4_0", 32, 18},     TensorTypeTraits{TensorType::Q4_1, "Q4_1", 32, 20},
    TensorTypeTraits{TensorType::Q5_0, "Q5_0", 32, 22},     TensorTypeTraits{TensorType::Q5_1, "Q5_1", 32, 24},
    TensorTypeTraits{TensorType::Q8_0, "Q8_0", 32, 34},     TensorTypeTraits{TensorType::Q2_K, "Q2_K", 256, 84},
    TensorTypeTraits{TensorType::Q3_K, "Q3_K", 256, 110},   TensorTypeTraits{TensorType::Q4_K, "Q4_K", 256, 144},
    TensorTypeTraits{TensorType::Q5_K, "Q5_K", 256, 176},   TensorTypeTraits{TensorType::Q6_K, "Q6_K", 256, 210},
    TensorTypeTraits{TensorType::IQ4_NL, "IQ4_NL", 32, 18}, TensorTypeTraits{TensorType::IQ4_XS, "IQ4_XS", 256, 136},
    TensorTypeTraits{TensorType::BF16, "BF16", 1, 2},
};

struct UnsupportedType {
  std::uint32_t id;
  std::string_view name;
  std::string_view instead;
};

// What GGUF files in the wild may hold beyond kTraits, and the nearest types by size that this version reads.
constexpr std::string_view kNoWeights = "a conversion of the model whose weights are Q4_K_M, Q8_0 or F16";
constexpr std::array kUnsupported = {
    UnsupportedType{4, "Q4_2", "Q4_0 or Q4_K_M"},
    UnsupportedType{5, "Q4_3", "Q4_1 or Q4_K_M"},
    UnsupportedType{9, "Q8_1", "Q8_0"},
    UnsupportedType{15, "Q8_K", "Q8_0"},
    UnsupportedType{16, "IQ2_XXS", "Q2_K or, better, Q3_K_M"},
    UnsupportedType{17, "IQ2_XS", "Q2_K or, better, Q3_K_M"},
    UnsupportedType{18, "IQ3_XXS", "Q3_K_S or Q3_K_M"},
    UnsupportedType{19, "IQ1_S", "Q2_K"},
    UnsupportedType{21, "IQ3_S", "Q3_K_M or IQ4_XS"},
    UnsupportedType{22, "IQ2_S", "Q2_K or, better, Q3_K_M"},
    UnsupportedType{24, "I8", kNoWeights},
    UnsupportedType{25, "I16", kNoWeights},
    UnsupportedType{26, "I32", kNoWeights},
    UnsupportedType{27, "I64", kNoWeights},
    UnsupportedType{28, "F64", "F32, BF16 or F16"},
    UnsupportedType{29, "IQ1_M", "Q2_K"},
    UnsupportedType{31, "Q4_0_4_4", "Q4_0"},
    UnsupportedType{32, "Q4_0_4_8", "Q4_0"},
    UnsupportedType{33, "Q4_0_8_8", "Q4_0"},
    UnsupportedType{34, "TQ1_0", "Q2_K"},
    UnsupportedType{35, "TQ2_0", "Q2_K"},
    UnsupportedType{36, "IQ4_NL_4_4", "IQ4_NL"},
    UnsupportedType{37, "IQ4_NL_4_8", "IQ4_NL"},
    UnsupportedType{38, "IQ4_NL_8_8", "IQ4_NL"},
    UnsupportedType{39, "MXFP4", "Q4_K_M or Q8_0"},
    UnsupportedType{40, "NVFP4", "Q4_K_M or Q8_0"},
    UnsupportedType{41, "Q1_0", "Q2_K"},
    UnsupportedType{42, "Q2_0", "Q2_K"},
};

const UnsupportedType* find_unsupported(std::uint32_t id) {
  const auto found = std::ranges::find(kUnsupported, id, &UnsupportedType::id);
  return found == kUnsupported.end() ? nullptr : &*found;
}

}  // namespace

const TensorTypeTraits* find_traits(std::uint32_t id) {
  const auto found = std::ranges::find(kTraits, static_cast<TensorType>(id), &TensorTypeTraits::type);
  return found == kTraits.end() ? nullptr : &*found;
}

const TensorTypeTraits& traits(TensorType type) {
  if (const TensorTypeTraits* found = find_traits(static_cast<std::uint32_t>(type))) return *found;
  throw Error(ErrorKind::bad_argument,
              tensor_type_name(static_cast<std::uint32_t>(type)) + " is not a tensor type that this version reads.");
}

std::string tensor_type_name(std::uint32_t id) {
  if (const TensorTypeTraits* supported = find_traits(id)) return std::string(supported->name);
  if (const UnsupportedType* known = find_unsupported(id)) return std::string(known->name);
  return "type " + std::to_string(id);
}

std::string supported_instead_of(std::uint32_t id) {
  const UnsupportedType* known = find_unsupported(id);
  return std::string(known ? known->instead : "Q4_K_M, Q5_K_M, Q6_K or Q8_0");
}

std::int64_t row_bytes(TensorType type, std::int64_t values) {
  const TensorTypeTraits& known = traits(type);
  if (values < 0 || values % known.block_values != 0) {
    throw Error(ErrorKind::bad_argument, std::to_string(values) + " values are not a whole number of " +
                                             std::string(known.name) + " blocks of " +
                                             std::to_string(known.block_values) + " values.");
  }
  return values / known.block_values * known.block_bytes;
}

}  // namespace glmhost::model_files
