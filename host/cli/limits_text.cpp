#include "host/cli/limits_text.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "host/cli/text_table.h"
#include "inference/kernels/instruction_set.h"

namespace glmhost::cli {
namespace {

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), value < 100 ? "%.1f" : "%.0f", value);
  return text.data();
}

}  // namespace

std::string limits_text(const kernels::MachineLimits& limits, int threads) {
  Table table({"limit", "1 thread", threads == 1 ? "" : std::to_string(threads) + " threads", "unit"});
  const auto add = [&](const char* name, const kernels::LimitRate& rate, const char* unit) {
    table.add({name, number(rate.one_thread), threads == 1 ? "" : number(rate.all_threads), unit});
  };
  add("reading memory", limits.memory_read, "GB/s");
  add("reading a cache (1 MiB a thread)", limits.cache_read, "GB/s");
  add("int8 dot products", limits.int8, "GOP/s");
  add("float32 multiply-adds", limits.f32, "GFLOP/s");
  if (limits.bf16_tiles) add("bfloat16 tiles", *limits.bf16_tiles, "GFLOP/s");
  return table.text();
}

Json limits_json(const kernels::MachineLimits& limits, int threads) {
  Json out = {{"threads", threads}, {"kernels", std::string(kernels::name(kernels::selected_instruction_set()))}};
  const auto add = [&](const char* name, const kernels::LimitRate& rate) {
    out[name] = {{"one_thread", rate.one_thread}, {"all_threads", rate.all_threads}};
  };
  add("memory_read_gb_per_s", limits.memory_read);
  add("cache_read_gb_per_s", limits.cache_read);
  add("int8_gop_per_s", limits.int8);
  add("f32_gflop_per_s", limits.f32);
  if (limits.bf16_tiles) add("bf16_tiles_gflop_per_s", *limits.bf16_tiles);
  return out;
}

void Achieved::add(const architectures::OperationTime& time) {
  seconds += time.seconds;
  gigabytes += static_cast<double>(time.bytes) / 1e9;
  gigaoperations += static_cast<double>(time.operations) / 1e9;
}

Share share_of_limits(const Achieved& achieved, const kernels::MachineLimits& limits) {
  const double fastest = std::max(limits.int8.all_threads, limits.bf16_tiles ? limits.bf16_tiles->all_threads : 0.0);
  return {limits.memory_read.all_threads > 0 ? achieved.gb_per_s() / limits.memory_read.all_threads : 0,
          fastest > 0 ? achieved.gop_per_s() / fastest : 0};
}

const char* operation_name(architectures::Operation operation) {
  using architectures::Operation;
  switch (operation) {
    case Operation::embedding:
      return "embedding";
    case Operation::norm:
      return "norm";
    case Operation::query_key_value:
      return "q k v";
    case Operation::rotary_and_cache:
      return "rotary, cache";
    case Operation::attention:
      return "attention";
    case Operation::attention_output:
      return "attention out";
    case Operation::residual:
      return "residual";
    case Operation::gate_up:
      return "gate, up";
    case Operation::activation:
      return "activation";
    case Operation::down:
      return "down";
    case Operation::output_head:
      return "output head";
  }
  return "";
}

}  // namespace glmhost::cli
