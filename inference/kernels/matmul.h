// Matrix products of the engine: out[n][rows] = x[n][columns] * weights^T (+ bias).
//
// Quantised weights meet activations quantised to int8 per 32 values (scale = max|x| / 127, rounded to nearest even,
// with the sum of each 16 kept for offsets and minima); float weights meet float32 activations.
//
// Reproducibility, the promise on which "same seed, same text, whatever else is in the batch" rests: an output value
// depends on its own row of x and its own row of weights only. The order of float operations over k is the same for
// one row and for many, for every tile position, thread count and instruction set (integer sums are exact; float
// accumulation is one fused multiply-add per block, k ascending). Bulk rows have an order of their own, with the same
// promise except that it is that of the matrix unit.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "inference/kernels/packed_matrix.h"
#include "inference/kernels/thread_pool.h"

namespace glmhost::kernels {

// n rows of activations and, once a quantised matrix asks for it, their int8 form. Reused from call to call: memory is
// allocated at construction only.
class Activations {
 public:
  Activations(std::int64_t max_rows, std::int64_t max_columns);
  ~Activations();
  Activations(Activations&&) noexcept;
  Activations& operator=(Activations&&) noexcept;

  // Refers to x (rows x columns, row stride in floats) until the next set; x must stay unchanged while it is used.
  // The first `bulk` rows may meet quantised weights in bfloat16 with float32 sums, where the machine does that faster
  // than int8 for many rows at once (has_bulk_products). Whether a row is one of them must follow from the row itself,
  // never from what else is computed, or results would depend on it.
  void set(const float* x, std::int64_t rows, std::int64_t columns, std::int64_t stride, std::int64_t bulk = 0);

  struct State;
  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

struct Product {
  const PackedMatrix* weights;
  const float* bias = nullptr;  // weights->rows() values or null
  float* out;                   // rows of out_stride floats
  std::int64_t out_stride;
};

// Whether bulk rows are computed in another way than others on this machine.
bool has_bulk_products();

// All products of one input in one parallel loop (q, k and v; gate and up). Every weights->columns() must equal the
// activations' columns.
void matmul(Activations& input, std::span<const Product> products, ThreadPool& pool);

}  // namespace glmhost::kernels
