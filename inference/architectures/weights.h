// The tensors that a network asks for: checked against the file first, read later.
//
// A family's constructor names each tensor with the shape it computed from the hyper-parameters. Nothing is read then,
// so that the same constructor serves Model::estimate; load() reads all data in one parallel loop.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "inference/architectures/model.h"
#include "inference/kernels/packed_matrix.h"

namespace glmhost::architectures {

// A matrix of the network: empty until its data is read.
using Matrix = std::optional<kernels::PackedMatrix>;

// y = x W^T (+ b). weights: out x in.
struct Linear {
  Matrix weights;
  std::vector<float> bias;  // empty: none
};

class WeightPlan {
 public:
  // exact: every matrix is kept as float32.
  WeightPlan(const model_files::GgufFile& file, bool exact) : file_(file), exact_(exact) {}

  const model_files::GgufFile& file() const { return file_; }
  bool has(std::string_view name) const;

  // Targets must stay where they are until load() is done. Throws Error(bad_file) naming the tensor when it is missing
  // or has another shape.
  void matrix(const std::string& name, std::int64_t rows, std::int64_t columns, Matrix& target);
  void vector(const std::string& name, std::int64_t count, std::vector<float>& target);
  // NAME.weight and, where the file has it, NAME.bias.
  void linear(const std::string& name, std::int64_t out, std::int64_t in, Linear& target);

  // Tensors that are in the file and rightly not used.
  void ignore(std::string_view name);
  void ignore_prefix(std::string_view prefix);
  // Throws Error(unsupported) naming a tensor that nobody asked for: the file holds a part this version would leave
  // out.
  void check_all_used() const;

  std::uint64_t bytes() const;  // in memory after load

  // Reads everything. Throws Error: bad_file, io, out_of_memory, cancelled.
  void load(const LoadOptions& options, kernels::ThreadPool& pool);

 private:
  struct Item {
    const model_files::TensorInfo* tensor;
    Matrix* matrix;  // one of the two is set
    std::vector<float>* vector;
  };

  const model_files::TensorInfo& require(const std::string& name, std::int64_t rows, std::int64_t columns);
  model_files::TensorType target_type(const model_files::TensorInfo& tensor) const;
  void read_rows(const Item& item, std::int64_t first, std::int64_t count) const;

  const model_files::GgufFile& file_;
  bool exact_;
  std::vector<Item> items_;
  std::unordered_set<std::string> used_;
};

}  // namespace glmhost::architectures
