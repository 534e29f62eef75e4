// Files that cannot be run, each refused with a sentence that names what is wrong.
#include "inference/architectures/model.h"
#include "tests/unit/inference/architectures/random_model.h"
#include "tests/unit/inference/model_files/refusal.h"

namespace glmhost::architectures {

namespace {

using model_files::check_refused;

// Both loading and estimating refuse.
void check_model_refused(const RandomModel& model, ErrorKind kind, std::initializer_list<std::string_view> words) {
  const model_files::GgufFile file = model.file();
  kernels::ThreadPool pool(1);
  check_refused([&] { Model::load(file, {}, pool); }, kind, words);
  check_refused([&] { Model::estimate(file); }, kind, words);
}

}  // namespace

TEST_CASE("an architecture that is not known") {
  RandomModel model;
  model.architecture = "qwen2";
  check_model_refused(model, ErrorKind::unsupported,
                      {"x.gguf", "'qwen2'", "this version runs llama, chatglm, glm4, gemma3"});
}

TEST_CASE("a vocabulary without weights") {
  const model_files::Bytes bytes = [] {
    model_files::GgufWriter writer;
    writer.text("general.architecture", "llama");
    for (const char* key :
         {"block_count", "context_length", "embedding_length", "feed_forward_length", "attention.head_count"}) {
      writer.u32(std::string("llama.") + key, 8);
    }
    writer.number("llama.attention.layer_norm_rms_epsilon", model_files::kF32, 1e-5f);
    return writer.bytes();
  }();
  const model_files::GgufFile file = model_files::GgufFile::from_bytes(bytes, "vocabulary.gguf");
  check_refused([&] { Model::estimate(file); }, ErrorKind::bad_file, {"vocabulary only", "full file"});
}

TEST_CASE("a tensor is missing") {
  for (const std::string name :
       {"token_embd.weight", "output_norm.weight", "blk.0.attn_norm.weight", "blk.1.attn_q.weight",
        "blk.1.attn_output.weight", "blk.0.ffn_norm.weight", "blk.1.ffn_gate.weight", "blk.0.ffn_down.weight"}) {
    RandomModel model;
    model.missing.insert(name);
    check_model_refused(model, ErrorKind::bad_file, {"x.gguf", name});
  }
  for (const std::string name : {"blk.0.post_attention_norm.weight", "blk.1.post_ffw_norm.weight"}) {
    RandomModel model;
    model.architecture = "glm4";
    model.missing.insert(name);
    check_model_refused(model, ErrorKind::bad_file, {"x.gguf", name});
  }
}

TEST_CASE("a tensor has another shape than the hyper-parameters say") {
  const std::vector<std::pair<std::string, std::vector<std::uint64_t>>> wrong = {
      {"output.weight", {32, 63}},        {"output.weight", {31, 64}},         {"output_norm.weight", {31}},
      {"blk.0.attn_q.weight", {32, 31}},  {"blk.1.attn_k.weight", {31, 16}},   {"blk.0.attn_v.weight", {32, 16, 2}},
      {"blk.0.ffn_up.weight", {32, 49}},  {"blk.1.ffn_down.weight", {47, 32}}, {"blk.0.attn_q.bias", {31}},
      {"blk.0.ffn_norm.weight", {32, 2}}, {"token_embd.weight", {33, 64}},
  };
  for (const auto& [name, shape] : wrong) {
    RandomModel model;
    model.shapes[name] = shape;
    check_model_refused(model, ErrorKind::bad_file, {"x.gguf", name, "shape"});
  }
}

TEST_CASE("a tensor that nobody uses would be left out silently") {
  RandomModel model;
  model.shapes["blk.0.attn_q_norm.weight"] = {8};
  check_model_refused(model, ErrorKind::unsupported, {"blk.0.attn_q_norm.weight", "'llama'"});
}

TEST_CASE("a hyper-parameter is missing or out of range") {
  for (const std::string key : {"block_count", "context_length", "embedding_length", "feed_forward_length",
                                "attention.head_count", "attention.layer_norm_rms_epsilon"}) {
    RandomModel model;
    model.missing.insert(key);
    check_model_refused(model, ErrorKind::bad_file, {"x.gguf", "llama." + key});
  }
  const std::vector<std::pair<std::string, std::uint32_t>> wrong = {
      {"block_count", 0},
      {"block_count", 4000000000},
      {"context_length", 0},
      {"embedding_length", 0},
      {"feed_forward_length", 0},
      {"attention.head_count", 0},
      {"attention.head_count", 5000},
      {"attention.head_count_kv", 0},
      {"attention.head_count_kv", 3},
      {"attention.head_count_kv", 8},
      {"attention.key_length", 0},
      {"attention.value_length", 1000000},
      {"rope.dimension_count", 0},
      {"rope.dimension_count", 10},
      {"rope.dimension_count", 7},
      {"nextn_predict_layers", 2},
      {"context_length", 4000000000},
  };
  for (const auto& entry : wrong) {
    const auto& key = entry.first;
    const auto& value = entry.second;
    CAPTURE(value);
    RandomModel model;
    model.integers[key] = value;
    check_model_refused(model, ErrorKind::bad_file, {"x.gguf", "llama." + key});
  }
  for (const float value : {0.0f, -1.0f, 2.0f, std::numeric_limits<float>::quiet_NaN()}) {
    RandomModel model;
    model.numbers["attention.layer_norm_rms_epsilon"] = value;
    check_model_refused(model, ErrorKind::bad_file, {"attention.layer_norm_rms_epsilon"});
  }
  for (const float value : {0.0f, -5.0f, std::numeric_limits<float>::infinity()}) {
    RandomModel model;
    model.numbers["rope.freq_base"] = value;
    check_model_refused(model, ErrorKind::bad_file, {"rope.freq_base"});
  }
}

TEST_CASE("a key that would change the equations") {
  RandomModel experts;
  experts.integers["expert_count"] = 8;
  check_model_refused(experts, ErrorKind::unsupported, {"llama.expert_count"});
  RandomModel window;
  window.integers["attention.sliding_window"] = 4096;
  check_model_refused(window, ErrorKind::unsupported, {"llama.attention.sliding_window"});
  RandomModel capped;
  capped.numbers["final_logit_softcapping"] = 30;
  check_model_refused(capped, ErrorKind::unsupported, {"llama.final_logit_softcapping"});
  RandomModel scaled;
  scaled.numbers["logit_scale"] = 0.5f;
  check_model_refused(scaled, ErrorKind::unsupported, {"llama.logit_scale"});
  RandomModel neutral;
  neutral.integers["expert_count"] = 0;
  neutral.numbers["logit_scale"] = 1;
  CHECK_NOTHROW(Model::estimate(neutral.file()));
}

TEST_CASE("layers that differ in their number of heads") {
  const auto with_heads = [](std::vector<std::int32_t> heads) {
    RandomModel model;
    model.missing.insert("attention.head_count_kv");
    model.more_keys = [heads](model_files::GgufWriter& writer) {
      writer.numbers("llama.attention.head_count_kv", model_files::kI32, heads);
    };
    return model;
  };
  CHECK_NOTHROW(Model::estimate(with_heads({2, 2}).file()));
  check_model_refused(with_heads({2, 1}), ErrorKind::unsupported, {"llama.attention.head_count_kv", "layer"});
  check_model_refused(with_heads({}), ErrorKind::bad_file, {"llama.attention.head_count_kv"});
}

TEST_CASE("a rotary scaling that is not known") {
  RandomModel model;
  model.texts["rope.scaling.type"] = "longrope";
  check_model_refused(model, ErrorKind::unsupported, {"llama.rope.scaling.type", "'longrope'", "yarn"});
}

TEST_CASE("divisors of the rotary frequencies that are no positive numbers") {
  for (const float bad : {0.0f, -1.0f, std::numeric_limits<float>::infinity()}) {
    RandomModel model;
    model.values["rope_freqs.weight"] = {1, bad, 1, 1};
    kernels::ThreadPool pool(1);
    check_refused([&] { Model::load(model.file(), {}, pool); }, ErrorKind::bad_file, {"rope_freqs.weight"});
  }
}

TEST_CASE("GLM files must say how much of a head is rotated") {
  for (const char* architecture : {"chatglm", "glm4"}) {
    RandomModel model;
    model.architecture = architecture;
    model.missing.insert("rope.dimension_count");
    check_model_refused(model, ErrorKind::bad_file, {"rope.dimension_count"});
  }
}

TEST_CASE("a list of windowed layers that is too short") {
  RandomModel model;
  model.architecture = "gemma3";
  model.integers["attention.sliding_window"] = 8;
  model.more_keys = [](model_files::GgufWriter& writer) {
    writer.numbers("gemma3.attention.sliding_window_pattern", model_files::kBool, std::vector<std::uint8_t>{1});
  };
  check_model_refused(model, ErrorKind::bad_file, {"gemma3.attention.sliding_window_pattern"});
}

}  // namespace glmhost::architectures
