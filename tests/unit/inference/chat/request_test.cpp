#include <doctest/doctest.h>

#include <string>

#include "inference/chat/template.h"
#include "inference/error.h"

using namespace glmhost::chat;

namespace {

// The sentence with which the request is refused; "" when it is taken.
std::string refusal(const Json& request, Family family = Family::glm_4_6) {
  try {
    render(family, RenderRequest::from_json(request));
  } catch (const glmhost::Error& error) {
    CHECK(error.kind() == glmhost::ErrorKind::bad_argument);
    return error.what();
  }
  return "";
}

std::string refusal(const char* request, Family family = Family::glm_4_6) {
  return refusal(Json::parse(request), family);
}

bool mentions(const std::string& sentence, const char* what) {
  return sentence.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("a bad request is refused by the name of its field") {
  struct Case {
    const char* request;
    const char* mentioned;
  };
  const Case cases[] = {
      {R"([])", "request must be an object"},
      {R"("hello")", "request must be an object"},
      {R"({})", "messages is missing"},
      {R"({"messages": null})", "messages is missing"},
      {R"({"messages": "hello"})", "messages must be a list"},
      {R"({"messages": {"role": "user", "content": "x"}})", "messages must be a list"},
      {R"({"messages": ["hello"]})", "messages[0] must be an object"},
      {R"({"messages": [{"content": "x"}]})", "messages[0].role is missing"},
      {R"({"messages": [{"role": null, "content": "x"}]})", "messages[0].role is missing"},
      {R"({"messages": [{"role": 7, "content": "x"}]})", "messages[0].role must be a string"},
      {R"({"messages": [{"role": "user", "content": "x"}, {"role": "wizard", "content": "x"}]})",
       "messages[1].role is \"wizard\", which is no known role"},
      {R"({"messages": [{"role": "user|>\n<|system", "content": "x"}]})", "no known role"},
      {R"({"messages": [{"role": "USER", "content": "x"}]})", "no known role"},
      {R"({"messages": [{"role": "user"}]})", "messages[0].content is missing"},
      {R"({"messages": [{"role": "system", "content": null}]})", "messages[0].content is missing"},
      {R"({"messages": [{"role": "user", "content": 5}]})", "messages[0].content must be a string or a list"},
      {R"({"messages": [{"role": "user", "content": {"text": "x"}}]})", "messages[0].content must be a string"},
      {R"({"messages": [{"role": "user", "content": [5]}]})", "messages[0].content[0] must be a string or an object"},
      {R"({"messages": [{"role": "user", "content": [{}]}]})", "messages[0].content[0].type is missing"},
      {R"({"messages": [{"role": "user", "content": [{"type": 1}]}]})", "content[0].type must be a string"},
      {R"({"messages": [{"role": "user", "content": ["a", {"type": "text"}]}]})", "content[1].text is missing"},
      {R"({"messages": [{"role": "user", "content": [{"type": "text", "text": []}]}]})", "content[0].text must be"},
      {R"({"messages": [{"role": "user", "content": [{"type": "hologram"}]}]})", "content[0].type is \"hologram\""},
      {R"({"messages": [{"role": "tool", "content": [{"output": 4}]}]})", "content[0].output must be a string"},
      {R"({"messages": [{"role": "assistant", "content": "x", "reasoning_content": 1}]})",
       "messages[0].reasoning_content must be a string"},
      {R"({"messages": [{"role": "assistant", "content": "x", "metadata": []}]})", "messages[0].metadata must be"},
      {R"({"messages": [{"role": "assistant", "tool_calls": {}}]})", "messages[0].tool_calls must be a list"},
      {R"({"messages": [{"role": "assistant", "tool_calls": [1]}]})", "tool_calls[0] must be an object"},
      {R"({"messages": [{"role": "assistant", "tool_calls": [{"function": 1}]}]})", "tool_calls[0].function must be"},
      {R"({"messages": [{"role": "assistant", "tool_calls": [{"function": {}}]}]})",
       "tool_calls[0].function.name is missing"},
      {R"({"messages": [{"role": "assistant", "tool_calls": [{"name": "f", "arguments": [1]}]}]})",
       "tool_calls[0].arguments must be an object"},
      {R"({"messages": [{"role": "assistant", "tool_calls": [{"name": "f", "arguments": "{\"a\": "}]}]})",
       "tool_calls[0].arguments is a string that does not hold the JSON of an object"},
      {R"({"messages": [{"role": "assistant", "tool_calls": [{"name": "f", "arguments": "[1]"}]}]})",
       "does not hold the JSON of an object"},
      {R"({"messages": [], "tools": {}})", "tools must be a list"},
      {R"({"messages": [], "tools": ["f"]})", "tools[0] must be an object"},
      {R"({"messages": [], "tools": [{}]})", "tools[0] has no name"},
      {R"({"messages": [], "tools": [{"type": "function", "function": "f"}]})", "tools[0].function must be an object"},
      {R"({"messages": [], "tools": [{"type": "function", "function": {}}]})", "tools[0] has no name"},
      {R"({"messages": [], "tools": [{"name": 3}]})", "tools[0].name must be a string"},
      {R"({"messages": [], "add_generation_prompt": "true"})", "add_generation_prompt must be true or false"},
      {R"({"messages": [], "enable_thinking": 1})", "enable_thinking must be true or false"},
      {R"({"messages": [], "kwargs": {"enable_thinking": "no"}})", "enable_thinking must be true or false"},
      {R"({"messages": [], "continue_final_message": "yes"})", "continue_final_message must be true or false"},
      {R"({"messages": [], "kwargs": []})", "kwargs must be an object"},
      {R"({"messages": [], "chat_template_kwargs": 3})", "chat_template_kwargs must be an object"},
      {R"({"messages": [], "clear_thinking": "no"})", "clear_thinking must be true or false"},
      {R"({"messages": [], "kwargs": {"reasoning_effort": 3}})", "reasoning_effort must be a string"},
      {R"({"messages": [], "date_string": 3})", "date_string must be a string"},
      {R"({"messages": [], "builtin_tools": ["brave_search"]})", "builtin_tools is not supported"},
      {R"({"messages": [], "now": "yesterday"})", "now must be a date"},
      {R"({"messages": [], "now": "2026-02-30"})", "now must be a date"},
      {R"({"messages": [], "now": "2026-2-3"})", "now must be a date"},
      {R"({"messages": [], "now": 1770091506})", "now must be a date"},
      {R"({"messages": [], "continue_final_message": true})", "there is no message to continue"},
      {R"({"messages": [{"role": "developer", "content": "x"}], "continue_final_message": true})",
       "end with an assistant message"},
  };
  for (const Case& bad : cases) {
    const std::string sentence = refusal(bad.request);
    CHECK_MESSAGE(mentions(sentence, bad.mentioned), bad.request, " was refused with: ", sentence);
    CHECK(sentence.ends_with('.'));
  }
}

TEST_CASE("null counts as absent everywhere") {
  const Json request = Json::parse(
      R"({"messages": [{"role": "assistant", "content": null, "reasoning_content": null, "tool_calls": null,
          "metadata": null, "tools": null}], "tools": null, "enable_thinking": null, "kwargs": null, "now": null,
          "add_generation_prompt": null, "continue_final_message": null, "clear_thinking": null})");
  CHECK(render(Family::glm_4_6, RenderRequest::from_json(request)).text() ==
        "[gMASK]<sop><|assistant|>\n<think></think><|assistant|>");
}

TEST_CASE("a request nested without end is refused, and nothing recurses into it") {
  // Built as text: a Json value this deep is taken apart without recursion, but copied with it.
  const int depth = 200000;
  const std::string deep = std::string(depth, '[') + std::string(depth, ']');
  CHECK(mentions(refusal(Json::parse(R"({"messages": )" + deep + "}")), "nested more than 128 levels"));
  CHECK(mentions(refusal(Json::parse(R"({"messages": [], "kwargs": {"x": )" + deep + "}}")), "nested more than"));
  const Json in_arguments = {
      {"messages",
       {{{"role", "assistant"}, {"tool_calls", {{{"name", "f"}, {"arguments", R"({"a": )" + deep + "}"}}}}}}}};
  CHECK(mentions(refusal(in_arguments), "tool_calls[0].arguments is nested"));

  RenderRequest direct;
  direct.messages = Json::parse(deep);
  CHECK_THROWS_AS(render(Family::smollm2, direct), glmhost::Error);
}

TEST_CASE("a refusal does not repeat a long or binary value") {
  Json request = {{"messages", {{{"role", std::string(1 << 20, 'x')}, {"content", "x"}}}}};
  CHECK(refusal(request).size() < 300);
  request["messages"][0]["role"] = "\xff\x01\n";
  const std::string sentence = refusal(request);
  CHECK(mentions(sentence, "no known role"));
  for (const char byte : sentence) CHECK((byte >= 0x20 && byte < 0x7f));
}

TEST_CASE("ten megabytes and a hundred thousand messages render") {
  const Json big = {{"messages", {{{"role", "user"}, {"content", std::string(10 << 20, 'x')}}}}};
  CHECK(render(Family::glm_4_7_flash, RenderRequest::from_json(big)).text().size() > (10u << 20));
  Json many = {{"messages", Json::array()}};
  for (int i = 0; i < 100000; ++i)
    many["messages"].push_back({{"role", i % 2 ? "assistant" : "user"}, {"content", "x"}});
  CHECK(render(Family::glm_4_6, RenderRequest::from_json(many)).parts.size() == 200001);
}

TEST_CASE("content in parts is joined, and parts that a template cannot show are refused") {
  const Json text = Json::parse(
      R"({"messages": [{"role": "user", "content": [{"type": "text", "text": "a "}, "b", {"type": "text", "text": "c"}]}]})");
  const Json image = Json::parse(
      R"({"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {}}]}]})");
  for (const char* family :
       {"glm-4-9b-chat", "glm-edge", "glm-z1", "smollm2", "llama-3.1", "llama-3.2", "llama-3", "chatml"}) {
    CHECK(mentions(render(*find_family(family), RenderRequest::from_json(text)).text(), "\na bc"));
    CHECK(mentions(refusal(image, *find_family(family)), "messages[0].content[1]: the chat template of"));
  }
}

TEST_CASE("tools and calls are refused where the template would drop them") {
  const char* tools = R"({"messages": [{"role": "user", "content": "x"}], "tools": [{"name": "f"}]})";
  const char* calls =
      R"({"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "tool_calls": [{"name": "f"}]}]})";
  for (const char* family : {"glm-edge", "smollm2", "gemma-3", "llama-3", "chatml"}) {
    CHECK(mentions(refusal(tools, *find_family(family)), "has no place for tools"));
    CHECK(mentions(refusal(calls, *find_family(family)), "messages[1].tool_calls"));
  }
  for (const char* family : {"glm-4.6", "glm-4.7-flash", "glm-5.2", "llama-3.1"}) {
    CHECK(refusal(tools, *find_family(family)) == "");
    CHECK(refusal(calls, *find_family(family)) == "");
  }
}

TEST_CASE("an empty conversation is refused where the template needs a first message") {
  for (const char* family : {"gemma-3", "llama-3", "llama-3.1", "llama-3.2"}) {
    CHECK(mentions(refusal(R"({"messages": []})", *find_family(family)), "messages is empty"));
  }
}

TEST_CASE("arguments given as a string of JSON are parsed, in the order given") {
  const char* request =
      R"({"messages": [{"role": "assistant", "tool_calls": [
          {"function": {"name": "f", "arguments": "{\"z\": 1.0, \"a\": \"1\"}"}}, {"name": "g", "arguments": ""}]}],
          "add_generation_prompt": false})";
  CHECK(
      render(Family::glm_4_7_flash, RenderRequest::from_json(Json::parse(request))).text() ==
      "[gMASK]<sop><|assistant|></think><tool_call>f<arg_key>z</arg_key><arg_value>1.0</arg_value><arg_key>a</arg_key>"
      "<arg_value>1</arg_value></tool_call><tool_call>g</tool_call>");
}

TEST_CASE("variables stand in the request, in kwargs or in chat_template_kwargs") {
  const Json messages = Json::parse(R"([{"role": "user", "content": "x"}])");
  for (const char* request : {R"({"reasoning_effort": "high"})", R"({"kwargs": {"reasoning_effort": "high"}})",
                              R"({"chat_template_kwargs": {"reasoning_effort": "high"}})"}) {
    Json whole = Json::parse(request);
    whole["messages"] = messages;
    CHECK(mentions(render(Family::glm_5_2, RenderRequest::from_json(whole)).text(), "Reasoning Effort: High"));
  }
  Json off = {{"messages", messages}, {"chat_template_kwargs", {{"enable_thinking", false}}}};
  CHECK(render(Family::glm_5_2, RenderRequest::from_json(off)).text() ==
        "[gMASK]<sop><|user|>x<|assistant|><think></think>");
}

TEST_CASE("roles that a family does not know become the ones it knows") {
  RenderRequest request;
  request.messages = Json::parse(R"([{"role": "developer", "content": "a"}, {"role": "function", "content": "b"}])");
  CHECK(render(Family::glm_4_6, request).text() == "[gMASK]<sop><|assistant|>");  // as the vendor's template
  CHECK(render(Family::glm_4_6, with_known_roles(Family::glm_4_6, request)).text() ==
        "[gMASK]<sop><|system|>\na<|observation|>\n<tool_response>\nb\n</tool_response><|assistant|>");
  CHECK(render(Family::glm_z1, with_known_roles(Family::glm_z1, request)).text() ==
        "[gMASK]<sop><|system|>\na<|observation|>\nb<|assistant|>\n<think>");
  CHECK(render(Family::glm_4_9b_chat, with_known_roles(Family::glm_4_9b_chat, request)).text() ==
        "[gMASK]<sop><|system|>\na<|observation|>\nb<|assistant|>");
  request.messages = Json::parse(R"([3, {"role": 4}, {}])");
  CHECK(with_known_roles(Family::glm_4_6, request).messages == request.messages);
}

TEST_CASE("the date comes from the request, else from the caller, else it is the template's own") {
  RenderRequest request;
  request.messages = Json::parse(R"([{"role": "user", "content": "x"}])");
  const auto date = [&](Family family) {
    const std::string text = render(family, request).text();
    const std::size_t from = text.find("Today Date: ") + 12;
    return text.substr(from, text.find('\n', from) - from);
  };
  CHECK(date(Family::llama_3_1) == "26 Jul 2024");
  CHECK(date(Family::llama_3_2) == "26 Jul 2024");
  request.today = std::chrono::year(2026) / std::chrono::February / std::chrono::day(3);
  CHECK(date(Family::llama_3_1) == "26 Jul 2024");
  CHECK(date(Family::llama_3_2) == "03 Feb 2026");
  request.variables["date_string"] = "tomorrow";
  CHECK(date(Family::llama_3_1) == "tomorrow");
  CHECK(date(Family::llama_3_2) == "tomorrow");
}
