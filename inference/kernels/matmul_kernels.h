// Matrix products over panels, for any integer and lane types (ints_*.h, lanes_*.h). Internal.
//
// Few tokens: the packed lines are taken apart in registers and used at once, so that weights are read once and nothing
// is written. Many tokens: a panel's quants are first taken apart into bytes and its scales into floats, which then
// serve all tiles of tokens. Both add in the same order (see matmul_scalar.cpp).
#pragma once

#include <cstring>
#include <iterator>
#include <utility>

#include "inference/kernels/float_order.h"
#include "inference/kernels/kernel_table.h"
#include "inference/kernels/panel_format.h"

namespace glmhost::kernels {
namespace {

using model_files::TensorType;

// f.template operator()<0>() and so on: indices that are constants.
template <int kCount, class F>
[[gnu::always_inline]] inline void unrolled(const F& f) {
  [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
    (f.template operator()<i>(), ...);
  }
  (std::make_integer_sequence<int, kCount>{});
}

// f.template operator()<TensorType::Q4_0>() and so on; nothing for a float type.
template <class F>
void for_quantized_type(TensorType type, const F& f) {
  constexpr TensorType kTypes[] = {TensorType::Q4_0, TensorType::Q4_1, TensorType::Q5_0,   TensorType::Q5_1,
                                   TensorType::Q8_0, TensorType::Q2_K, TensorType::Q3_K,   TensorType::Q4_K,
                                   TensorType::Q5_K, TensorType::Q6_K, TensorType::IQ4_NL, TensorType::IQ4_XS};
  unrolled<static_cast<int>(std::size(kTypes))>([&]<int i>() {
    if (type == kTypes[i]) f.template operator()<kTypes[i]>();
  });
}

// What a kernel needs to know of a type once its quants are bytes.
struct Terms {
  int bits;
  int sub_blocks;
  bool minima;
};

// Reads a panel as it is stored, group by group.
template <class I, TensorType kType>
struct PackedPanel {
  static constexpr PanelFormat kFormat = panel_format(kType);
  static constexpr Terms kTerms = {kFormat.dot_bits(), kFormat.sub_blocks, kFormat.minima()};
  static constexpr int kGroupBlocks = kFormat.group_blocks;
  static constexpr bool kBytes = kFormat.group_blocks == 8;  // scales are a half times a byte
  using Floats = typename I::Floats;
  using Line = typename I::Line;

  const std::byte* group;
  Floats scale_of_group;
  Floats minimum_of_group;

  [[gnu::always_inline]] void open() {
    if constexpr (kBytes) {
      scale_of_group = I::from_halves(group);
      if constexpr (kFormat.minima()) minimum_of_group = Floats::broadcast(0) - I::from_halves(group + 32);
    }
  }
  [[gnu::always_inline]] void next() { group += kFormat.group_bytes(); }

  template <int g>
  [[gnu::always_inline]] Line line(int block) const {
    const std::byte* lines = group + kFormat.header_bytes + block * kFormat.bits * kLineBytes;
    if constexpr (kFormat.bits == 8) return I::load(lines + g * kLineBytes);
    if constexpr (kFormat.bits == 2) return twos<g>(lines);
    if constexpr (kFormat.bits == 3) return I::template with_high_bits<2>(twos<g>(lines), ones<g>(lines, 2));
    if constexpr (kFormat.bits >= 4) {
      const Line low = I::template bits<g / 4 * 4>(I::load(lines + g % 4 * kLineBytes), 15);
      if constexpr (kFormat.table) return I::look_up(kIq4Values.data(), low);
      if constexpr (kFormat.bits == 5) return I::template with_high_bits<4>(low, ones<g>(lines, 4));
      if constexpr (kFormat.bits == 6) return I::template with_high_bits<4>(low, twos<g>(lines + 4 * kLineBytes));
      return low;
    }
  }

  template <int kSub>
  [[gnu::always_inline]] Floats scale(int block) const {
    if constexpr (kFormat.scales == ScaleKind::halves) return I::from_halves(group + 32 * block);
    if constexpr (kFormat.scales == ScaleKind::half_minima) return I::from_halves(group);
    if constexpr (kBytes) {
      const std::byte* bytes = group + 64 + 16 * (block * kFormat.sub_blocks + kSub);
      if constexpr (kFormat.scales == ScaleKind::nibbles) return scale_of_group * I::template from_bits<0>(bytes, 15);
      return scale_of_group * I::from_signed_bytes(bytes);
    }
  }
  template <int kSub>
  [[gnu::always_inline]] Floats minimum(int block) const {
    if constexpr (kFormat.scales == ScaleKind::half_minima) return I::from_halves(group + 32);
    const std::byte* bytes = group + 64 + 16 * (block * kFormat.sub_blocks + kSub);
    if constexpr (kFormat.scales == ScaleKind::nibbles) return minimum_of_group * I::template from_bits<4>(bytes, 15);
    return minimum_of_group * I::from_signed_bytes(bytes + 8 * 16);
  }

 private:
  template <int g>
  [[gnu::always_inline]] static Line twos(const std::byte* lines) {
    return I::template bits<2 * (g % 4)>(I::load(lines + g / 4 * kLineBytes), 3);
  }
  template <int g>
  [[gnu::always_inline]] static Line ones(const std::byte* lines, int line) {
    return I::template bits<g>(I::load(lines + line * kLineBytes), 1);
  }
};

// Reads a panel that unpack() has taken apart.
template <class I, Terms kPanelTerms>
struct UnpackedPanel {
  static constexpr Terms kTerms = kPanelTerms;
  static constexpr int kGroupBlocks = 1;
  using Floats = typename I::Floats;

  const std::byte* lines;
  const float* scales;
  const float* minima;

  [[gnu::always_inline]] void open() {}
  [[gnu::always_inline]] void next() {
    lines += kBlockGroups * kLineBytes;
    scales += kTerms.sub_blocks * kPanelRows;
    minima += kTerms.sub_blocks * kPanelRows;
  }
  template <int g>
  [[gnu::always_inline]] typename I::Line line(int) const {
    return I::load(lines + g * kLineBytes);
  }
  template <int kSub>
  [[gnu::always_inline]] Floats scale(int) const {
    return Floats::load(scales + kSub * kPanelRows);
  }
  template <int kSub>
  [[gnu::always_inline]] Floats minimum(int) const {
    return Floats::load(minima + kSub * kPanelRows);
  }
};

// What the activations' sums contribute to a product with one type: [sub block][block][token].
struct SideTerms {
  std::int32_t* first;  // where the integer sums begin
  float* sums;          // what minima are multiplied with
};

// Scratch memory, handed out front to back in pieces of whole cache lines.
class Scratch {
 public:
  explicit Scratch(std::byte* at) : at_(at) {}
  template <class T>
  T* take(std::int64_t count) {
    T* taken = reinterpret_cast<T*>(at_);
    at_ += (count * static_cast<std::int64_t>(sizeof(T)) + 63) / 64 * 64;
    return taken;
  }

 private:
  std::byte* at_;
};

template <class I>
class Matmul {
  using Floats = typename I::Floats;
  using Task = ProductTask<QuantizedTile>;

 public:
  static void quantize(const float* x, std::int64_t stride, const QuantizedTile& tile) {
    for (std::int64_t t = 0; t < tile.tokens; ++t) {
      for (std::int64_t begin = 0; begin < tile.blocks; begin += kScalesAtOnce) {
        const std::int64_t left = tile.blocks - begin;
        quantize_blocks(x + t * stride + begin * kBlock, tile, begin, left < kScalesAtOnce ? left : kScalesAtOnce, t);
      }
    }
  }

  static void multiply_quantized(const Task& task) {
    for_quantized_type(task.type, [&]<TensorType kType>() { multiply<kType>(task); });
  }

  static void multiply_float(const ProductTask<FloatTile>& task) {
    switch (task.type) {
      case TensorType::F16:
        return multiply_floats<TensorType::F16>(task);
      case TensorType::BF16:
        return multiply_floats<TensorType::BF16>(task);
      default:
        return multiply_floats<TensorType::F32>(task);
    }
  }

  // --- of use to other kernels over panels too

  template <TensorType kType>
  static constexpr std::int64_t packed_bytes(std::int64_t columns) {
    constexpr std::int64_t kColumns = panel_format(kType).group_blocks * kBlock;
    constexpr std::int64_t kBytes = panel_format(kType).group_bytes();
    return (columns + kColumns - 1) / kColumns * kBytes;
  }

  // Rows row .. row + 15 of one token, as far as the matrix goes.
  [[gnu::always_inline]] static void write(Floats value, const float* bias, std::int64_t row, std::int64_t rows,
                                           float* out) {
    const std::int64_t n = rows - row;
    if (n >= kPanelRows) {
      if (bias != nullptr) value = value + Floats::load(bias + row);
      value.store(out + row);
    } else {
      if (bias != nullptr) value = value + Floats::load_first(bias + row, n);
      value.store_first(out + row, n);
    }
  }

 private:
  static constexpr std::int64_t kScalesAtOnce = 16;  // divisions of many blocks share an instruction

  static void quantize_blocks(const float* x, const QuantizedTile& tile, std::int64_t first, std::int64_t count,
                              std::int64_t t) {
    std::uint32_t most_bits[kScalesAtOnce] = {};
    for (std::int64_t i = 0; i < count; ++i) most_bits[i] = I::greatest_magnitude(x + i * kBlock);
    float most[kScalesAtOnce];
    std::memcpy(most, most_bits, sizeof most);
    float factors[kScalesAtOnce];
    float scales[kScalesAtOnce];
    for (std::int64_t i = 0; i < kScalesAtOnce; ++i) {
      const bool finite = most_bits[i] < 0x7F800000U;
      const bool zero = !finite || most[i] < kSmallestActivation;
      factors[i] = zero ? 0 : 127.0F / most[i];
      scales[i] = !finite ? __builtin_nanf("") : zero ? 0 : most[i] / 127.0F;
    }
    const std::int64_t tokens = tile.tokens;
    float* to_scales = tile.scales + first * tokens + t;
    std::int32_t* to_sums = tile.sums + first * tokens + t;
    std::int8_t* to_quants = tile.quants + first * kBlock * tokens + t * 4;
    const std::int64_t sums_step = tile.blocks * tokens;
    alignas(64) std::int8_t room[kScalesAtOnce * kBlock];
    std::int8_t* quants = tokens == 1 ? to_quants : room;  // one token's words are where they belong
    for (std::int64_t i = 0; i < count; ++i) {
      std::int32_t sums[2] = {0, 0};
      if (factors[i] != 0) {
        I::quantize(x + i * kBlock, factors[i], quants + i * kBlock, sums);
      } else {
        std::memset(quants + i * kBlock, 0, kBlock);
      }
      to_scales[i * tokens] = scales[i];
      to_sums[i * tokens] = sums[0];
      to_sums[i * tokens + sums_step] = sums[1];
    }
    for (std::int64_t i = 0; tokens > 1 && i < count * kBlockGroups; ++i) {
      std::memcpy(to_quants + i * tokens * 4, quants + i * 4, 4);
    }
  }

  template <TensorType kType>
  static void multiply(const Task& task) {
    if (task.tiles.size() == 1) {
      multiply_packed<kType>(task);
    } else {
      multiply_unpacked<kType>(task);
    }
  }

  // --- few tokens

  template <TensorType kType>
  static void multiply_packed(const Task& task) {
    const QuantizedTile& tile = task.tiles.front();
    Scratch scratch(task.scratch);
    const SideTerms side = side_terms<kType>(tile, scratch);
    const std::int64_t step = packed_bytes<kType>(task.columns);
    std::int64_t row = 0;
    const std::byte* panel = task.panels;
    for (; tile.tokens == 1 && row + kPanelRows < task.rows; row += 2 * kPanelRows, panel += 2 * step) {
      PackedPanel<I, kType> panels[2] = {{panel, {}, {}}, {panel + step, {}, {}}};
      run_tile<1>(panels, tile, side, task, row, task.out);
    }
    for (; row < task.rows; row += kPanelRows, panel += step) {
      PackedPanel<I, kType> panels[1] = {{panel, {}, {}}};
      run_tile<I::kTokens>(panels, tile, side, task, row, task.out);
    }
  }

  // --- many tokens

  template <TensorType kType>
  static void multiply_unpacked(const Task& task) {
    constexpr Terms kTerms = PackedPanel<I, kType>::kTerms;
    const std::int64_t blocks = task.columns / kBlock;
    Scratch scratch(task.scratch);
    std::byte* lines[I::kPanels];
    float* scales[I::kPanels];
    float* minima[I::kPanels];
    for (int p = 0; p < I::kPanels; ++p) {
      lines[p] = scratch.template take<std::byte>(blocks * kBlockGroups * kLineBytes);
      scales[p] = scratch.template take<float>(blocks * kTerms.sub_blocks * kPanelRows);
      minima[p] = scratch.template take<float>(kTerms.minima ? blocks * kTerms.sub_blocks * kPanelRows : 0);
    }
    const std::int64_t step = packed_bytes<kType>(task.columns);
    for (std::int64_t row = 0; row < task.rows; row += I::kPanels * kPanelRows) {
      const std::int64_t left = (task.rows - row + kPanelRows - 1) / kPanelRows;
      const int count = left < I::kPanels ? static_cast<int>(left) : I::kPanels;
      UnpackedPanel<I, kTerms> panels[I::kPanels];
      for (int p = 0; p < count; ++p) {
        unpack<kType>(task.panels + (row / kPanelRows + p) * step, blocks, lines[p], scales[p], minima[p]);
        panels[p] = {lines[p], scales[p], minima[p]};
      }
      float* out = task.out;
      for (const QuantizedTile& tile : task.tiles) {
        Scratch rest = scratch;
        const SideTerms side = side_terms<kType>(tile, rest);
        if (count == I::kPanels) {
          run_tile<I::kTokens>(panels, tile, side, task, row, out);
        } else {
          for (int p = 0; p < count; ++p) {
            UnpackedPanel<I, kTerms> one[1] = {panels[p]};
            run_tile<I::kTokens>(one, tile, side, task, row + p * kPanelRows, out);
          }
        }
        out += tile.tokens * task.out_stride;
      }
    }
  }

  template <TensorType kType>
  static void unpack(const std::byte* packed, std::int64_t blocks, std::byte* lines, float* scales, float* minima) {
    using Panel = PackedPanel<I, kType>;
    Panel panel = {packed, {}, {}};
    for (std::int64_t begin = 0; begin < blocks; begin += Panel::kGroupBlocks) {
      panel.open();
      for (int block = 0; block < Panel::kGroupBlocks && begin + block < blocks; ++block) {
        unrolled<8>([&]<int g>() {
          I::store(lines, panel.template line<g>(block));
          lines += kLineBytes;
        });
        unrolled<Panel::kTerms.sub_blocks>([&]<int sub>() {
          panel.template scale<sub>(block).store(scales);
          scales += kPanelRows;
          if constexpr (Panel::kTerms.minima) {
            panel.template minimum<sub>(block).store(minima);
            minima += kPanelRows;
          }
        });
      }
      panel.next();
    }
  }

  // --- both

  template <TensorType kType>
  static SideTerms side_terms(const QuantizedTile& tile, Scratch& scratch) {
    constexpr PanelFormat kFormat = panel_format(kType);
    const std::int64_t count = tile.blocks * tile.tokens;
    const SideTerms side = {scratch.take<std::int32_t>(count * kFormat.sub_blocks),
                            scratch.take<float>(kFormat.minima() ? count * kFormat.sub_blocks : 0)};
    for (int sub = 0; sub < kFormat.sub_blocks; ++sub) {
      const std::int32_t* sums = tile.sums + sub * count;
      std::int32_t* first = side.first + sub * count;
      float* products = side.sums + sub * count;
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int32_t sum = kFormat.sub_blocks == 1 ? sums[i] + sums[i + count] : sums[i];
        first[i] = -kFormat.offset * sum;
        if constexpr (kFormat.minima()) products[i] = tile.scales[i] * static_cast<float>(sum);
      }
    }
    return side;
  }

  // Calls run with the tile's width as a constant.
  template <int kTokens, class Panel, std::size_t kPanels>
  static void run_tile(const Panel (&panels)[kPanels], const QuantizedTile& tile, const SideTerms& side,
                       const Task& task, std::int64_t row, float* out) {
    if constexpr (kTokens > 1) {
      if (tile.tokens != kTokens) return run_tile<kTokens - 1>(panels, tile, side, task, row, out);
    }
    run<kTokens>(panels, tile, side, task, row, out);
  }

  template <int kTokens, class Panel, std::size_t kPanels>
  static void run(const Panel (&panels)[kPanels], const QuantizedTile& tile, const SideTerms& side, const Task& task,
                  std::int64_t row, float* out) {
    constexpr int kCount = static_cast<int>(kPanels);
    Panel at[kPanels];
    Floats acc[kPanels][kTokens];
    for (int p = 0; p < kCount; ++p) {
      at[p] = panels[p];
      for (int t = 0; t < kTokens; ++t) acc[p][t] = Floats::broadcast(0);
    }
    Input input = {tile.quants, tile.scales, side.first, side.sums, tile.blocks * kTokens};
    for (std::int64_t begin = 0; begin < tile.blocks; begin += Panel::kGroupBlocks) {
      for (int p = 0; p < kCount; ++p) at[p].open();
      for (int block = 0; block < Panel::kGroupBlocks && begin + block < tile.blocks; ++block) {
        add_block<kTokens>(at, block, input, acc);
        input.x += kBlock * kTokens;
        input.scales += kTokens;
        input.first += kTokens;
        if constexpr (Panel::kTerms.minima) input.sums += kTokens;
      }
      for (int p = 0; p < kCount; ++p) at[p].next();
    }
    for (int p = 0; p < kCount; ++p) {
      const std::int64_t begin = row + p * kPanelRows;
      for (int t = 0; t < kTokens; ++t) write(acc[p][t], task.bias, begin, task.rows, out + t * task.out_stride);
    }
  }

  // Where the activations of one block of 32 columns stand; sub block `s` is sub_step * s further in `first` and
  // `sums`.
  struct Input {
    const std::int8_t* x;
    const float* scales;
    const std::int32_t* first;
    const float* sums;
    std::int64_t sub_step;
  };

  // Integer sums, then for each scale one fused multiply-add, then one for each minimum.
  template <int kTokens, class Panel, std::size_t kPanels>
  [[gnu::always_inline]] static void add_block(const Panel (&panels)[kPanels], int block, const Input& input,
                                               Floats (&acc)[kPanels][kTokens]) {
    add_products<kTokens, 0>(panels, block, input, acc);
    if constexpr (Panel::kTerms.sub_blocks == 2) add_products<kTokens, 1>(panels, block, input, acc);
    if constexpr (Panel::kTerms.minima) {
      add_minima<kTokens, 0>(panels, block, input, acc);
      if constexpr (Panel::kTerms.sub_blocks == 2) add_minima<kTokens, 1>(panels, block, input, acc);
    }
  }

  template <int kTokens, int kSub, class Panel, std::size_t kPanels>
  [[gnu::always_inline]] static void add_products(const Panel (&panels)[kPanels], int block, const Input& input,
                                                  Floats (&acc)[kPanels][kTokens]) {
    using Sum = typename I::template Sum<Panel::kTerms.bits>;
    using Line = typename I::Line;
    constexpr int kCount = static_cast<int>(kPanels);
    constexpr int kLines = static_cast<int>(kBlockGroups) / Panel::kTerms.sub_blocks;
    Sum sum[kPanels][kTokens];
    for (int t = 0; t < kTokens; ++t) {
      for (int p = 0; p < kCount; ++p) sum[p][t].start(input.first[kSub * input.sub_step + t]);
    }
    unrolled<kLines>([&]<int i>() __attribute__((always_inline)) {
      constexpr int g = kSub * kLines + i;
      Line lines[kPanels];
      for (int p = 0; p < kCount; ++p) lines[p] = panels[p].template line<g>(block);
      for (int t = 0; t < kTokens; ++t) {
        const auto word = I::broadcast(input.x + (g * kTokens + t) * 4);
        for (int p = 0; p < kCount; ++p) sum[p][t].add(lines[p], word);
      }
    });
    for (int p = 0; p < kCount; ++p) {
      const Floats scale = panels[p].template scale<kSub>(block);
      for (int t = 0; t < kTokens; ++t) {
        acc[p][t] = fma(sum[p][t].floats(), scale * Floats::broadcast(input.scales[t]), acc[p][t]);
      }
    }
  }

  template <int kTokens, int kSub, class Panel, std::size_t kPanels>
  [[gnu::always_inline]] static void add_minima(const Panel (&panels)[kPanels], int block, const Input& input,
                                                Floats (&acc)[kPanels][kTokens]) {
    for (int p = 0; p < static_cast<int>(kPanels); ++p) {
      const Floats minimum = panels[p].template minimum<kSub>(block);
      for (int t = 0; t < kTokens; ++t) {
        acc[p][t] = fma(minimum, Floats::broadcast(input.sums[kSub * input.sub_step + t]), acc[p][t]);
      }
    }
  }

  // --- float weights

  template <TensorType kType>
  static void multiply_floats(const ProductTask<FloatTile>& task) {
    constexpr std::int64_t kValueBytes = kType == TensorType::F32 ? 4 : 2;
    const std::int64_t step = (task.columns * kPanelRows * kValueBytes + kLineBytes - 1) / kLineBytes * kLineBytes;
    const std::byte* panel = task.panels;
    std::int64_t row = 0;
    for (; row + (I::kFloatPanels - 1) * kPanelRows < task.rows; row += I::kFloatPanels * kPanelRows) {
      float_tiles<kType, I::kFloatPanels>(task, panel, step, row);
      panel += I::kFloatPanels * step;
    }
    for (; row < task.rows; row += kPanelRows, panel += step) float_tiles<kType, 1>(task, panel, step, row);
  }

  template <TensorType kType, int kPanels>
  static void float_tiles(const ProductTask<FloatTile>& task, const std::byte* panel, std::int64_t step,
                          std::int64_t row) {
    float* out = task.out;
    for (const FloatTile& tile : task.tiles) {
      float_tile<kType, kPanels, I::kFloatTokens>(task, tile, panel, step, row, out);
      out += tile.tokens * task.out_stride;
    }
  }

  template <TensorType kType, int kPanels, int kTokens>
  static void float_tile(const ProductTask<FloatTile>& task, const FloatTile& tile, const std::byte* panel,
                         std::int64_t step, std::int64_t row, float* out) {
    if constexpr (kTokens > 1) {
      if (tile.tokens != kTokens) {
        return float_tile<kType, kPanels, kTokens - 1>(task, tile, panel, step, row, out);
      }
    }
    Floats total[kPanels][kTokens];
    for (int p = 0; p < kPanels; ++p) {
      for (int t = 0; t < kTokens; ++t) total[p][t] = Floats::broadcast(0);
    }
    for (std::int64_t begin = 0; begin < task.columns; begin += kFloatChunk) {
      const std::int64_t end = begin + kFloatChunk < task.columns ? begin + kFloatChunk : task.columns;
      Floats acc[kPanels][kTokens];
      for (int p = 0; p < kPanels; ++p) {
        for (int t = 0; t < kTokens; ++t) acc[p][t] = Floats::broadcast(0);
      }
      for (std::int64_t k = begin; k < end; ++k) {
        Floats weights[kPanels];
        for (int p = 0; p < kPanels; ++p) weights[p] = load_weights<kType>(panel + p * step, k);
        for (int t = 0; t < kTokens; ++t) {
          const Floats x = Floats::broadcast(tile.values[k * kTokens + t]);
          for (int p = 0; p < kPanels; ++p) acc[p][t] = fma(weights[p], x, acc[p][t]);
        }
      }
      for (int p = 0; p < kPanels; ++p) {
        for (int t = 0; t < kTokens; ++t) total[p][t] = total[p][t] + acc[p][t];
      }
    }
    for (int p = 0; p < kPanels; ++p) {
      for (int t = 0; t < kTokens; ++t) {
        write(total[p][t], task.bias, row + p * kPanelRows, task.rows, out + t * task.out_stride);
      }
    }
  }

  template <TensorType kType>
  [[gnu::always_inline]] static Floats load_weights(const std::byte* panel, std::int64_t k) {
    if constexpr (kType == TensorType::F32) {
      return Floats::load(reinterpret_cast<const float*>(panel) + k * kPanelRows);
    } else {
      const auto* halves = reinterpret_cast<const std::uint16_t*>(panel) + k * kPanelRows;
      return kType == TensorType::F16 ? Floats::load_f16(halves) : Floats::load_bf16(halves);
    }
  }
};

template <class I>
constexpr MatmulKernels matmul_table() {
  using M = Matmul<I>;
  return {I::kTokens, I::kFloatTokens, M::quantize, M::multiply_quantized, M::multiply_float};
}

}  // namespace
}  // namespace glmhost::kernels
