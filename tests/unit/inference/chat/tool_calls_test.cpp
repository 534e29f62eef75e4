// Tool calls out of answers, as each generation writes them.
#include "inference/chat/tool_calls.h"

#include <doctest/doctest.h>

#include <string>

using namespace glmhost::chat;
using Status = ToolCallResult::Status;
using Event = ToolCallParser::Event;

namespace {

Json tools() {
  return Json::parse(R"([
    {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {
        "city": {"type": "string"}, "days": {"type": "integer"}, "exact": {"type": "boolean"},
        "where": {"$ref": "#/$defs/place"}, "tags": {"type": "array", "items": {"type": "string"}},
        "code": {"anyOf": [{"type": "string"}, {"type": "integer"}]}, "unit": {"enum": ["C", "F"]}, "ratio": {"type": "number"}},
        "required": ["city"], "$defs": {"place": {"type": "object", "properties": {"lat": {"type": "number"}}}}}}},
    {"type": "function", "function": {"name": "stop"}}])");
}

struct Outcome {
  std::string content;
  std::vector<ToolCallResult> calls;
  std::vector<Event> events;
};

void add(Outcome& outcome, const ToolCallParser::Delta& delta) {
  outcome.content += delta.content;
  outcome.events.insert(outcome.events.end(), delta.events.begin(), delta.events.end());
}

Outcome parse_in_pieces(ToolCallFormat format, const std::string& answer, std::size_t piece) {
  ToolCallParser parser(format, tools());
  Outcome outcome;
  for (std::size_t i = 0; i < answer.size(); i += piece) add(outcome, parser.push(answer.substr(i, piece)));
  add(outcome, parser.finish());
  outcome.calls = parser.calls();
  return outcome;
}

// The same however the answer is cut.
Outcome parse(ToolCallFormat format, const std::string& answer) {
  INFO(answer);
  const Outcome whole = parse_in_pieces(format, answer, answer.size() + 1);
  for (const std::size_t piece : {1u, 2u, 3u, 7u}) {
    const Outcome cut = parse_in_pieces(format, answer, piece);
    CHECK(cut.content == whole.content);
    REQUIRE(cut.calls.size() == whole.calls.size());
    REQUIRE(cut.events.size() == whole.events.size());
    for (std::size_t i = 0; i < cut.calls.size(); ++i) {
      CHECK(cut.calls[i].name == whole.calls[i].name);
      CHECK(cut.calls[i].arguments == whole.calls[i].arguments);
      CHECK(cut.calls[i].status == whole.calls[i].status);
      CHECK(cut.calls[i].problem == whole.calls[i].problem);
      CHECK(cut.calls[i].source == whole.calls[i].source);
    }
  }
  return whole;
}

bool mentions(const std::string& sentence, std::string_view what) {
  return sentence.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("GLM-4.5 and later: arguments in tags, typed by the schema") {
  for (const char* answer :
       {"Let me "
        "look.\n<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>12</arg_value>\n<arg_key>days</arg_key>\n"
        "<arg_value>12</arg_value>\n<arg_key>exact</arg_key>\n<arg_value>true</arg_value>\n</tool_call>",
        "Let me look.<tool_call>weather<arg_key>city</arg_key><arg_value>12</arg_value><arg_key>days</arg_key>"
        "<arg_value>12</arg_value><arg_key>exact</arg_key><arg_value>true</arg_value></tool_call>"}) {
    const Outcome outcome = parse(ToolCallFormat::arg_tags, answer);
    CHECK(outcome.content == "Let me look.");
    REQUIRE(outcome.calls.size() == 1);
    CHECK(outcome.calls[0].id == "call_0");
    CHECK(outcome.calls[0].name == "weather");
    CHECK(outcome.calls[0].status == Status::complete);
    CHECK(outcome.calls[0].arguments == Json::parse(R"({"city": "12", "days": 12, "exact": true})"));
    REQUIRE(outcome.events.size() == 5);
    CHECK(outcome.events[0].kind == Event::Kind::begun);
    CHECK(outcome.events[1].key == "city");
    CHECK(outcome.events[4].kind == Event::Kind::finished);
  }
}

TEST_CASE("a string argument may hold anything but the end of its tag") {
  const Outcome outcome =
      parse(ToolCallFormat::arg_tags,
            "<tool_call>weather<arg_key>city</arg_key><arg_value> a</tool_call>\n<b>\"{ </arg_value>"
            "<arg_key>where</arg_key><arg_value>{\"lat\": 1.5}</arg_value>"
            "<arg_key>code</arg_key><arg_value>7</arg_value>"
            "<arg_key>unit</arg_key><arg_value>C</arg_value>"
            "<arg_key>tags</arg_key><arg_value>[\"x\"]</arg_value></tool_call>");
  REQUIRE(outcome.calls.size() == 1);
  CHECK(outcome.calls[0].problem == "");
  CHECK(outcome.calls[0].arguments["city"] == " a</tool_call>\n<b>\"{ ");
  CHECK(outcome.calls[0].arguments["where"]["lat"] == 1.5);
  CHECK(outcome.calls[0].arguments["code"] == 7);
  CHECK(outcome.calls[0].arguments["unit"] == "C");
  CHECK(outcome.calls[0].arguments["tags"] == Json::array({"x"}));
}

TEST_CASE("two calls at once, and text around them") {
  const Outcome outcome = parse(ToolCallFormat::arg_tags,
                                "a < b\n\n<tool_call>stop\n</tool_call>\n<tool_call>weather\n<arg_key>city</arg_key>\n"
                                "<arg_value>Oslo</arg_value>\n</tool_call>\nDone.\n");
  CHECK(outcome.content == "a < bDone.\n");
  REQUIRE(outcome.calls.size() == 2);
  CHECK(outcome.calls[0].name == "stop");
  CHECK(outcome.calls[0].arguments == Json::object());
  CHECK(outcome.calls[1].id == "call_1");
  CHECK(outcome.calls[1].arguments["city"] == "Oslo");
  const Outcome none = parse(ToolCallFormat::arg_tags, "No <tool call> at all. <tool_cal\n");
  CHECK(none.content == "No <tool call> at all. <tool_cal\n");
  CHECK(none.calls.empty());
}

TEST_CASE("a call that is cut off says so and keeps what was whole") {
  const std::string whole =
      "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n<arg_key>days</arg_key>\n"
      "<arg_value>3</arg_value>\n</tool_call>";
  for (std::size_t length = std::string("<tool_call>").size(); length < whole.size(); ++length) {
    const Outcome outcome = parse(ToolCallFormat::arg_tags, whole.substr(0, length));
    CHECK(outcome.content == "");
    REQUIRE(outcome.calls.size() == 1);
    CHECK(outcome.calls[0].status == Status::cut_off);
    CHECK(mentions(outcome.calls[0].problem, "The answer ended in the middle of"));
    CHECK(outcome.calls[0].arguments.contains("city") == (length >= whole.find("</arg_value>") + 12));
    CHECK(outcome.events.back().kind == Event::Kind::finished);
  }
}

TEST_CASE("arguments of the wrong type, unknown tools and broken calls are named") {
  const auto problem = [](const std::string& inner, Status status) {
    const Outcome outcome = parse(ToolCallFormat::arg_tags, "<tool_call>" + inner + "</tool_call>");
    REQUIRE(outcome.calls.size() == 1);
    CHECK(outcome.calls[0].status == status);
    return outcome.calls[0].problem;
  };
  const std::string city = "<arg_key>city</arg_key><arg_value>x</arg_value>";
  CHECK(problem("weather" + city + "<arg_key>days</arg_key><arg_value>three</arg_value>", Status::bad_arguments) ==
        "The argument `days` must be of type integer, but is of type string.");
  CHECK(mentions(problem("weather" + city + "<arg_key>days</arg_key><arg_value>1.5</arg_value>", Status::bad_arguments),
                 "must be of type integer"));
  CHECK(mentions(problem("weather" + city + "<arg_key>unit</arg_key><arg_value>K</arg_value>", Status::bad_arguments),
                 "none of the values that are allowed: [\"C\",\"F\"]"));
  CHECK(mentions(problem("weather" + city + "<arg_key>where</arg_key><arg_value>{\"lat\": \"n\"}</arg_value>",
                         Status::bad_arguments),
                 "`where`.lat must be of type number"));
  CHECK(mentions(problem("weather" + city + "<arg_key>tags</arg_key><arg_value>[1]</arg_value>", Status::bad_arguments),
                 "`tags`[0] must be of type string"));
  CHECK(mentions(problem("weather", Status::bad_arguments), "lacks `city`"));
  CHECK(mentions(problem("climate" + city, Status::unknown_tool), "no tool has this name"));
  CHECK(mentions(problem("stop<arg_key>a</arg_key>b", Status::malformed), "where an argument should begin"));
}

TEST_CASE("Qwen, SmolLM2 and Hermes: JSON in tags, one call or a list") {
  const Outcome one =
      parse(ToolCallFormat::tagged_json,
            "Sure.\n<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"</tool_call> }\"}}\n"
            "</tool_call>\n<tool_call>\n{\"name\": \"stop\"}\n</tool_call>");
  CHECK(one.content == "Sure.");
  REQUIRE(one.calls.size() == 2);
  CHECK(one.calls[0].arguments["city"] == "</tool_call> }");
  CHECK(one.calls[1].name == "stop");
  CHECK(one.calls[1].status == Status::complete);
  const Outcome list =
      parse(ToolCallFormat::tagged_json,
            "<tool_call>[{\"name\": \"stop\", \"arguments\": {}}, {\"name\": \"weather\", \"arguments\": "
            "\"{\\\"city\\\": \\\"Rom\\\"}\"}]</tool_call>");
  REQUIRE(list.calls.size() == 2);
  CHECK(list.calls[1].arguments["city"] == "Rom");
  CHECK(list.calls[1].status == Status::complete);
  CHECK(parse(ToolCallFormat::tagged_json, "<tool_call>{\"name\": \"weather\", \"argum").calls[0].status ==
        Status::cut_off);
  CHECK(parse(ToolCallFormat::tagged_json, "<tool_call>{\"name\": weather}</tool_call>").calls[0].status ==
        Status::malformed);
  CHECK(parse(ToolCallFormat::tagged_json, "<tool_call>weather()</tool_call>").calls[0].status == Status::malformed);
  CHECK(parse(ToolCallFormat::tagged_json, "<tool_call>{\"arguments\": {}}</tool_call>").calls[0].status ==
        Status::malformed);
  CHECK(parse(ToolCallFormat::tagged_json, "<tool_call>{\"name\": \"weather\", \"arguments\": [1]}</tool_call>")
            .calls[0]
            .status == Status::bad_arguments);
}

TEST_CASE("Llama 3.1: the answer is the call") {
  const Outcome one = parse(ToolCallFormat::bare_json, "{\"name\": \"weather\", \"parameters\": {\"city\": \"Rom\"}}");
  CHECK(one.content == "");
  REQUIRE(one.calls.size() == 1);
  CHECK(one.calls[0].arguments["city"] == "Rom");
  const Outcome two = parse(ToolCallFormat::bare_json,
                            "<|python_tag|>{\"name\": \"stop\", \"parameters\": {}}; {\"name\": \"stop\"}\n");
  CHECK(two.content == "");
  CHECK(two.calls.size() == 2);
  const std::string json = "{\"answer\": {\"name\": 5}}\nmore";
  CHECK(parse(ToolCallFormat::bare_json, json).content == json);
  CHECK(parse(ToolCallFormat::bare_json, "It is {\"name\": \"stop\"}").content == "It is {\"name\": \"stop\"}");
  CHECK(parse(ToolCallFormat::bare_json, "{").content == "{");
  const Outcome cut = parse(ToolCallFormat::bare_json, "{\"name\": \"weather\", \"parameters\": {\"ci");
  REQUIRE(cut.calls.size() == 1);
  CHECK(cut.calls[0].status == Status::cut_off);
  CHECK(cut.calls[0].source == "{\"name\": \"weather\", \"parameters\": {\"ci");
}

TEST_CASE("GLM-4-9B-Chat: a line with the name, then JSON") {
  const Outcome one = parse(ToolCallFormat::name_line, "weather\n{\"city\": \"北京\", \"days\": 2}");
  CHECK(one.content == "");
  REQUIRE(one.calls.size() == 1);
  CHECK(one.calls[0].status == Status::complete);
  CHECK(one.calls[0].arguments == Json::parse(R"({"city": "北京", "days": 2})"));
  const std::string text = "weather is fine\n{\"city\": 1}";
  CHECK(parse(ToolCallFormat::name_line, text).content == text);
  CHECK(parse(ToolCallFormat::name_line, "weath").content == "weath");
  CHECK(parse(ToolCallFormat::name_line, "weather\n{\"city\": \"B").calls[0].status == Status::cut_off);
  CHECK(parse(ToolCallFormat::name_line, "weather\nis fine").calls[0].status == Status::malformed);
}

TEST_CASE("without tools an answer is content") {
  ToolCallParser parser(ToolCallFormat::arg_tags, nullptr);
  CHECK(parser.push("<tool_call>x</tool_call>").content == "<tool_call>x</tool_call>");
  CHECK(parser.calls().empty());
}

TEST_CASE("the format follows the family, else the template") {
  CHECK(tool_call_format(Family::glm_5_2, "") == ToolCallFormat::arg_tags);
  CHECK(tool_call_format(Family::glm_4_9b_chat, "") == ToolCallFormat::name_line);
  CHECK(tool_call_format(Family::llama_3_1, "") == ToolCallFormat::bare_json);
  CHECK(tool_call_format(Family::gemma_3, "") == ToolCallFormat::none);
  CHECK(tool_call_format(std::nullopt, "... <tool_call>\\n{\"name\": ...") == ToolCallFormat::tagged_json);
  CHECK(tool_call_format(std::nullopt, "<tool_call><arg_key>") == ToolCallFormat::arg_tags);
  CHECK(tool_call_format(std::nullopt, "") == ToolCallFormat::none);
}
