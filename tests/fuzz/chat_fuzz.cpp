// A request as bytes of JSON, rendered by every family, and the input as a streamed answer: refused or rendered, and an
// answer is split, and its tool calls are taken out, the same however it is cut.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "inference/chat/call_form.h"
#include "inference/chat/tool_calls.h"
#include "inference/constraints/constraint.h"
#include "inference/error.h"

using namespace glmhost::chat;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void render_everywhere(const Json& json) {
  for (const std::string_view name : family_names()) {
    try {
      const Family family = *find_family(name);
      const RenderRequest request = with_known_roles(family, RenderRequest::from_json(json));
      const Prompt prompt = render(family, request);
      require(!prompt.starts_in_reasoning || prompt.text().ends_with("<think>"));
      for (const auto& part : prompt.parts) require(!part.text.empty());
    } catch (const glmhost::Error& error) {
      require(error.kind() == glmhost::ErrorKind::bad_argument);
    }
  }
}

void split(std::string_view answer, Family family, bool starts_in_reasoning) {
  ReasoningSplitter whole(family, starts_in_reasoning);
  ReasoningSplitter bytes(family, starts_in_reasoning);
  auto expected = whole.push(answer);
  const auto last = whole.finish();
  expected.reasoning += last.reasoning;
  expected.content += last.content;
  ReasoningSplitter::Delta sum;
  for (std::size_t i = 0; i <= answer.size(); ++i) {
    const auto delta = i == answer.size() ? bytes.finish() : bytes.push(answer.substr(i, 1));
    sum.reasoning += delta.reasoning;
    sum.content += delta.content;
  }
  require(sum.reasoning == expected.reasoning && sum.content == expected.content);
  require(sum.reasoning.size() + sum.content.size() <= answer.size());
}

struct Parsed {
  std::string content;
  std::vector<ToolCallResult> calls;
};

Parsed parse_calls(ToolCallFormat format, const Json& tools, std::string_view answer, std::size_t piece) {
  ToolCallParser parser(format, tools);
  Parsed parsed;
  for (std::size_t i = 0; i < answer.size(); i += piece) parsed.content += parser.push(answer.substr(i, piece)).content;
  parsed.content += parser.finish().content;
  parsed.calls = parser.calls();
  return parsed;
}

void take_calls(std::string_view answer) {
  static const Json tools = Json::parse(R"([{"name": "f", "parameters": {"type": "object", "properties": {
      "a": {"type": "string"}, "b": {"type": ["integer", "null"]}, "c": {"$ref": "#"}}, "required": ["a"]}}])");
  for (const ToolCallFormat format :
       {ToolCallFormat::arg_tags, ToolCallFormat::name_line, ToolCallFormat::tagged_json, ToolCallFormat::bare_json}) {
    const Parsed whole = parse_calls(format, tools, answer, answer.size() + 1);
    const Parsed cut = parse_calls(format, tools, answer, 1);
    require(cut.content == whole.content && cut.calls.size() == whole.calls.size());
    for (std::size_t i = 0; i < cut.calls.size(); ++i) {
      require(cut.calls[i].name == whole.calls[i].name && cut.calls[i].status == whole.calls[i].status);
      require(cut.calls[i].source == whole.calls[i].source);
      require((cut.calls[i].status == ToolCallResult::Status::complete) == cut.calls[i].problem.empty());
    }
  }
}

// The input as tools: their calls have a grammar, or the tools are refused.
void hold_calls(const Json& tools) {
  for (const ToolCallFormat format :
       {ToolCallFormat::arg_tags, ToolCallFormat::name_line, ToolCallFormat::tagged_json, ToolCallFormat::bare_json}) {
    for (const auto kind : {ToolChoice::Kind::automatic, ToolChoice::Kind::required}) {
      try {
        const auto form = call_form(format, tools, {kind, {}});
        if (!form) continue;
        require(static_cast<bool>(form->opening) == (kind == ToolChoice::Kind::automatic));
        glmhost::constraints::Spec spec;
        spec.kind = glmhost::constraints::Spec::Kind::grammar;
        spec.text = form->grammar;
        spec.white_space = glmhost::constraints::Spec::WhiteSpace::usual;
        require(!glmhost::constraints::compile_grammar(spec)->rules.empty());
      } catch (const glmhost::Error& error) {
        require(error.kind() == glmhost::ErrorKind::bad_argument || error.kind() == glmhost::ErrorKind::unsupported);
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const Json json = Json::parse(input, nullptr, false);
  if (!json.is_discarded()) render_everywhere(json);
  if (json.is_array()) hold_calls(json);
  if (size < 4096) take_calls(input);
  for (const Family family : {Family::glm_4_6, Family::glm_5_2, Family::glm_z1, Family::glm_4_9b_chat}) {
    split(input, family, false);
    split(input, family, true);
  }
  return 0;
}
