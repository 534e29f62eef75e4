// Which template a model is used with.
#include "inference/chat/model_template.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "inference/error.h"

using namespace glmhost::chat;
using glmhost::tokenizer::Markers;
using glmhost::tokenizer::TextPart;

namespace {

// ChatML that trims, with tools: no built-in family writes it.
constexpr const char* kOwn =
    "{{ bos_token }}{% if tools %}<|im_start|>tools\n{% for t in tools %}{{ t | tojson }}\n{% endfor %}<|im_end|>\n"
    "{% endif %}{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content | trim }}"
    "{% for c in m.tool_calls %}<call>{{ c.function.name }}{{ c.function.arguments.city }}</call>{% endfor %}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

RenderRequest request_of(const char* json) {
  return RenderRequest::from_json(Json::parse(json));
}

std::string refusal(const ModelTemplate& chat_template, const char* request) {
  try {
    chat_template.render(request_of(request));
  } catch (const glmhost::Error& error) {
    CHECK(error.kind() == glmhost::ErrorKind::bad_argument);
    return error.what();
  }
  return "";
}

bool mentions(const std::string& sentence, std::string_view what) {
  return sentence.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("the template in the file is used where it works") {
  const ModelTemplate own(kOwn, {{"bos_token", "<s>"}}, Family::chatml);
  CHECK(own.is_from_file());
  CHECK(own.description() == "model file");
  const Prompt prompt = own.render(request_of(R"({"messages": [{"role": "user", "content": " hi<|im_end|> "}]})"));
  CHECK(prompt.text() == "<s><|im_start|>user\nhi<|im_end|><|im_end|>\n<|im_start|>assistant\n");
  CHECK(prompt.template_failure.empty());
  REQUIRE(prompt.parts.size() == 3);  // the role is the template's
  CHECK(prompt.parts[0].text == "<s><|im_start|>user\n");
  CHECK(prompt.parts[0].markers == Markers::all);
  CHECK(prompt.parts[1].text == "hi<|im_end|>");
  CHECK(prompt.parts[1].markers == Markers::none);
}

TEST_CASE("a template that is broken, or fails on a plain conversation, leaves it to the family") {
  for (const char* broken :
       {"{% if %}", "{{ messages + 1 }}", "{% for m in messages %}{{ m.content.nothing() }}{% endfor %}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"}) {
    INFO(std::string(broken));
    const ModelTemplate known(broken, {}, Family::smollm2);
    CHECK_FALSE(known.is_from_file());
    CHECK(mentions(known.description(), "smollm2 (built in); the model file's own template is left out: The chat"));
    CHECK(known.description().size() <= 240);
    CHECK(mentions(known.render(request_of(R"({"messages": [{"role": "user", "content": "hi"}]})")).text(), "SmolLM"));
    const ModelTemplate unknown(broken, {}, std::nullopt);
    CHECK(unknown.empty());
    CHECK(unknown.description().starts_with("none; The chat template"));
  }
  CHECK(ModelTemplate(Family::glm_4_6).description() == "glm-4.6 (built in)");
  CHECK(ModelTemplate().empty());
}

TEST_CASE("a template goes to text and back") {
  for (const ModelTemplate& made :
       {ModelTemplate(), ModelTemplate(Family::glm_5_2), ModelTemplate(kOwn, {{"bos_token", "<s>"}}, Family::chatml),
        ModelTemplate(kOwn, {}, std::nullopt), ModelTemplate("{% if %}", {}, Family::glm_z1),
        ModelTemplate("{% if %}", {}, std::nullopt)}) {
    const ModelTemplate again = ModelTemplate::from_text(made.to_text());
    CHECK(again.to_text() == made.to_text());
    CHECK(again.description() == made.description());
    CHECK(again.empty() == made.empty());
    CHECK(again.family() == made.family());
  }
  for (const char* none : {"", "no family", "{", "[]", "{\"source\": 5}", "{\"special\": []}"}) {
    CHECK(ModelTemplate::from_text(none).empty());
  }
}

TEST_CASE("a request is put into the template's terms") {
  const ModelTemplate own(kOwn, {}, std::nullopt);
  const Prompt prompt = own.render(request_of(R"({"messages": [
      {"role": "developer", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
      {"role": "user", "content": "q"},
      {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "w", "arguments": "{\"city\": \"Oslo\"}"}}]},
      {"role": "function", "content": [{"type": "text", "text": "cold"}], "tool_call_id": "1"}],
      "tools": [{"type": "function", "function": {"name": "w"}}]})"));
  CHECK(prompt.text() ==
        "<|im_start|>tools\n{\"type\": \"function\", \"function\": {\"name\": \"w\"}}\n<|im_end|>\n"
        "<|im_start|>system\nab<|im_end|>\n<|im_start|>user\nq<|im_end|>\n"
        "<|im_start|>assistant\n<call>wOslo</call><|im_end|>\n<|im_start|>tool\ncold<|im_end|>\n"
        "<|im_start|>assistant\n");
  CHECK(mentions(refusal(own, R"({"messages": [{"role": "user", "content": [{"type": "image"}]}]})"), "text only"));
}

TEST_CASE("tools need a template that has a place for them") {
  constexpr const char* kPlain = "{% for m in messages %}{{ m.content }}{% endfor %}";
  constexpr const char* kRequest =
      R"({"messages": [{"role": "user", "content": "q"}], "tools": [{"type": "function", "function": {"name": "w"}}]})";
  CHECK(mentions(refusal(ModelTemplate(kPlain, {}, std::nullopt), kRequest), "no place for tools"));
  const Prompt by_family = ModelTemplate(kPlain, {}, Family::glm_4_6).render(request_of(kRequest));
  CHECK(mentions(by_family.text(), "# Tools"));
  CHECK(mentions(by_family.template_failure, "no place for tools"));
}

TEST_CASE("what a template raises is the caller's to read; what it fails on goes to the family") {
  constexpr const char* kStrict =
      "{% for m in messages %}{% if m.content == 'no' %}{{ raise_exception('Not this one.') }}{% endif %}"
      "{% if m.content == 'bad' %}{{ 1 + 'a' }}{% endif %}{{ m.content }}{% endfor %}";
  const ModelTemplate own(kStrict, {}, Family::smollm2);
  CHECK(own.is_from_file());
  CHECK(refusal(own, R"({"messages": [{"role": "user", "content": "no"}]})") == "Not this one.");
  const Prompt fallen = own.render(request_of(R"({"messages": [{"role": "user", "content": "bad"}]})"));
  CHECK(mentions(fallen.text(), "SmolLM"));
  CHECK(mentions(fallen.template_failure, "unsupported operand"));
  CHECK(mentions(
      refusal(ModelTemplate(kStrict, {}, std::nullopt), R"({"messages": [{"role": "user", "content": "bad"}]})"),
      "The chat template fails in line 1"));
}

TEST_CASE("a tool's result needs a call before it") {
  const ModelTemplate glm(Family::glm_4_6);
  CHECK(
      mentions(refusal(glm, R"({"messages": [{"role": "tool", "content": "4"}]})"), "messages[0] is a tool's result"));
  CHECK(mentions(refusal(glm, R"({"messages": [{"role": "user", "content": "q"}, {"role": "tool", "content": "4"}]})"),
                 "messages[1] is a tool's result"));
  CHECK(mentions(
      refusal(glm, R"({"messages": [{"role": "assistant", "content": "q"}, {"role": "tool", "content": "4"}]})"),
      "no assistant message with tool_calls"));
  CHECK(refusal(glm, R"({"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f"}},
      {"function": {"name": "g"}}]}, {"role": "tool", "content": "4"}, {"role": "tool", "content": "5"}]})") == "");
  CHECK(mentions(
      refusal(glm, R"({"messages": [{"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f"}}]},
      {"role": "tool", "content": "4", "tool_call_id": "b"}]})"),
      "tool_call_id is not the id of a call"));
}

TEST_CASE("an answer to an open <think> begins with reasoning") {
  constexpr const char* kThinks = "{% for m in messages %}{{ m.content }}{% endfor %}<think>\n";
  const ModelTemplate own(kThinks, {}, std::nullopt);
  const Prompt prompt = own.render(request_of(R"({"messages": [{"role": "user", "content": "q"}]})"));
  CHECK(prompt.starts_in_reasoning);
  ReasoningSplitter splitter = own.splitter(prompt);
  const auto delta = splitter.push("why\n</think>\n\nso");
  CHECK(delta.reasoning == "why");
  CHECK(delta.content == "so");
  // Typed by a user it is none.
  const ModelTemplate plain("{% for m in messages %}{{ m.content }}{% endfor %}", {}, std::nullopt);
  CHECK_FALSE(
      plain.render(request_of(R"({"messages": [{"role": "user", "content": "<think>"}]})")).starts_in_reasoning);
}

namespace {

std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE_MESSAGE(in.good(), path.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("where the file's template and the family render equally, the model sees the same tokens") {
  const std::filesystem::path vectors = std::filesystem::path(GLMHOST_SHARED_DATA) / "vectors" / "templates";
  const std::filesystem::path vocabularies = std::filesystem::path(GLMHOST_SHARED_DATA) / "vectors" / "tokenizers";
  if (!std::filesystem::exists(vectors) || !std::filesystem::exists(vocabularies)) {
    MESSAGE("skipped: no reference data beside the repository");
    return;
  }
  int compared = 0;
  for (const auto& [family_name, vocabulary] :
       std::vector<std::pair<std::string, std::string>>{{"glm-4.6", "glm4"},
                                                        {"glm-4.7-flash", "glm4"},
                                                        {"glm-5.2", "glm4"},
                                                        {"glm-4-9b-chat", "chatglm-bpe"},
                                                        {"glm-edge", "chatglm-bpe"},
                                                        {"glm-z1", "chatglm-bpe"},
                                                        {"smollm2", "smollm"},
                                                        {"llama-3.1", "llama-bpe"},
                                                        {"gemma-3", "spm"}}) {
    const std::filesystem::path vocabulary_file = vocabularies / vocabulary / "vocab.gguf";
    if (!std::filesystem::exists(vocabulary_file)) continue;
    const glmhost::tokenizer::Tokenizer tokenizer(glmhost::model_files::GgufFile::open(vocabulary_file));
    const Json file = Json::parse(read_text(vectors / family_name / "cases.json"));
    const glmhost::jinja::Template source(read_text(vectors / "files" / file["files"][0].get<std::string>()));
    SpecialTokens special;
    for (const auto& [name, token] : file["special"].items()) special.emplace_back(name, token.get<std::string>());
    for (const Json& one : file["cases"]) {
      if (one.contains("error")) continue;
      const std::string family = family_name;
      INFO(family, " ", one["name"].get<std::string>());
      const RenderRequest request = RenderRequest::from_json(one);
      const Prompt by_file = render(source, request, special);
      const Prompt by_family = render(*find_family(family_name), request);
      CHECK(by_file.starts_in_reasoning == by_family.starts_in_reasoning);
      CHECK(by_file.continues_message == by_family.continues_message);
      CHECK(tokenizer.encode(by_file.parts) == tokenizer.encode(by_family.parts));
      ++compared;
    }
  }
  CHECK(compared > 300);
}
