#include "inference/architectures/model.h"

#include <algorithm>
#include <new>

#include "inference/architectures/layer.h"
#include "inference/architectures/network.h"
#include "inference/error.h"

namespace glmhost::architectures {

namespace {

// Floats at a cache line's start, not initialised: touched when they are first written.
class FloatBuffer {
 public:
  explicit FloatBuffer(std::int64_t count)
      : data_(static_cast<float*>(
            ::operator new(static_cast<std::size_t>(std::max<std::int64_t>(count, 1)) * sizeof(float), kAlignment))) {}
  ~FloatBuffer() { ::operator delete(data_, kAlignment); }
  FloatBuffer(const FloatBuffer&) = delete;
  FloatBuffer& operator=(const FloatBuffer&) = delete;
  float* data() const { return data_; }

 private:
  static constexpr std::align_val_t kAlignment{64};
  float* data_;
};

std::int64_t angle_width(const Network& network) {
  std::int64_t width = 0;
  for (const RotaryTable& table : network.rotary_tables()) width += table.rotary_dim();
  return width;
}

void check_rows(std::span<const BatchRow> rows, const Hyperparameters& h, std::int64_t max_rows) {
  if (static_cast<std::int64_t>(rows.size()) > max_rows) {
    throw Error(ErrorKind::bad_argument, std::to_string(rows.size()) +
                                             " rows were given to a forward pass of at most " +
                                             std::to_string(max_rows) + ".");
  }
  bool bulk = true;
  for (const BatchRow& row : rows) {
    if (row.bulk && !bulk) throw Error(ErrorKind::bad_argument, "Bulk rows must be the first of a forward pass.");
    bulk = row.bulk;
    if (row.token < 0 || row.token >= h.vocabulary) {
      throw Error(ErrorKind::bad_argument, "Token " + std::to_string(row.token) +
                                               " is outside of the model's vocabulary (0 to " +
                                               std::to_string(h.vocabulary - 1) + ").");
    }
    const auto slots = static_cast<std::int64_t>(row.pages.size()) * kernels::kPageTokens;
    if (row.position < 0 || row.position >= slots) {
      throw Error(ErrorKind::bad_argument, "Position " + std::to_string(row.position) +
                                               " is outside of the sequence's cache (" + std::to_string(slots) +
                                               " positions).");
    }
  }
}

std::unique_ptr<Network> plan_network(const model_files::GgufFile& file, WeightPlan& plan, bool exact) {
  return make_network(MetadataReader(file), plan, exact ? kernels::KvType::f32 : kernels::KvType::f16);
}

}  // namespace

struct Model::Workspace::State {
  State(const Network& network, std::int64_t rows)
      : max_rows(rows),
        hidden(rows * network.hyperparameters().embedding_length),
        normed(rows * network.hyperparameters().embedding_length),
        branch(rows * network.hyperparameters().embedding_length),
        projected(rows * network.projected_width()),
        attended(rows * network.attended_width()),
        angles(rows * angle_width(network)),
        activations(rows, network.widest_input()) {
    float* next = angles.data();
    for (const RotaryTable& table : network.rotary_tables()) {
      table_angles.push_back(next);
      next += rows * table.rotary_dim();
    }
    attention_rows.reserve(static_cast<std::size_t>(rows));
    kept_rows.reserve(static_cast<std::size_t>(rows));
  }

  std::int64_t max_rows;
  FloatBuffer hidden;
  FloatBuffer normed;
  FloatBuffer branch;
  FloatBuffer projected;
  FloatBuffer attended;
  FloatBuffer angles;
  std::vector<float*> table_angles;
  kernels::Activations activations;
  std::vector<kernels::AttentionRow> attention_rows;
  std::vector<BatchRow> kept_rows;
  OperationTimes* times = nullptr;
};

Model::Workspace::Workspace(std::unique_ptr<State> state) : state_(std::move(state)) {}
Model::Workspace::~Workspace() = default;
std::int64_t Model::Workspace::max_rows() const {
  return state_->max_rows;
}

void Model::Workspace::time_operations(OperationTimes* times) {
  state_->times = times;
}

Model::Model(std::unique_ptr<const Network> network) : network_(std::move(network)) {}
Model::~Model() = default;

const Hyperparameters& Model::hyperparameters() const {
  return network_->hyperparameters();
}
std::size_t Model::page_bytes() const {
  return network_->page_bytes();
}
std::uint64_t Model::weight_bytes() const {
  return network_->weight_bytes;
}

std::unique_ptr<Model> Model::load(const model_files::GgufFile& file, const LoadOptions& options,
                                   kernels::ThreadPool& pool) {
  WeightPlan plan(file, options.exact);
  std::unique_ptr<Network> network = plan_network(file, plan, options.exact);
  plan.load(options, pool);
  network->finish_loading();
  network->weight_bytes = plan.bytes();
  return std::unique_ptr<Model>(new Model(std::move(network)));
}

MemoryEstimate Model::estimate(const model_files::GgufFile& file, bool exact, std::int64_t max_rows) {
  WeightPlan plan(file, exact);
  const std::unique_ptr<Network> network = plan_network(file, plan, exact);
  const std::int64_t floats = 3 * network->hyperparameters().embedding_length + network->projected_width() +
                              network->attended_width() + angle_width(*network);
  // Two forms of the activations: int8 with a scale and two sums for 32 of them, and bfloat16.
  const std::int64_t quantized = 3 * network->widest_input() + network->widest_input() / 32 * 12;
  return {.weights = plan.bytes(),
          .kv_per_token = network->page_bytes() / static_cast<std::uint64_t>(kernels::kPageTokens),
          .workspace =
              static_cast<std::uint64_t>(max_rows * (floats * static_cast<std::int64_t>(sizeof(float)) + quantized))};
}

std::unique_ptr<Model::Workspace> Model::make_workspace(std::int64_t max_rows) const {
  return std::unique_ptr<Workspace>(new Workspace(std::make_unique<Workspace::State>(*network_, max_rows)));
}

bool Model::forward(std::span<const BatchRow> rows, float* logits, Workspace& workspace, kernels::ThreadPool& pool,
                    const std::atomic<bool>* abandon, const LayerObserver* observer) const {
  const Network& network = *network_;
  const Hyperparameters& h = network.hyperparameters();
  Workspace::State& w = *workspace.state_;
  check_rows(rows, h, w.max_rows);
  const std::int64_t width = h.embedding_length;

  {
    const OperationTimer timer(w.times, -1, Operation::embedding);
    for_rows(pool, static_cast<std::int64_t>(rows.size()), width + 16 * angle_width(network), [&](std::int64_t row) {
      const BatchRow& source = rows[static_cast<std::size_t>(row)];
      float* hidden = w.hidden.data() + row * width;
      network.embedding().dequantize_row(source.token, hidden);
      if (network.embedding_scale() != 1) kernels::scale(hidden, network.embedding_scale(), width);
      for (std::size_t table = 0; table < w.table_angles.size(); ++table) {
        const RotaryTable& rotary = network.rotary_tables()[table];
        rotary.angles(source.position, w.table_angles[table] + row * rotary.rotary_dim());
      }
    });
  }

  Pass pass{.rows = rows,
            .bulk_rows = std::ranges::count_if(rows, &BatchRow::bulk),
            .embedding_length = width,
            .hidden = w.hidden.data(),
            .normed = w.normed.data(),
            .branch = w.branch.data(),
            .projected = w.projected.data(),
            .attended = w.attended.data(),
            .angles = w.table_angles,
            .activations = w.activations,
            .attention_rows = w.attention_rows,
            .kept_rows = w.kept_rows,
            .pool = pool,
            .abandon = abandon,
            .times = w.times};
  for (std::int64_t layer = 0; layer < h.layers; ++layer) {
    if (pass.abandoned()) return false;
    pass.layer = layer;
    // An observer wants all rows of every layer.
    pass.outputs_only = layer == h.layers - 1 && observer == nullptr;
    network.run_layer(layer, pass);
    if (observer != nullptr) {
      (*observer)(layer, {w.hidden.data(), static_cast<std::size_t>(pass.count() * width)});
    }
  }
  if (pass.abandoned()) return false;

  std::int64_t outputs = 0;
  for (std::int64_t row = 0; row < pass.count(); ++row) {
    if (!pass.rows[static_cast<std::size_t>(row)].wants_logits) continue;
    kernels::rms_norm(w.hidden.data() + row * width, network.output_norm().data(), h.norm_epsilon,
                      w.normed.data() + outputs++ * width, width);
  }
  if (outputs == 0) return true;
  const OperationTimer timer(
      w.times, h.layers, Operation::output_head, network.output().bytes(),
      2 * static_cast<std::uint64_t>(outputs * network.output().rows() * network.output().columns()));
  w.activations.set(w.normed.data(), outputs, width, width);
  const kernels::Product product{&network.output(), nullptr, logits, h.vocabulary};
  kernels::matmul(w.activations, std::span(&product, 1), pool);
  return true;
}

}  // namespace glmhost::architectures
