#include "inference/architectures/weights.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <new>
#include <thread>

#include "inference/error.h"

namespace glmhost::architectures {

using kernels::PackedMatrix;
using model_files::TensorInfo;
using model_files::TensorType;

namespace {

// Small enough that a cancel is noticed within milliseconds, large enough for a disk.
constexpr std::int64_t kPieceBytes = std::int64_t{2} << 20;

std::string shape_text(const TensorInfo& tensor) {
  std::string text = std::to_string(tensor.ne[0]);
  for (int i = 1; i < tensor.dimensions; ++i) text += " x " + std::to_string(tensor.ne[static_cast<std::size_t>(i)]);
  return text;
}

// A run of rows of one tensor: what one thread reads and packs at a time.
struct Piece {
  std::size_t item;
  std::int64_t first;
  std::int64_t count;
};

}  // namespace

bool WeightPlan::has(std::string_view name) const {
  return file_.find_tensor(name) != nullptr;
}

const TensorInfo& WeightPlan::require(const std::string& name, std::int64_t rows, std::int64_t columns) {
  const TensorInfo* tensor = file_.find_tensor(name);
  if (tensor == nullptr) {
    throw Error(ErrorKind::bad_file, "The model file " + file_.path().string() + " has no tensor '" + name +
                                         "', which its architecture needs. The file is incomplete or was converted "
                                         "wrongly; get it again.");
  }
  const bool fits = tensor->ne[0] == columns && tensor->ne[1] == rows && tensor->ne[2] == 1 && tensor->ne[3] == 1;
  if (!fits) {
    throw Error(ErrorKind::bad_file,
                "In the model file " + file_.path().string() + " the tensor '" + name + "' has the shape " +
                    shape_text(*tensor) + ", but the file's own hyper-parameters ask for " + std::to_string(columns) +
                    (rows == 1 ? "" : " x " + std::to_string(rows)) + ". The file is damaged; get it again.");
  }
  if (!used_.insert(name).second) {
    throw Error(ErrorKind::bad_file, "The tensor '" + name + "' is asked for twice.");
  }
  return *tensor;
}

TensorType WeightPlan::target_type(const TensorInfo& tensor) const {
  return exact_ ? TensorType::F32 : tensor.type;
}

void WeightPlan::matrix(const std::string& name, std::int64_t rows, std::int64_t columns, Matrix& target) {
  items_.push_back({&require(name, rows, columns), &target, nullptr});
}

void WeightPlan::vector(const std::string& name, std::int64_t count, std::vector<float>& target) {
  items_.push_back({&require(name, 1, count), nullptr, &target});
}

void WeightPlan::linear(const std::string& name, std::int64_t out, std::int64_t in, Linear& target) {
  matrix(name + ".weight", out, in, target.weights);
  if (has(name + ".bias")) vector(name + ".bias", out, target.bias);
}

void WeightPlan::ignore(std::string_view name) {
  if (has(name)) used_.emplace(name);
}

void WeightPlan::ignore_prefix(std::string_view prefix) {
  for (const TensorInfo& tensor : file_.tensors()) {
    if (tensor.name.starts_with(prefix)) used_.insert(tensor.name);
  }
}

void WeightPlan::check_all_used() const {
  for (const TensorInfo& tensor : file_.tensors()) {
    if (used_.contains(tensor.name)) continue;
    throw Error(ErrorKind::unsupported, "The model file " + file_.path().string() + " holds the tensor '" +
                                            tensor.name + "', which this version does not use for '" +
                                            file_.architecture() +
                                            "' models: its answers would be wrong. A newer version may run it.");
  }
}

std::uint64_t WeightPlan::bytes() const {
  std::uint64_t sum = 0;
  for (const Item& item : items_) {
    const TensorInfo& tensor = *item.tensor;
    sum += item.matrix != nullptr ? PackedMatrix::bytes_for(target_type(tensor), tensor.rows(), tensor.columns())
                                  : static_cast<std::uint64_t>(tensor.columns()) * sizeof(float);
  }
  return sum;
}

void WeightPlan::read_rows(const Item& item, std::int64_t first, std::int64_t count) const {
  const TensorInfo& tensor = *item.tensor;
  const auto row_bytes = static_cast<std::size_t>(model_files::row_bytes(tensor.type, tensor.columns()));
  std::vector<std::byte> raw(row_bytes * static_cast<std::size_t>(count));
  file_.read(tensor, row_bytes * static_cast<std::size_t>(first), raw);
  if (item.vector != nullptr) {
    model_files::dequantize(tensor.type, raw, *item.vector);
  } else if (target_type(tensor) == tensor.type) {
    (*item.matrix)->pack_rows(first, count, raw);
  } else {
    std::vector<float> values(static_cast<std::size_t>(count * tensor.columns()));
    model_files::dequantize(tensor.type, raw, values);
    (*item.matrix)->pack_rows(first, count, std::as_bytes(std::span(values)));
  }
}

void WeightPlan::load(const LoadOptions& options, kernels::ThreadPool& pool) {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    const TensorInfo& tensor = *item.tensor;
    if (item.vector != nullptr) {
      item.vector->resize(static_cast<std::size_t>(tensor.columns()));
      pieces.push_back({i, 0, 1});
      continue;
    }
    item.matrix->emplace(target_type(tensor), tensor.rows(), tensor.columns());
    const std::int64_t row_bytes = model_files::row_bytes(tensor.type, tensor.columns());
    const std::int64_t panels = std::max<std::int64_t>(1, kPieceBytes / (row_bytes * kernels::kPanelRows));
    const std::int64_t step = panels * kernels::kPanelRows;
    for (std::int64_t first = 0; first < tensor.rows(); first += step) {
      pieces.push_back({i, first, std::min(step, tensor.rows() - first)});
    }
  }

  // A piece's failure must not leave the loop's body: the first one is kept and stops the rest.
  std::mutex mutex;
  std::exception_ptr failure;
  std::atomic<bool> stop = false;
  std::atomic<std::size_t> done = 0;
  const std::thread::id caller = std::this_thread::get_id();
  const auto body = [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end && !stop.load(std::memory_order_relaxed); ++i) {
      try {
        if (options.cancel != nullptr && options.cancel->load(std::memory_order_relaxed)) {
          throw Error(ErrorKind::cancelled, "Loading the model was cancelled.");
        }
        const Piece& piece = pieces[static_cast<std::size_t>(i)];
        read_rows(items_[piece.item], piece.first, piece.count);
        const std::size_t finished = done.fetch_add(1) + 1;
        if (options.progress && std::this_thread::get_id() == caller) {
          options.progress(static_cast<double>(finished) / static_cast<double>(pieces.size()));
        }
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        stop = true;
      }
    }
  };
  pool.for_range(static_cast<std::int64_t>(pieces.size()), 1, body);
  if (failure) {
    try {
      std::rethrow_exception(failure);
    } catch (const std::bad_alloc&) {
      throw Error(ErrorKind::out_of_memory, "The system has no memory left for loading " + file_.path().string() +
                                                ": close other programs or take a smaller model.");
    }
  }
  if (options.progress) options.progress(1.0);
}

}  // namespace glmhost::architectures
