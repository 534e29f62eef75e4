#include "inference/kernels/attention.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "inference/error.h"
#include "inference/kernels/attention_rows.h"
#include "tests/unit/inference/kernels/random_data.h"

namespace glmhost::kernels {
namespace {

using testing::Random;

struct Shape {
  std::int64_t heads;
  std::int64_t kv_heads;
  std::int64_t key_dim;
  std::int64_t value_dim;
  KvType type;
  std::int64_t window;
};

// A sequence of `length` tokens with their queries, and a cache filled with NaN where nothing was stored. One layer's
// part lies behind another's, as in a model.
class Sequence {
 public:
  Sequence(const Shape& shape, std::int64_t length, Random& random, InstructionSet store_with) : shape_(shape) {
    const KvLayout layout = parameters().layout;
    keys_ = random.normals(length * shape.kv_heads * shape.key_dim);
    values_ = random.normals(length * shape.kv_heads * shape.value_dim);
    queries_ = random.normals(length * shape.heads * shape.key_dim);
    const std::int64_t pages = (length + kPageTokens - 1) / kPageTokens + 1;
    for (std::int64_t p = 0; p < pages; ++p) {
      memory_.emplace_back(offset() / 4 + layout.bytes() / 4 + 16, std::numeric_limits<float>::quiet_NaN());
      auto* page = reinterpret_cast<std::byte*>(memory_.back().data());
      std::fill(page, page + memory_.back().size() * 4, std::byte{0xFF});  // NaN as half and as float
      pages_.push_back(page);
    }
    for (float& key : keys_) key = stored(key);
    for (float& value : values_) value = stored(value);
    for (std::int64_t t = 0; t < length; ++t) {
      attention_kernels(store_with)
          .store_kv(layout, pages_[static_cast<std::size_t>(t / kPageTokens)] + offset(), t % kPageTokens,
                    keys_.data() + t * shape.kv_heads * shape.key_dim,
                    values_.data() + t * shape.kv_heads * shape.value_dim);
    }
  }

  AttentionParameters parameters() const {
    return {{shape_.kv_heads, shape_.key_dim, shape_.value_dim, shape_.type},
            offset(),
            shape_.heads,
            1.0F / std::sqrt(static_cast<float>(shape_.key_dim)),
            shape_.window};
  }

  std::int64_t out_columns() const { return shape_.heads * shape_.value_dim; }
  const std::vector<std::byte*>& pages() const { return pages_; }

  AttentionRow row(std::int64_t position, float* out, bool bulk = false) const {
    return {queries_.data() + position * shape_.heads * shape_.key_dim, out, position, pages_, bulk};
  }

  // Rows [first, last) as one call; the first of them in bulk.
  std::vector<float> attend(InstructionSet set, std::int64_t first, std::int64_t last, ThreadPool& pool,
                            std::int64_t bulk = 0) const {
    std::vector<float> out(static_cast<std::size_t>((last - first) * out_columns()), 1e9F);
    std::vector<AttentionRow> rows;
    for (std::int64_t t = first; t < last; ++t) {
      rows.push_back(row(t, out.data() + (t - first) * out_columns(), t - first < bulk));
    }
    attention_with(attention_kernels(set), parameters(), rows, pool);
    return out;
  }

  // Softmax by its definition, in double precision.
  std::vector<double> expected(std::int64_t position) const {
    const std::int64_t begin = shape_.window > 0 ? std::max<std::int64_t>(0, position - shape_.window + 1) : 0;
    std::vector<double> out(static_cast<std::size_t>(out_columns()), 0.0);
    for (std::int64_t head = 0; head < shape_.heads; ++head) {
      const std::int64_t kv = head * shape_.kv_heads / shape_.heads;
      const float* query = queries_.data() + (position * shape_.heads + head) * shape_.key_dim;
      std::vector<double> weights;
      double most = -std::numeric_limits<double>::infinity();
      for (std::int64_t t = begin; t <= position; ++t) {
        double score = 0;
        for (std::int64_t d = 0; d < shape_.key_dim; ++d) {
          score += static_cast<double>(query[d]) *
                   keys_[static_cast<std::size_t>((t * shape_.kv_heads + kv) * shape_.key_dim + d)];
        }
        weights.push_back(score / std::sqrt(static_cast<double>(shape_.key_dim)));
        most = std::max(most, weights.back());
      }
      double sum = 0;
      for (double& weight : weights) sum += weight = std::exp(weight - most);
      for (std::int64_t t = begin; t <= position; ++t) {
        const double weight = weights[static_cast<std::size_t>(t - begin)] / sum;
        for (std::int64_t d = 0; d < shape_.value_dim; ++d) {
          out[static_cast<std::size_t>(head * shape_.value_dim + d)] +=
              weight * values_[static_cast<std::size_t>((t * shape_.kv_heads + kv) * shape_.value_dim + d)];
        }
      }
    }
    return out;
  }

 private:
  static std::size_t offset() { return 192; }
  // What the cache keeps of a value.
  float stored(float value) const {
    return shape_.type == KvType::f32 ? value : model_files::f16_to_f32(model_files::f32_to_f16(value));
  }

  Shape shape_;
  std::vector<float> keys_;
  std::vector<float> values_;
  std::vector<float> queries_;
  std::vector<std::vector<float>> memory_;
  std::vector<std::byte*> pages_;
};

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

const Shape kShapes[] = {
    {3, 1, 64, 64, KvType::f16, 0},    {9, 3, 64, 64, KvType::f16, 0},  {4, 4, 16, 16, KvType::f32, 0},
    {6, 2, 24, 24, KvType::f32, 0},    {5, 1, 24, 40, KvType::f16, 16}, {4, 1, 256, 256, KvType::f16, 20},
    {32, 2, 128, 128, KvType::f16, 0}, {20, 1, 20, 7, KvType::f32, 33}, {2, 1, 8, 16, KvType::f16, 1},
    {14, 2, 64, 64, KvType::f32, 600},
};

}  // namespace

TEST_CASE("Attention equals softmax by its definition") {
  Random random(31);
  ThreadPool pool(2);
  for (const Shape& shape : kShapes) {
    CAPTURE(shape.heads);
    CAPTURE(shape.key_dim);
    CAPTURE(shape.window);
    for (const std::int64_t length : {1, 31, 33, 70}) {
      if (shape.key_dim > 64 && length > 40) continue;  // slow without vectors
      const Sequence sequence(shape, length, random, InstructionSet::scalar);
      std::vector<double> expected;
      for (std::int64_t t = 0; t < length; ++t) {
        const std::vector<double> row = sequence.expected(t);
        expected.insert(expected.end(), row.begin(), row.end());
      }
      for (const InstructionSet set : supported_instruction_sets()) {
        CAPTURE(name(set));
        const std::vector<float> out = sequence.attend(set, 0, length, pool);
        double worst = 0;
        for (std::size_t k = 0; k < expected.size(); ++k) {
          worst = std::isnan(out[k]) ? 1 : std::max(worst, std::fabs(out[k] - expected[k]));
        }
        CHECK(worst < 2e-6);
      }
    }
  }
}

TEST_CASE("A long sequence crosses segments, with and without a window") {
  Random random(32);
  ThreadPool pool(2);
  for (const Shape& shape : {Shape{3, 1, 32, 32, KvType::f16, 0}, Shape{2, 2, 16, 16, KvType::f32, 700}}) {
    constexpr std::int64_t kLength = 1600;
    const Sequence sequence(shape, kLength, random, InstructionSet::scalar);
    for (const InstructionSet set : supported_instruction_sets()) {
      CAPTURE(name(set));
      for (const std::int64_t t : {510, 511, 512, 513, 1023, 1024, 1211, 1212, 1599}) {
        const std::vector<float> out = sequence.attend(set, t, t + 1, pool);
        const std::vector<double> expected = sequence.expected(t);
        for (std::size_t k = 0; k < expected.size(); ++k) CHECK(std::fabs(out[k] - expected[k]) < 2e-6);
      }
    }
  }
}

TEST_CASE("A row has the same bits whatever is computed with it, on any threads and instruction set") {
  Random random(33);
  ThreadPool one(1);
  ThreadPool four(4);
  constexpr std::int64_t kRows = 41;
  for (const Shape& shape : kShapes) {
    CAPTURE(shape.heads);
    CAPTURE(shape.key_dim);
    CAPTURE(shape.window);
    const std::int64_t length = shape.key_dim <= 24 ? 1100 : 100;
    const Sequence sequence(shape, length, random, InstructionSet::scalar);
    const std::int64_t first = length - kRows;
    std::vector<float> alone;
    for (std::int64_t t = first; t < length; ++t) {
      const std::vector<float> out = sequence.attend(InstructionSet::scalar, t, t + 1, one);
      alone.insert(alone.end(), out.begin(), out.end());
    }
    for (const InstructionSet set : supported_instruction_sets()) {
      CAPTURE(name(set));
      CHECK(same_bits(sequence.attend(set, first, length, one), alone));
      CHECK(same_bits(sequence.attend(set, first, length, four), alone));
      for (const std::int64_t pieces : {std::int64_t{2}, std::int64_t{3}, std::int64_t{7}, kRows}) {
        if (set == InstructionSet::scalar && pieces != 3) continue;  // slow
        std::vector<float> joined;
        for (std::int64_t p = 0; p < pieces; ++p) {
          const std::vector<float> out =
              sequence.attend(set, first + kRows * p / pieces, first + kRows * (p + 1) / pieces, four);
          joined.insert(joined.end(), out.begin(), out.end());
        }
        CHECK(same_bits(joined, alone));
      }
    }
  }
}

TEST_CASE("Bulk rows are as exact as bfloat16, and have the same bits in any batch and on any threads") {
  Random random(36);
  ThreadPool one(1);
  ThreadPool three(3);
  for (const InstructionSet set : supported_instruction_sets()) {
    if (attention_kernels(set).attend_bulk == nullptr) continue;
    for (Shape shape : kShapes) {
      shape.type = KvType::f16;
      CAPTURE(shape.heads);
      CAPTURE(shape.key_dim);
      CAPTURE(shape.window);
      const std::int64_t length = shape.key_dim <= 24 ? 1100 : 100;
      const Sequence sequence(shape, length, random, set);
      const std::int64_t columns = sequence.out_columns();
      const std::vector<float> out = sequence.attend(set, 0, length, three, length);
      double worst = 0;
      for (std::int64_t t = 0; t < length; t += t < 70 || t > 1000 ? 1 : 37) {
        const std::vector<double> expected = sequence.expected(t);
        for (std::int64_t k = 0; k < columns; ++k) {
          const float got = out[static_cast<std::size_t>(t * columns + k)];
          worst = std::isnan(got) ? 1 : std::max(worst, std::fabs(got - expected[static_cast<std::size_t>(k)]));
        }
      }
      CHECK(worst < 0.03);  // of values around 1
      for (const std::int64_t pieces : {2, 3, 7}) {
        std::vector<float> joined;
        for (std::int64_t p = 0; p < pieces; ++p) {
          const std::int64_t begin = length * p / pieces;
          const std::int64_t end = length * (p + 1) / pieces;
          const std::vector<float> part = sequence.attend(set, begin, end, one, end - begin);
          joined.insert(joined.end(), part.begin(), part.end());
        }
        CHECK(same_bits(joined, out));
      }
      const std::vector<float> mixed = sequence.attend(set, 0, length, three, length / 2);
      const std::vector<float> others = sequence.attend(set, 0, length, one);
      const std::ptrdiff_t middle = length / 2 * columns;
      CHECK(same_bits({mixed.begin(), mixed.begin() + middle}, {out.begin(), out.begin() + middle}));
      CHECK(same_bits({mixed.begin() + middle, mixed.end()}, {others.begin() + middle, others.end()}));
    }
  }
}

TEST_CASE("Several sequences in one batch do not touch each other") {
  Random random(34);
  ThreadPool pool(2);
  const Shape shape = kShapes[1];
  const Sequence a(shape, 40, random, InstructionSet::scalar);
  const Sequence b(shape, 100, random, InstructionSet::scalar);
  for (const InstructionSet set : supported_instruction_sets()) {
    std::vector<float> out(static_cast<std::size_t>(4 * a.out_columns()));
    const auto place = [&](std::int64_t i) { return out.data() + i * a.out_columns(); };
    const AttentionRow rows[] = {a.row(39, place(0)), b.row(98, place(1)), b.row(99, place(2)), a.row(7, place(3))};
    attention_with(attention_kernels(set), a.parameters(), rows, pool);
    std::vector<float> expected = a.attend(set, 39, 40, pool);
    for (const auto& [sequence, t] : {std::pair{&b, 98}, std::pair{&b, 99}, std::pair{&a, 7}}) {
      const std::vector<float> one = sequence->attend(set, t, t + 1, pool);
      expected.insert(expected.end(), one.begin(), one.end());
    }
    CHECK(same_bits(out, expected));
  }
}

TEST_CASE("Keys and values are stored in the same place and with the same bits by every instruction set") {
  Random random(35);
  for (const Shape& shape : kShapes) {
    const KvLayout layout = {shape.kv_heads, shape.key_dim, shape.value_dim, shape.type};
    const std::vector<float> key = random.normals(shape.kv_heads * shape.key_dim, 300);
    const std::vector<float> value = random.normals(shape.kv_heads * shape.value_dim, 300);
    std::vector<std::byte> expected(layout.bytes(), std::byte{0x55});
    for (const InstructionSet set : supported_instruction_sets()) {
      CAPTURE(name(set));
      std::vector<std::byte> page(layout.bytes(), std::byte{0x55});
      attention_kernels(set).store_kv(layout, page.data(), 17, key.data(), value.data());
      const std::size_t size = layout.element_bytes();
      const auto element = [&](std::int64_t index) -> float {
        const std::byte* at = page.data() + static_cast<std::size_t>(index) * size;
        if (shape.type == KvType::f32) {
          float f;
          std::memcpy(&f, at, 4);
          return f;
        }
        std::uint16_t half;
        std::memcpy(&half, at, 2);
        return model_files::f16_to_f32(half);
      };
      const auto kept = [&](float f) {
        return shape.type == KvType::f32 ? f : model_files::f16_to_f32(model_files::f32_to_f16(f));
      };
      for (std::int64_t i = 0; i < std::ssize(key); ++i) {
        CHECK(element(i * kPageTokens + 17) == kept(key[static_cast<std::size_t>(i)]));
      }
      const std::int64_t values_at = std::ssize(key) * kPageTokens;
      for (std::int64_t i = 0; i < std::ssize(value); ++i) {
        const std::int64_t head = i / shape.value_dim;
        const std::int64_t place = values_at + (head * kPageTokens + 17) * shape.value_dim + i % shape.value_dim;
        CHECK(element(place) == kept(value[static_cast<std::size_t>(i)]));
      }
      if (set == InstructionSet::scalar) expected = page;
      CHECK(page == expected);
    }
  }
}

TEST_CASE("Heads that cannot be shared out and positions without a page are refused") {
  Random random(36);
  ThreadPool pool(1);
  const Sequence sequence(kShapes[0], 33, random, InstructionSet::scalar);
  std::vector<float> out(static_cast<std::size_t>(sequence.out_columns()));
  AttentionParameters parameters = sequence.parameters();
  AttentionRow row = sequence.row(32, out.data());
  row.pages = row.pages.first(1);
  CHECK_THROWS_AS(attention(parameters, {&row, 1}, pool), Error);
  row = sequence.row(-1 + 1, out.data());
  row.position = -1;
  CHECK_THROWS_AS(attention(parameters, {&row, 1}, pool), Error);
  parameters.layout.kv_heads = 2;
  row = sequence.row(0, out.data());
  CHECK_THROWS_AS(attention(parameters, {&row, 1}, pool), Error);
  attention(sequence.parameters(), {}, pool);
}

}  // namespace glmhost::kernels
