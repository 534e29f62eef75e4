#include "tests/unit/inference/model_files/gguf_writer.h"

#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <utility>

namespace glmhost::model_files {

ByteString& ByteString::raw(std::string_view text) {
  return append(to_bytes(text));
}

ByteString& ByteString::append(const Bytes& bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return *this;
}

GgufWriter& GgufWriter::texts(std::string_view key, const std::vector<std::string>& values) {
  ByteString body;
  body.number(std::uint32_t{kString}).number(std::uint64_t{values.size()});
  for (const std::string& value : values) body.string(value);
  return entry(key, kArray, body.bytes());
}

GgufWriter& GgufWriter::entry(std::string_view key, std::uint32_t type, const Bytes& value) {
  entries_.string(key).number(type).append(value);
  ++entry_count_;
  return *this;
}

GgufWriter& GgufWriter::tensor(WrittenTensor tensor) {
  tensors_.push_back(std::move(tensor));
  return *this;
}

GgufWriter& GgufWriter::f32_tensor(std::string name, const std::vector<float>& values) {
  ByteString data;
  for (const float value : values) data.number(value);
  return tensor({std::move(name), 0, {values.size()}, data.bytes()});
}

Bytes GgufWriter::header() const {
  ByteString out;
  out.raw(magic).number(version);
  out.number(claimed_tensors < 0 ? std::uint64_t{tensors_.size()} : static_cast<std::uint64_t>(claimed_tensors));
  out.number(claimed_entries < 0 ? entry_count_ : static_cast<std::uint64_t>(claimed_entries));
  out.append(entries_.bytes());
  std::uint64_t next = 0;
  for (const WrittenTensor& tensor : tensors_) {
    out.string(tensor.name).number(static_cast<std::uint32_t>(tensor.ne.size()));
    for (const std::uint64_t length : tensor.ne) out.number(length);
    out.number(tensor.type);
    out.number(tensor.offset < 0 ? next : static_cast<std::uint64_t>(tensor.offset));
    next = (next + tensor.data.size() + alignment - 1) / alignment * alignment;
  }
  return out.bytes();
}

Bytes GgufWriter::bytes() const {
  Bytes out = header();
  const auto pad = [&] { out.resize((out.size() + alignment - 1) / alignment * alignment); };
  for (const WrittenTensor& tensor : tensors_) {
    pad();
    out.insert(out.end(), tensor.data.begin(), tensor.data.end());
  }
  return out;
}

GgufWriter small_model() {
  GgufWriter writer;
  writer.text("general.architecture", "llama").u32("llama.block_count", 2);
  writer.number("llama.rope.freq_base", kF32, 10000.0f);
  std::vector<std::string> tokens;
  std::vector<float> scores;
  std::vector<std::int32_t> types;
  for (int i = 0; i < 300; ++i) {
    tokens.push_back(numbered("token", static_cast<std::size_t>(i)));
    scores.push_back(-0.5f * static_cast<float>(i));
    types.push_back(i < 3 ? 3 : 1);
  }
  writer.texts("tokenizer.ggml.tokens", tokens);
  writer.numbers("tokenizer.ggml.scores", kF32, scores);
  writer.numbers("tokenizer.ggml.token_type", kI32, types);

  std::mt19937 random(7);
  const auto noise = [&](std::size_t bytes) {
    Bytes data(bytes);
    for (std::byte& byte : data) byte = static_cast<std::byte>(random() & 0xff);
    return data;
  };
  writer.f32_tensor("output_norm.weight", {1, 2, 3, 4, 5});
  writer.tensor({"token_embd.weight", 1, {64, 8}, noise(64 * 8 * 2)});
  writer.tensor({"blk.0.attn_q.weight", 3, {64, 4}, noise(2 * 4 * 20)});
  writer.tensor({"blk.0.ffn_up.weight", 12, {256, 3}, noise(3 * 144)});
  writer.tensor({"blk.0.ffn_down_exps.weight", 14, {256, 2, 3}, noise(6 * 210)});
  return writer;
}

TemporaryFolder::TemporaryFolder() {
  std::random_device random;
  for (int attempt = 0; attempt < 100; ++attempt) {
    path_ = std::filesystem::temp_directory_path() / ("model_files_test_" + std::to_string(random()));
    if (std::filesystem::create_directory(path_)) return;
  }
  throw std::runtime_error("no temporary folder can be made");
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path TemporaryFolder::write(const std::filesystem::path& name, const Bytes& bytes) const {
  const std::filesystem::path file = path_ / name;
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) throw std::runtime_error("a test file cannot be written");
  return file;
}

std::filesystem::path TemporaryFolder::write(const std::filesystem::path& name, std::string_view text) const {
  return write(name, to_bytes(text));
}

Bytes read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("a test file cannot be read: " + path.string());
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return to_bytes(text);
}

Bytes to_bytes(std::string_view text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

std::string numbered(std::string_view prefix, std::size_t number) {
  return std::string(prefix).append(std::to_string(number));
}

}  // namespace glmhost::model_files
