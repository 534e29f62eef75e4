// Builds small models with random weights, sound ones and, where a test asks for it, broken ones.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "inference/model_files/gguf_file.h"
#include "tests/unit/inference/model_files/gguf_writer.h"

namespace glmhost::architectures {

struct RandomModel {
  std::string architecture = "llama";
  std::uint32_t layers = 2;
  std::uint32_t embedding = 32;
  std::uint32_t heads = 4;
  std::uint32_t kv_heads = 2;
  std::uint32_t head_length = 8;
  std::uint32_t rotary = 8;
  std::uint32_t feed_forward = 48;
  std::uint32_t vocabulary = 64;
  std::uint32_t context = 256;
  std::uint32_t tokens = 0;  // of the tokenizer: letters; 0: none
  bool tied = false;
  bool fused = false;  // attn_qkv, and gate and up in ffn_up
  bool bias = false;   // of q, k and v
  std::uint32_t seed = 1;

  std::map<std::string, std::uint32_t> integers;  // further or other keys, without the architecture's name
  std::map<std::string, float> numbers;
  std::map<std::string, std::string> texts;
  std::function<void(model_files::GgufWriter&)> more_keys;
  std::map<std::string, std::vector<std::uint64_t>> shapes;  // further tensors or other shapes
  std::map<std::string, std::vector<float>> values;          // further one-dimensional tensors with these values
  std::set<std::string> missing;                             // tensors and keys left out

  model_files::Bytes bytes() const;
  model_files::GgufFile file() const { return model_files::GgufFile::from_bytes(bytes(), "x.gguf"); }
};

}  // namespace glmhost::architectures
