// Calls of tools by small models with random weights: whatever these say, a call has the form that its tool wants.
#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "inference/chat/call_form.h"
#include "inference/error.h"
#include "inference/generation/output_form.h"
#include "tests/unit/inference/generation/loaded_model.h"

namespace glmhost::generation {
namespace {

using chat::Json;
using chat::ToolCallFormat;
using chat::ToolChoice;
using Kind = chat::ToolChoice::Kind;

constexpr ToolCallFormat kFormats[] = {ToolCallFormat::arg_tags, ToolCallFormat::tagged_json, ToolCallFormat::bare_json,
                                       ToolCallFormat::name_line};

const Json& tools() {
  static const Json made = Json::parse(R"json([
    {"type": "function", "function": {"name": "weather", "description": "\"tells\" the weather}", "parameters": {
      "type": "object", "required": ["city", "days"], "additionalProperties": false, "properties": {
        "city": {"type": "string", "minLength": 1, "maxLength": 6}, "days": {"type": "integer", "minimum": 1, "maximum": 7},
        "unit": {"enum": ["celsius", "fahrenheit"]}}}}},
    {"type": "function", "function": {"name": "search", "parameters": {
      "type": "object", "required": ["query", "options"], "additionalProperties": false, "properties": {
        "query": {"type": "string", "pattern": "^[a-z<]{1,5}( [0-9]{1,5})?$"}, "options": {"$ref": "#/$defs/options"}},
      "$defs": {"options": {"type": "object", "required": ["deep"], "additionalProperties": false, "properties": {
        "deep": {"type": "boolean"}, "tags": {"type": "array", "maxItems": 2, "items": {"type": "string", "maxLength": 3}}}}}}}},
    {"name": "notiz", "parameters": {"type": "object", "required": ["文本", "n"], "properties": {
      "文本": {"anyOf": [{"type": "string", "maxLength": 5}, {"type": "null"}]},
      "n": {"anyOf": [{"type": "string", "pattern": "^[0-9a]{1,3}$"}, {"type": "integer", "minimum": 500, "maximum": 510}]}},
      "additionalProperties": false}},
    {"type": "function", "function": {"name": "now"}}])json");
  return made;
}

std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

bool only_has(const Json& object, const std::set<std::string>& keys) {
  for (const auto& [key, value] : object.items()) {
    if (!keys.contains(key)) return false;
  }
  return object.is_object();
}

bool is_right(const std::string& tool, const Json& a) {
  if (tool == "now") return a.is_object() && a.empty();
  if (tool == "weather") {
    const std::size_t length = characters(a.at("city").get<std::string>());
    const bool unit = !a.contains("unit") || a["unit"] == "celsius" || a["unit"] == "fahrenheit";
    return only_has(a, {"city", "days", "unit"}) && length >= 1 && length <= 6 && a.at("days").is_number_integer() &&
           a["days"] >= 1 && a["days"] <= 7 && unit;
  }
  if (tool == "search") {
    static const std::regex query("[a-z<]{1,5}( [0-9]{1,5})?");
    const Json& options = a.at("options");
    if (!only_has(a, {"query", "options"}) || !std::regex_match(a.at("query").get<std::string>(), query)) return false;
    if (!only_has(options, {"deep", "tags"}) || !options.at("deep").is_boolean()) return false;
    if (!options.contains("tags")) return true;
    const Json& tags = options["tags"];
    return tags.is_array() && tags.size() <= 2 && std::all_of(tags.begin(), tags.end(), [](const Json& tag) {
             return tag.is_string() && characters(tag.get<std::string>()) <= 3;
           });
  }
  if (tool == "notiz") {
    static const std::regex digits("[0-9a]{1,3}");
    const Json& text = a.at("文本");
    const Json& n = a.at("n");
    return only_has(a, {"文本", "n"}) && (text.is_null() || characters(text.get<std::string>()) <= 5) &&
           (n.is_string() ? std::regex_match(n.get<std::string>(), digits)
                          : n.is_number_integer() && n >= 500 && n <= 510);
  }
  return false;
}

OutputForm form_of(const LoadedModel& loaded, ToolCallFormat format, const ToolChoice& choice,
                   const Json& of_tools = tools()) {
  const auto calls = chat::call_form(format, of_tools, choice);
  REQUIRE(calls.has_value());
  constraints::Spec spec;
  spec.kind = constraints::Spec::Kind::grammar;
  spec.text = calls->grammar;
  spec.white_space = constraints::Spec::WhiteSpace::usual;
  spec.order = constraints::Spec::PropertyOrder::declared;
  OutputForm form;
  form.constraint = constraints::compile(spec, std::make_shared<const constraints::TokenTrie>(loaded.tokenizer));
  form.has_markers = true;
  form.anywhere = calls->anywhere;
  if (calls->opening) {
    form.opening = [find = calls->opening](std::string_view text) {
      std::optional<OutputForm::Opened> opened;
      if (const auto found = find(text)) opened = {found->end, found->form};
      return opened;
    };
  }
  return form;
}

struct Parsed {
  std::vector<chat::ToolCallResult> calls;
  std::string content;
};

Parsed parse(ToolCallFormat format, const std::string& text) {
  chat::ToolCallParser parser(format, tools());
  Parsed parsed;
  parsed.content = parser.push(text).content;
  parsed.content += parser.finish().content;
  parsed.calls = parser.calls();
  return parsed;
}

void check_calls(const Parsed& parsed, bool cut) {
  for (std::size_t i = 0; i < parsed.calls.size(); ++i) {
    const chat::ToolCallResult& call = parsed.calls[i];
    if (cut && i + 1 == parsed.calls.size()) continue;
    CHECK_MESSAGE(call.status == chat::ToolCallResult::Status::complete, call.problem);
    CHECK_MESSAGE(is_right(call.name, call.arguments), call.arguments.dump());
  }
}

GenerationRequest request_of(std::uint32_t seed, const OutputForm& form, std::int32_t max_tokens) {
  GenerationRequest request = random_request(seed, 10, max_tokens);
  request.form = form;
  return request;
}

}  // namespace

TEST_CASE("a demanded call is a call of a given tool with arguments that its schema allows, in every format") {
  const LoadedModel loaded = load_small("glm4-a");
  for (const ToolCallFormat format : kFormats) {
    const OutputForm form = form_of(loaded, format, {Kind::required, {}});
    std::map<std::string, int> called;
    int outputs = 0, cut = 0;
    for (std::uint32_t seed = 0; seed < 250; ++seed) {
      const Answer answer = run_alone(loaded, request_of(seed, form, 1800));
      INFO(answer.text);
      const Parsed parsed = parse(format, answer.text);
      CHECK_FALSE(parsed.calls.empty());
      CHECK(parsed.content.empty());
      check_calls(parsed, answer.finished != FinishReason::stop);
      cut += answer.finished != FinishReason::stop ? 1 : 0;
      ++outputs;
      for (const auto& call : parsed.calls) ++called[call.name];
    }
    CHECK(cut < 10);
    for (const char* name : {"weather", "search", "notiz", "now"}) CHECK(called[name] > 0);
    MESSAGE("format " << static_cast<int>(format) << ": " << outputs << " outputs, " << cut << " cut by the budget");
  }
}

TEST_CASE("a named tool is called once") {
  const LoadedModel loaded = load_small();
  for (const ToolCallFormat format : kFormats) {
    const OutputForm form = form_of(loaded, format, {Kind::named, "weather"});
    for (std::uint32_t seed = 0; seed < 50; ++seed) {
      const Answer answer = run_alone(loaded, request_of(seed, form, 400));
      INFO(answer.text);
      CHECK(answer.finished == FinishReason::stop);
      const Parsed parsed = parse(format, answer.text);
      REQUIRE(parsed.calls.size() == 1);
      CHECK(parsed.calls[0].name == "weather");
      check_calls(parsed, false);
    }
  }
}

TEST_CASE("a model that decides by itself may say anything, but a call that it begins is a right one") {
  const LoadedModel loaded = load_small("glm4-a");
  for (const ToolCallFormat format : {ToolCallFormat::arg_tags, ToolCallFormat::tagged_json}) {
    const OutputForm form = form_of(loaded, format, {Kind::automatic, {}});
    std::size_t calls = 0, several = 0;
    bool with_content = false;
    for (std::uint32_t seed = 0; seed < 120; ++seed) {
      const Answer answer = run_alone(loaded, request_of(seed, form, 500));
      INFO(answer.text);
      const Parsed parsed = parse(format, answer.text);
      check_calls(parsed, answer.finished != FinishReason::stop);
      calls += parsed.calls.size();
      several += parsed.calls.size() > 1 ? 1 : 0;
      with_content = with_content || !parsed.content.empty();
    }
    CHECK(calls > 10);
    CHECK(several > 0);
    CHECK(with_content);
  }
}

TEST_CASE("an answer without a call is the one that would have come without tools") {
  const LoadedModel loaded = load_small("glm4-a");
  int without = 0;
  for (const ToolCallFormat format : kFormats) {
    const OutputForm form = form_of(loaded, format, {Kind::automatic, {}});
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
      const Answer held = run_alone(loaded, request_of(seed, form, 60));
      const Answer free = run_alone(loaded, request_of(seed, {}, 60));
      if (!parse(format, held.text).calls.empty()) continue;
      ++without;
      CHECK(held.text == free.text);
    }
  }
  CHECK(without > 20);
}

namespace {

std::vector<tokenizer::TokenId> ids(const LoadedModel& loaded, const std::string& text) {
  return loaded.tokenizer.encode(text, tokenizer::Markers::user_defined);
}

bool takes(FormFollower& follower, const std::vector<tokenizer::TokenId>& tokens) {
  return std::all_of(tokens.begin(), tokens.end(), [&](tokenizer::TokenId token) {
    return constraints::bit_is_set(follower.mask(), token) && follower.accept(token);
  });
}

}  // namespace

TEST_CASE("a call that the model opens is held to its form from there on") {
  const LoadedModel loaded = load_small();
  const auto follower_of = [&](ToolCallFormat format) {
    return FormFollower(form_of(loaded, format, {Kind::automatic, {}}), loaded.tokenizer);
  };
  SUBCASE("by a marker's token") {
    FormFollower follower = follower_of(ToolCallFormat::arg_tags);
    REQUIRE(takes(follower, ids(loaded, "I look. <tool_call>no")));
    CHECK_FALSE(takes(follower, ids(loaded, "x")));
    CHECK(takes(follower, ids(loaded, "w</tool_call>and <tool_call>now</tool_call>x")));
    CHECK_FALSE(follower.complete());
  }
  SUBCASE("by a marker in letters") {
    FormFollower follower = follower_of(ToolCallFormat::arg_tags);
    REQUIRE(takes(follower, loaded.tokenizer.encode("<tool_call>n", tokenizer::Markers::none)));
    CHECK_FALSE(takes(follower, ids(loaded, "x")));
    CHECK(takes(follower, ids(loaded, "otiz")));
  }
  SUBCASE("by an object with a name, and nowhere but at the beginning") {
    FormFollower follower = follower_of(ToolCallFormat::bare_json);
    REQUIRE(takes(follower, ids(loaded, "\n {  \"name\":")));
    CHECK_FALSE(takes(follower, ids(loaded, "1")));
    REQUIRE(takes(follower, ids(loaded, " \"now\", \"parameters\": {}}")));
    CHECK_FALSE(takes(follower, ids(loaded, "x")));
    FormFollower typed = follower_of(ToolCallFormat::bare_json);
    REQUIRE(takes(typed, ids(loaded, "{\"type\": \"function\", \"name\": \"n")));
    CHECK_FALSE(takes(typed, ids(loaded, "x")));
    FormFollower behind = follower_of(ToolCallFormat::bare_json);
    CHECK(takes(behind, ids(loaded, "so {\"name\": 1}")));
  }
  SUBCASE("by a line that is a tool's name") {
    FormFollower follower = follower_of(ToolCallFormat::name_line);
    REQUIRE(takes(follower, ids(loaded, "weather\n")));
    CHECK_FALSE(takes(follower, ids(loaded, "is")));
    REQUIRE(takes(follower, ids(loaded, "{\"city\": \"x\", \"days\": 3}")));
    CHECK(follower.complete());
    FormFollower other = follower_of(ToolCallFormat::name_line);
    CHECK(takes(other, ids(loaded, "weather is\nfine")));
  }
  SUBCASE("also behind reasoning, where a marker means nothing") {
    OutputForm form = form_of(loaded, ToolCallFormat::arg_tags, {Kind::automatic, {}});
    form.reasoning = OutputForm::Reasoning::begun;
    FormFollower follower(form, loaded.tokenizer);
    REQUIRE(takes(follower, ids(loaded, "a <tool_call>zz</think>b <tool_call>n")));
    CHECK_FALSE(takes(follower, ids(loaded, "x")));
    CHECK(takes(follower, ids(loaded, "ow</tool_call>")));
  }
}

TEST_CASE("what is forced in a call is written with the vocabulary's markers") {
  const LoadedModel loaded = load_small();
  OutputForm form = form_of(loaded, ToolCallFormat::arg_tags, {Kind::named, "weather"});
  FormFollower follower(form, loaded.tokenizer);
  const auto id = [&](const char* text) { return loaded.tokenizer.find(text).value(); };
  // A line end may come first, so that nothing is forced yet.
  CHECK(follower.opening(100).empty());
  REQUIRE(follower.accept(id("<tool_call>")));
  std::vector<tokenizer::TokenId> written = follower.jump_ahead(id("<tool_call>"), 100);
  CHECK(written.front() == id("<tool_call>"));
  const std::string forced = "<tool_call>weather";
  const std::string text = loaded.tokenizer.decode(written);
  REQUIRE(forced.starts_with(text));
  CHECK(text.size() > std::string("<tool_call>").size());
  REQUIRE(takes(follower, ids(loaded, forced.substr(text.size()) + "<arg_key>")));
  written = follower.jump_ahead(id("<arg_key>"), 100);
  CHECK(loaded.tokenizer.decode(written) == "<arg_key>city</arg_key>");
  CHECK(written.back() == id("</arg_key>"));
  CHECK(written == ids(loaded, "<arg_key>city</arg_key>"));
}

TEST_CASE("tools that cannot be called are refused by name") {
  const auto refused = [](ToolCallFormat format, const char* tools, const ToolChoice& choice, const char* says) {
    try {
      chat::call_form(format, Json::parse(tools), choice);
      FAIL("not refused: " << tools);
    } catch (const Error& error) {
      CHECK_MESSAGE(std::string(error.what()).find(says) != std::string::npos, error.what());
    }
  };
  const ToolChoice any;
  refused(ToolCallFormat::arg_tags, R"([{"name": "a"}, {"name": "a"}])", any, "Two tools");
  refused(ToolCallFormat::arg_tags, R"([{"name": "a<b"}])", any, "a<b");
  refused(ToolCallFormat::tagged_json, R"([{"name": "a"}])", {Kind::named, "b"}, "`b`");
  refused(ToolCallFormat::tagged_json, R"([{"name": "a", "parameters": 5}])", any, "JSON Schema");
  refused(ToolCallFormat::tagged_json, R"([{"name": "a", "parameters": {"type": "string"}}])", any, "object");
  refused(ToolCallFormat::arg_tags, R"([{"name": "a", "parameters": {"anyOf": []}}])", any, "anyOf");
  refused(ToolCallFormat::arg_tags, R"([{"name": "a", "parameters": {"properties": {"x": {"items": {"$ref": "#"}}}}}])",
          any, "`#`");
  refused(ToolCallFormat::arg_tags, R"([{"name": "a", "parameters": {"properties": {"x y\n": {}}}}])", any, "x y");
  refused(ToolCallFormat::arg_tags,
          R"([{"name": "a", "parameters": {"required": ["x"], "additionalProperties": false}}])", any, "`x`");
  refused(ToolCallFormat::arg_tags, R"([{"name": "a", "parameters": {"required": ["x"], "properties": {"x": false}}}])",
          any, "`x`");
  CHECK_FALSE(chat::call_form(ToolCallFormat::none, tools(), any).has_value());
  CHECK_FALSE(chat::call_form(ToolCallFormat::arg_tags, tools(), {Kind::none, {}}).has_value());
}

}  // namespace glmhost::generation
