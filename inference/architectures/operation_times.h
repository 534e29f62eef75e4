// How long each operation of a forward pass took, for `glm profile`.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace glmhost::architectures {

enum class Operation {
  embedding,
  norm,
  query_key_value,
  rotary_and_cache,  // rotation, norms of heads, storing keys and values
  attention,
  attention_output,
  residual,
  gate_up,
  activation,
  down,
  output_head,
};
inline constexpr int kOperations = static_cast<int>(Operation::output_head) + 1;

struct OperationTime {
  std::int64_t layer;  // -1 before the layers, their number behind them
  Operation operation;
  double seconds;
  std::uint64_t bytes;       // of weights, or of keys and values, that had to be read at least once
  std::uint64_t operations;  // of the products, a multiplication and its addition being two; 0: none to speak of
};

// The operations of one pass or of several, in order. Not thread-safe.
using OperationTimes = std::vector<OperationTime>;

// Times its own life, unless `times` is null.
class OperationTimer {
 public:
  OperationTimer(OperationTimes* times, std::int64_t layer, Operation operation, std::uint64_t bytes = 0,
                 std::uint64_t operations = 0)
      : times_(times), entry_{layer, operation, 0, bytes, operations} {
    if (times_ != nullptr) start_ = std::chrono::steady_clock::now();
  }
  ~OperationTimer() {
    if (times_ == nullptr) return;
    entry_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    times_->push_back(entry_);
  }
  OperationTimer(const OperationTimer&) = delete;
  OperationTimer& operator=(const OperationTimer&) = delete;

 private:
  OperationTimes* times_;
  OperationTime entry_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace glmhost::architectures
