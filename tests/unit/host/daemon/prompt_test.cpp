#include "host/daemon/prompt.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "inference/error.h"
#include "inference/model_files/gguf_file.h"

namespace glmhost::daemon {
namespace {

using tokenizer::Markers;

tokenizer::Tokenizer vocabulary(const std::string& name) {
  return tokenizer::Tokenizer(
      model_files::GgufFile::open(std::string(GLMHOST_TEST_DATA "/tokenizers/") + name + "/vocab.gguf"));
}

protocol::Request conversation(std::initializer_list<std::pair<const char*, const char*>> turns) {
  protocol::Request request;
  request.messages = nlohmann::ordered_json::array();
  for (const auto& [role, content] : turns) request.messages.push_back({{"role", role}, {"content", content}});
  return request;
}

TEST_CASE("a raw prompt is plain text, whatever is written in it") {
  protocol::Request request;
  request.prompt = "<|user|>hello<think>";
  for (const chat::ModelTemplate& chat_template : {chat::ModelTemplate(), chat::ModelTemplate(chat::Family::glm_4_6)}) {
    const chat::Prompt prompt = build_prompt(chat_template, request, "m");
    REQUIRE(prompt.parts.size() == 1);
    CHECK(prompt.parts[0].markers == Markers::none);
    CHECK(prompt.text() == "<|user|>hello<think>");
    CHECK_FALSE(prompt.starts_in_reasoning);
  }
  const tokenizer::Tokenizer glm = vocabulary("glm4");
  const auto marker = glm.find("<|user|>");
  REQUIRE(marker.has_value());
  for (const std::int32_t id : encode_prompt(glm, build_prompt({}, request, "m"))) CHECK(id != *marker);
  request.prompt = "";
  CHECK_THROWS_AS(build_prompt({}, request, "m"), Error);
}

TEST_CASE("a prompt that is too long is refused with the numbers, by its bytes where they tell") {
  const tokenizer::Tokenizer glm = vocabulary("glm4");
  std::size_t longest = 0;
  for (tokenizer::TokenId id = 0; id < glm.vocabulary_size(); ++id)
    longest = std::max(longest, glm.bytes(id, true).size());
  const auto sentence = [&](const std::string& text, const PromptRoom& room) -> std::string {
    chat::Prompt prompt;
    prompt.parts.push_back({text, Markers::none});
    try {
      check_bytes(glm, prompt, room);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::context_exceeded);
      return error.what();
    }
    return "";
  };
  const PromptRoom room{.model_name = "m", .context = 100, .model_context = 100};
  CHECK(sentence(std::string(100 * longest, 'a'), room).find("at least 100 tokens, but the context of m holds 100") !=
        std::string::npos);
  CHECK(sentence(std::string(99 * longest, 'a'), room) == "");  // might be 99 tokens
  CHECK(sentence(std::string(100 * longest, 'a'), room).find("kv_bytes") == std::string::npos);
  const PromptRoom small_cache{.model_name = "m", .context = 100, .model_context = 200};
  CHECK(sentence(std::string(100 * longest, 'a'), small_cache).find("kv_bytes") != std::string::npos);
  // No bound is above what the encoder gives.
  for (const std::string piece : {"a", " ", "\n", "word ", "工程", "\xff", "\x01", "<|user|>", "0"}) {
    std::string text;
    while (text.size() < 20'000) text += piece;
    const auto count = static_cast<std::int64_t>(glm.encode(text, Markers::all).size());
    CHECK_MESSAGE(sentence(text, {.model_name = "m", .context = count + 1, .model_context = count + 1}) == "", piece);
  }

  CHECK_NOTHROW(check_tokens(99, room));
  CHECK_THROWS_WITH_AS(check_tokens(100, room), doctest::Contains("by 1 tokens or more"), Error);
}

TEST_CASE("a conversation goes through the family's template") {
  const auto request = conversation({{"system", "Be brief."}, {"user", "Hi <|assistant|>"}});
  const chat::Prompt prompt = build_prompt(chat::Family::glm_4_6, request, "m");
  CHECK(prompt.text().starts_with("[gMASK]<sop>"));
  CHECK(prompt.text().find("Be brief.") != std::string::npos);
  const tokenizer::Tokenizer glm = vocabulary("glm4");
  const auto assistant = glm.find("<|assistant|>");
  REQUIRE(assistant.has_value());
  const auto tokens = encode_prompt(glm, prompt);
  CHECK(std::count(tokens.begin(), tokens.end(), *assistant) == 1);  // the template's, not the user's

  auto thinking = request;
  thinking.enable_thinking = false;
  CHECK(build_prompt(chat::Family::glm_4_6, thinking, "m").text() != prompt.text());
  CHECK_THROWS_AS(build_prompt(chat::Family::glm_4_6, conversation({}), "m"), Error);
}

TEST_CASE("a base model continues one text and refuses the rest") {
  CHECK(build_prompt({}, conversation({{"user", "Once"}}), "m").text() == "Once");
  for (const auto& request : {conversation({{"system", "x"}, {"user", "y"}}), conversation({{"assistant", "x"}}),
                              conversation({{"user", ""}}), conversation({})}) {
    CHECK_THROWS_AS(build_prompt({}, request, "m"), Error);
  }
}

TEST_CASE("a gap is cut to what the answer leaves of the context") {
  const tokenizer::Tokenizer llama = vocabulary("llama-bpe");
  protocol::Request request;
  request.infill.emplace();
  request.infill->language = "cpp";
  for (int i = 0; i < 400; ++i) request.infill->prefix += "int value_" + std::to_string(i) + ";\n";
  request.max_tokens = 100;
  const chat::Prompt prompt = build_infill_prompt({}, request, llama, 1000);
  CHECK(encode_prompt(llama, prompt).size() <= 900);
  CHECK(prompt.text().ends_with("int value_399;\n"));
  request.max_tokens = 1'000'000;  // more than the context: half of it is left to the prompt
  CHECK(encode_prompt(llama, build_infill_prompt({}, request, llama, 1000)).size() > 250);
  CHECK(encode_prompt(llama, build_infill_prompt({}, request, llama, 1000)).size() <= 500);
  request.infill->prefix = "";
  CHECK_THROWS_AS(build_infill_prompt({}, request, llama, 1000), Error);
  request.infill->path = "a.cpp";
  CHECK(build_infill_prompt({}, request, llama, 1000).text() == "// a.cpp\n");
}

TEST_CASE("BOS stands in front once where the model wants it") {
  const tokenizer::Tokenizer spm = vocabulary("spm");
  REQUIRE(spm.bos().has_value());
  protocol::Request request;
  request.prompt = "hello";
  const auto tokens = encode_prompt(spm, build_prompt({}, request, "m"));
  REQUIRE(tokens.size() > 1);
  CHECK((tokens.front() == *spm.bos()) == spm.add_bos());
  CHECK(tokens[1] != *spm.bos());
  // A template that writes BOS itself does not get a second one.
  const chat::Prompt gemma = build_prompt(chat::Family::gemma_3, conversation({{"user", "hello"}}), "m");
  const auto rendered = encode_prompt(spm, gemma);
  CHECK(std::count(rendered.begin(), rendered.end(), *spm.bos()) <= 1);
  // GLM models want none.
  const tokenizer::Tokenizer glm = vocabulary("glm4");
  CHECK_FALSE(glm.add_bos());
  CHECK(encode_prompt(glm, build_prompt({}, request, "m")) == glm.encode("hello", Markers::none));
}

}  // namespace
}  // namespace glmhost::daemon
