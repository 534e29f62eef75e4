#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "inference/chat/template.h"

using namespace glmhost::chat;

namespace {

// A GGUF file with a small GLM vocabulary and no tensors.
class GgufWriter {
 public:
  void add(std::string_view key, std::string_view value) {
    begin(key, 8);
    put_string(value);
  }
  void add(std::string_view key, const std::vector<std::string>& values) {
    begin(key, 9);
    put(8, 4);
    put(values.size(), 8);
    for (const std::string& value : values) put_string(value);
  }
  void add(std::string_view key, const std::vector<int>& values) {
    begin(key, 9);
    put(5, 4);
    put(values.size(), 8);
    for (const int value : values) put(static_cast<std::uint64_t>(value), 4);
  }

  std::string file() const {
    GgufWriter head;
    head.bytes_ = "GGUF";
    head.put(3, 4);
    head.put(0, 8);
    head.put(count_, 8);
    return head.bytes_ + bytes_;
  }

 private:
  void begin(std::string_view key, int type) {
    ++count_;
    put_string(key);
    put(static_cast<std::uint64_t>(type), 4);
  }
  void put(std::uint64_t value, int width) {
    for (int i = 0; i < width; ++i) bytes_ += static_cast<char>(value >> (8 * i));
  }
  void put_string(std::string_view text) {
    put(text.size(), 8);
    bytes_ += text;
  }

  std::string bytes_;
  std::uint64_t count_ = 0;
};

struct FileFacts {
  std::string architecture;
  std::string name;
  std::string chat_template;
  bool glm_markers = true;
};

std::optional<Family> detect(const FileFacts& facts) {
  std::vector<std::string> tokens;
  std::vector<int> types;
  for (int byte = 0; byte < 256; ++byte) {  // the byte-level alphabet need not be whole for a look-up by text
    tokens.push_back(std::string("b").append(std::to_string(byte)));
    types.push_back(1);
  }
  for (const char* marker : {"[gMASK]", "<sop>", "<|system|>", "<|user|>", "<|assistant|>", "<|observation|>"}) {
    tokens.push_back(facts.glm_markers ? marker : std::string("x") + marker);
    types.push_back(3);
  }
  GgufWriter writer;
  writer.add("general.architecture", facts.architecture);
  if (!facts.name.empty()) writer.add("general.name", facts.name);
  if (!facts.chat_template.empty()) writer.add("tokenizer.chat_template", facts.chat_template);
  writer.add("tokenizer.ggml.model", "gpt2");
  writer.add("tokenizer.ggml.pre", "glm4");
  writer.add("tokenizer.ggml.tokens", tokens);
  writer.add("tokenizer.ggml.token_type", types);
  writer.add("tokenizer.ggml.merges", std::vector<std::string>{"b1 b2"});

  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("glmhost-detect-" + std::to_string(std::random_device()()) + ".gguf");
  std::ofstream(path, std::ios::binary) << writer.file();
  std::optional<Family> family;
  {
    const auto file = glmhost::model_files::GgufFile::open(path);
    family = detect_family(file, glmhost::tokenizer::Tokenizer(file));
  }
  std::filesystem::remove(path);
  return family;
}

}  // namespace

TEST_CASE("names and families belong together") {
  CHECK(family_names().size() == 12);
  for (const std::string_view text : family_names()) CHECK(name(*find_family(text)) == text);
  CHECK(find_family("glm-4.6") == Family::glm_4_6);
  CHECK(find_family("glm-4-9b-chat") == Family::glm_4_9b_chat);
  for (const char* unknown : {"", "glm", "GLM-4.6", "glm-4.6 ", "gpt-4"}) CHECK(find_family(unknown) == std::nullopt);
}

TEST_CASE("every vendor's template is recognised") {
  const std::filesystem::path folder = std::filesystem::path(GLMHOST_SHARED_DATA) / "vectors" / "templates" / "files";
  if (!std::filesystem::exists(folder)) {
    MESSAGE("skipped: no reference data beside the repository");
    return;
  }
  const std::pair<const char*, std::optional<Family>> files[] = {
      {"glm-4-9b-chat.jinja", Family::glm_4_9b_chat},
      {"glm-edge.jinja", Family::glm_edge},
      {"GLM-Z1-0414.jinja", Family::glm_z1},
      {"GLM-4.6.jinja", Family::glm_4_6},
      {"GLM-4.6.llama.cpp.jinja", Family::glm_4_6},
      {"GLM-4.7-Flash.jinja", Family::glm_4_7_flash},
      {"GLM-5.2.jinja", Family::glm_5_2},
      {"SmolLM2.jinja", Family::smollm2},
      {"gemma-3.jinja", Family::gemma_3},
      {"meta-llama-Llama-3.1-8B-Instruct.jinja", Family::llama_3_1},
      {"meta-llama-Llama-3.2-3B-Instruct.jinja", Family::llama_3_2},
      {"Qwen-Qwen2.5-7B-Instruct.jinja", Family::chatml},
      {"Qwen-Qwen3-0.6B.jinja", std::nullopt},  // a reasoning model: more than ChatML
  };
  for (const auto& entry : files) {
    const auto& file = entry.first;
    const auto& family = entry.second;
    std::ifstream in(folder / file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    CHECK_MESSAGE(detect_family(text.str()) == family, file);
  }
}

TEST_CASE("templates that only look alike are not taken for one that is known") {
  CHECK(detect_family("") == std::nullopt);
  CHECK(detect_family("{{ messages }}") == std::nullopt);
  CHECK(detect_family("[gMASK]<sop>{{ messages }}") == std::nullopt);
  // Zephyr and Phi-3 write <|user|> and <|assistant|> too.
  CHECK(detect_family("{{ '<|user|>\n' + m['content'] + eos_token }}{{ '<|assistant|>\n' }}") == std::nullopt);
  CHECK(detect_family("{{ '<|user|>\n' + m['content'] + '<|end|>' }}{{ '<|assistant|>\n' }}") == std::nullopt);
  CHECK(detect_family("<|im_start|>{{ role }}<|im_end|>") == Family::chatml);
  CHECK(detect_family("<|im_start|>{{ role }}<think><|im_end|>") == std::nullopt);
}

TEST_CASE("a file without a known template is known by architecture and markers, if it is a GLM chat model") {
  const std::pair<FileFacts, std::optional<Family>> files[] = {
      {{"chatglm", "glm-4-9b-chat", ""}, Family::glm_4_9b_chat},
      {{"chatglm", "Glm Edge 1.5b Chat", ""}, Family::glm_edge},
      {{"glm4", "GLM-4-9B-0414", ""}, Family::glm_4_9b_chat},
      {{"glm4", "GLM-Z1-9B-0414", ""}, Family::glm_z1},
      {{"glm4moe", "GLM-4.5-Air", ""}, Family::glm_4_6},
      {{"glm4moe", "GLM-4.7", ""}, Family::glm_4_7_flash},
      {{"glm4moe", "", ""}, Family::glm_4_6},
      {{"deepseek2", "", ""}, Family::glm_4_7_flash},
      {{"glm-dsa", "GLM-5.1", ""}, Family::glm_4_7_flash},
      {{"glm-dsa", "GLM-5.2", ""}, Family::glm_5_2},
      {{"glm4moe", "", "{{ nothing known }}"}, Family::glm_4_6},
      {{"glm4moe", "GLM-4.5-Air-Base", ""}, std::nullopt},
      {{"deepseek2", "DeepSeek-V3", "", false}, std::nullopt},
      {{"llama", "", ""}, std::nullopt},
  };
  for (const auto& entry : files) {
    const auto& facts = entry.first;
    const auto& family = entry.second;
    CHECK_MESSAGE(detect(facts) == family, facts.architecture, " ", facts.name);
  }
}

TEST_CASE("the template's text goes before architecture and name") {
  CHECK(detect({"glm4moe", "GLM-4.7", "[gMASK]<sop>{{ '/nothink' }}"}) == Family::glm_4_6);
  CHECK(detect({"llama", "SmolLM2", "<|im_start|>"}) == Family::chatml);
}
