// A model of the reference vectors with its input and logits.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "inference/architectures/model.h"

namespace glmhost::architectures {

struct ModelVector {
  std::filesystem::path file;
  std::vector<std::int32_t> tokens;
  std::int64_t vocabulary;
  std::vector<float> logits;  // of the last rows() tokens

  std::int64_t rows() const { return static_cast<std::int64_t>(logits.size()) / vocabulary; }
};

inline ModelVector read_vector(const std::filesystem::path& folder, const std::string& name) {
  ModelVector vector;
  vector.file = folder / (name + ".gguf");
  const nlohmann::json description = nlohmann::json::parse(std::ifstream(folder / (name + ".json")));
  vector.tokens = description.at("tokens").get<std::vector<std::int32_t>>();
  vector.vocabulary = description.at("vocab").get<std::int64_t>();
  const std::filesystem::path raw = folder / (name + ".logits.f32");
  vector.logits.resize(std::filesystem::file_size(raw) / sizeof(float));
  std::ifstream(raw, std::ios::binary)
      .read(reinterpret_cast<char*>(vector.logits.data()),
            static_cast<std::streamsize>(vector.logits.size() * sizeof(float)));
  REQUIRE(vector.rows() > 0);
  return vector;
}

inline std::filesystem::path own_vectors() {
  return std::filesystem::path(GLMHOST_TEST_DATA) / "models";
}
inline std::filesystem::path shared_vectors() {
  return std::filesystem::path(GLMHOST_SHARED_DATA) / "vectors" / "models";
}

inline std::unique_ptr<Model> load_file(const std::filesystem::path& path, kernels::ThreadPool& pool,
                                        bool exact = false) {
  LoadOptions options;
  options.exact = exact;
  return Model::load(model_files::GgufFile::open(path), options, pool);
}

}  // namespace glmhost::architectures
