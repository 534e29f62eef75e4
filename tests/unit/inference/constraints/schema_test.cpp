// JSON Schema: our own cases, which hold also without the public suite.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>

#include "inference/error.h"
#include "walk.h"

namespace glmhost::constraints::testing {
namespace {

void check(const std::string& text, const std::vector<std::string>& taken, const std::vector<std::string>& refused) {
  CAPTURE(text);
  const auto constraint = compiled(schema(text));
  for (const std::uint32_t seed : {0u, 1u, 2u}) {
    for (const std::string& one : taken) {
      CAPTURE(one);
      CHECK(takes(constraint, one, seed));
    }
    for (const std::string& one : refused) {
      CAPTURE(one);
      CHECK_FALSE(takes(constraint, one, seed));
    }
  }
}

TEST_CASE("types") {
  check(R"({"type":"string"})", {R"("")", R"("a\"\\\/\b\f\n\r\té\u00e9\ud83d\ude00😀")", " \"x\" "},
        {"1", R"("a)", "\"\n\"", R"("\x")", R"("\ud83d")", R"("\ude00")", "\"\xC3\"", "\"\xED\xA0\x80\""});
  check(R"({"type":"integer"})", {"0", "-17", "1.0", "123456789012345678901234567890"},
        {"01", "1.5", "-", "1.", "\"1\""});
  check(R"({"type":"number"})", {"0", "-0.5e+10", "1E5", "3.25"}, {".5", "+1", "1e", "NaN", "Infinity"});
  check(R"({"type":["null","boolean"]})", {"null", "true", "false"}, {"nul", "0", "truefalse"});
  check("true", {"{}", "[1,[2,{\"a\":null}]]", "\"x\""}, {"{", "[1,]", "{\"a\"}"});
}

TEST_CASE("objects: any order, required, closed") {
  const std::string text =
      R"({"type":"object","properties":{"a":{"type":"integer"},"ab":{"type":"string"},"c":{}},"required":["ab"],"additionalProperties":false})";
  check(text, {R"({"ab":"x"})", R"({"a":1,"ab":""})", R"({ "c" : [] , "ab" : "y" , "a" : 2 })", R"({"\u0061b":"x"})"},
        {R"({})", R"({"a":1})", R"({"ab":"x","ab":"y"})", R"({"ab":"x","d":1})", R"({"ab":1})", R"({"ab":"x",})"});
}

TEST_CASE("objects: names by pattern, other names, counts, dependents") {
  check(
      R"({"type":"object","properties":{"xa":{"type":"null"}},"patternProperties":{"^x":{"type":["integer","null"]}},"additionalProperties":{"type":"string"}})",
      {R"({"xa":null,"xb":1,"y":"s"})", R"({"x":null})"}, {R"({"xa":1})", R"({"xb":"s"})", R"({"y":1})"});
  check(R"({"type":"object","minProperties":1,"maxProperties":2})", {R"({"a":1})", R"({"a":1,"b":2})"},
        {"{}", R"({"a":1,"b":2,"c":3})"});
  check(R"({"type":"object","propertyNames":{"maxLength":2},"required":["k"]})", {R"({"k":1,"ab":2})"},
        {R"({"k":1,"abc":2})", "{}"});
  check(R"({"type":"object","dependentRequired":{"card":["address"]}})",
        {"{}", R"({"address":1,"card":2})", R"({"address":0})"}, {R"({"card":2})"});
  check(R"({"type":"object","properties":{"a":{},"b":{}},"maxProperties":1,"required":["b"]})", {R"({"b":1})"},
        {R"({"a":1})", R"({"b":1,"a":2})"});
}

TEST_CASE("a name that has come is not begun again") {
  ConstraintState state(compiled(schema(
      R"({"type":"object","properties":{"name":{"type":"integer"},"nothing":{"type":"integer"}},"additionalProperties":false})")));
  CHECK(state.accept_text(R"({"name":1,"no)") == 13);
  ConstraintState other(state);
  CHECK(other.accept_text("thing\":2,") == 8);  // no third name is left, so no comma
  CHECK(state.accept_text("tx") == 1);
}

TEST_CASE("arrays") {
  check(R"({"type":"array","items":{"type":"integer"},"minItems":1,"maxItems":3})", {"[1]", "[1, 2,3]"},
        {"[]", "[1,2,3,4]", "[\"a\"]", "[1,]"});
  check(R"({"type":"array","prefixItems":[{"type":"integer"},{"type":"string"}],"items":false})",
        {"[]", "[1]", "[1,\"a\"]"}, {"[\"a\"]", "[1,\"a\",2]"});
  check(R"({"type":"array","contains":{"type":"null"},"maxItems":3})", {"[null]", "[1,2,null]", "[null,null]"},
        {"[]", "[1]", "[1,2,3]"});
  check(R"({"type":"array","contains":{"type":"null"},"minContains":1,"maxContains":2})", {"[null]", "[null,1,null]"},
        {"[null,null,null]", "[1]"});
}

TEST_CASE("strings: lengths count characters, patterns, formats") {
  check(R"({"type":"string","minLength":2,"maxLength":3})",
        {R"("ab")", R"("你好吗")", R"("\u00e9é")", R"("😀\ud83d\ude00")"}, {R"("a")", R"("abcd")", R"("😀")"});
  check(R"({"type":"string","pattern":"^[A-Z]{2}-[0-9]+$"})", {R"("AB-12")"}, {R"("AB-")", R"("xAB-1")"});
  check(R"({"type":"string","pattern":"b"})", {R"("abc")", R"("b")", R"("\u0062")"}, {R"("ac")", R"("\u0061")"});
  check(R"({"type":"string","pattern":"^a+$","maxLength":3})", {R"("aaa")"}, {R"("aaaa")", R"("")"});
  check(R"({"type":"string","format":"date"})", {R"("2024-02-29")", R"("2026-11-30")"},
        {R"("2023-02-29")", R"("2026-11-31")", R"("2026-1-1")"});
  check(R"({"type":"string","format":"date-time"})", {R"("2026-11-30T23:59:59.5Z")", R"("2026-11-30t01:02:03+05:30")"},
        {R"("2026-11-30 10:00:00Z")", R"("2026-11-30T24:00:00Z")"});
  check(R"({"type":"string","format":"uuid"})", {R"("2eb8aa08-aa98-11ea-b4aa-73b441d16380")"},
        {R"("2eb8aa08-aa98-11ea-b4aa")"});
  check(R"({"type":"string","format":"email"})", {R"("a.b@example.org")"}, {R"("a.b")", R"("@x.y")"});
  check(R"({"type":"string","format":"ipv6"})", {R"("::1")", R"("1:2:3:4:5:6:7:8")", R"("::ffff:1.2.3.4")", R"("1::")"},
        {R"("1:2:3")", R"("1::2::3")", R"("12345::")"});
  check(R"({"type":"string","format":"my-own"})", {R"("anything")"}, {"1"});
}

TEST_CASE("numbers: bounds and multiples") {
  check(R"({"type":"integer","minimum":-5,"maximum":120})", {"-5", "0", "-0", "7", "120", "99", "12.0"},
        {"-6", "121", "1000", "1.5"});
  check(R"({"type":"number","exclusiveMinimum":0,"maximum":1.25})", {"0.001", "1.25", "1.250", "1"},
        {"0", "0.0", "-1", "1.2501", "2"});
  check(R"({"type":"integer","multipleOf":7})", {"0", "49", "-14", "700"}, {"1", "50"});
  check(R"({"type":"number","multipleOf":0.01})", {"0.25", "1", "3.10", "3.100"}, {"0.001", "3.101"});
  check(R"({"type":"integer","exclusiveMinimum":1e3})", {"1001", "20000"}, {"1000", "999", "-1001"});
}

TEST_CASE("constants and enumerations") {
  check(R"({"enum":["a","ab",1,null,true,[1,{"x":2}],{"k":"v"}]})",
        {R"("a")", R"("ab")", "1", "1.0", "null", "true", R"([1, {"x":2}])", R"({"k":"v"})"},
        {R"("b")", "2", "false", "[1]", R"({"k":"w"})", R"({"k":"v","l":1})", "{}"});
  check(R"({"const":"x"})", {R"("x")", R"("\u0078")"}, {R"("y")"});
}

TEST_CASE("alternatives, conjunctions, negations, conditions") {
  check(R"({"allOf":[{"type":"integer","minimum":3},{"maximum":5}]})", {"3", "5"}, {"2", "6", "4.5"});
  check(R"({"anyOf":[{"type":"string","maxLength":1},{"type":"integer"}]})", {R"("a")", "7"}, {R"("ab")", "1.5"});
  check(R"({"oneOf":[{"type":"integer"},{"type":"number","minimum":2}]})", {"1", "2.5"}, {"3", "1.5"});
  check(R"({"oneOf":[{"required":["a"]},{"required":["b"]}],"type":"object"})", {R"({"a":1})", R"({"b":1,"c":2})"},
        {"{}", R"({"a":1,"b":2})"});
  check(R"({"not":{"type":"string"}})", {"1", "[]"}, {R"("s")"});
  check(R"({"type":"string","not":{"pattern":"x"}})", {R"("abc")"}, {R"("axc")"});
  check(R"({"type":"object","properties":{"kind":{"enum":["n","s"]},"value":{}},"required":["kind","value"],
            "if":{"properties":{"kind":{"const":"n"}}},"then":{"properties":{"value":{"type":"number"}}},
            "else":{"properties":{"value":{"type":"string"}}}})",
        {R"({"kind":"n","value":1})", R"({"value":"x","kind":"s"})", R"({"value":1,"kind":"n"})"},
        {R"({"kind":"n","value":"x"})", R"({"value":1,"kind":"s"})"});
  check(R"({"type":"object","dependentSchemas":{"a":{"required":["b"]}}})", {"{}", R"({"a":1,"b":2})"}, {R"({"a":1})"});
}

TEST_CASE("references and recursion") {
  const std::string tree =
      R"({"$defs":{"node":{"type":"object","properties":{"value":{"type":"integer"},"children":{"type":"array","items":{"$ref":"#/$defs/node"}}},"required":["value"],"additionalProperties":false}},"$ref":"#/$defs/node"})";
  check(tree, {R"({"value":1})", R"({"value":1,"children":[{"value":2,"children":[{"value":3}]},{"value":4}]})"},
        {R"({"value":1,"children":[{}]})", R"({"children":[]})"});
  std::string deep = R"({"value":0})";
  for (int i = 0; i < 300; ++i) deep = R"({"value":0,"children":[)" + deep + "]}";
  CHECK(takes(schema(tree), deep));
  check(R"({"$defs":{"a":{"$anchor":"here","type":"integer"}},"items":{"$ref":"#here"},"type":"array"})", {"[1]"},
        {"[\"a\"]"});
  check(R"({"$id":"http://x.org/a/","$defs":{"b":{"$id":"b","type":"null"}},"$ref":"b"})", {"null"}, {"1"});
  check(
      R"({"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"p":{"type":"integer"}},"properties":{"a":{"$ref":"#/definitions/p","minimum":5}},"type":"object"})",
      {R"({"a":1})"}, {R"({"a":"x"})"});
}

TEST_CASE("what is refused, by name") {
  const auto says = [](const char* text, const char* part) {
    const std::string sentence = refusal(schema(text));
    CAPTURE(text);
    CAPTURE(sentence);
    CHECK(sentence.find(part) != std::string::npos);
  };
  says(R"({"type":"array","uniqueItems":true})", "`uniqueItems`");
  says(R"({"$dynamicRef":"#x"})", "`$dynamicRef`");
  says(R"({"allOf":[{}],"unevaluatedProperties":false})", "`unevaluatedProperties`");
  says(R"({"$ref":"http://elsewhere.org/schema"})", "another document");
  says(R"({"format":"regex"})", "`format`");
  says(R"({"$ref":"#/nowhere"})", "nothing at `#/nowhere`");
  says(R"({"type":"integer","minimum":5,"maximum":4})", "contradicts");
  says(R"({"type":"string","const":1})", "contradicts");
  says(R"({"type":"object","properties":{"a":false},"required":["a"]})", "contradicts");
  says(R"({"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]})", "contradicts");  // never ends
  says(R"({"$ref":"#"})", "refers to itself");
  says(R"({"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"anyOf":[{"$ref":"#"},{"type":"null"}]}}})",
       "refers to itself");
  says(R"({"minimum":1e999})", "not valid JSON");
  says(R"({"minimum":NaN})", "not valid JSON");
  says(R"({"minimum":"1"})", "finite number");
  says(R"({"multipleOf":0})", "greater than 0");
  says(R"({"type":"strin"})", "`type`");
  says(R"({"enum":[]})", "empty");
  says(R"({"pattern":"("})", "regular expression");
  says(R"([1])", "must be a JSON object");
  says("{", "not valid JSON");
  says((std::string(2000, '[') + std::string(2000, ']')).c_str(), "nested more than");
}

TEST_CASE("ten thousand strings, two hundred properties") {
  std::string text = R"({"enum":[)";
  for (int i = 0; i < 10000; ++i)
    text += (i == 0 ? "\"" : ",\"") + std::to_string(i * 7919) + "-label" + std::to_string(i % 97) + "\"";
  const auto labels = compiled(schema(text + "]}"));
  CHECK(takes(labels, "\"7919-label1\""));
  CHECK_FALSE(takes(labels, "\"7919-label2\""));
  for (std::uint32_t seed = 0; seed < 20; ++seed) CHECK_FALSE(random_text(labels, seed).empty());

  std::string object = R"({"type":"object","additionalProperties":false,"properties":{)";
  for (int i = 0; i < 200; ++i) object += (i == 0 ? "\"p" : ",\"p") + std::to_string(i) + R"(":{"type":"boolean"})";
  const auto properties = compiled(schema(object + "}}"));
  CHECK(takes(properties, R"({"p199":true,"p0":false,"p20":true})"));
  CHECK_FALSE(takes(properties, R"({"p199":true,"p199":false})"));
  CHECK_FALSE(takes(properties, R"({"p200":true})"));
}

TEST_CASE("a fixed form leaves the model no choice") {
  Spec spec = schema(
      R"({"type":"object","properties":{"b":{"type":"integer"},"a":{"type":"boolean"},"o":{}},"required":["b","a"],"additionalProperties":false})");
  spec.white_space = Spec::WhiteSpace::usual;
  spec.order = Spec::PropertyOrder::declared;
  const auto constraint = compiled(spec);
  CHECK(takes(constraint, R"({"b": 1, "a": true})"));
  CHECK(takes(constraint, R"({"b": 1, "a": true, "o": [1, {"x": 2}]})"));
  CHECK_FALSE(takes(constraint, R"({"a": true, "b": 1})"));
  CHECK_FALSE(takes(constraint, R"({"b":1, "a": true})"));
  ConstraintState state(constraint);
  CHECK(state.forced_text() == R"({"b": )");
  CHECK(state.accept_text(R"({"b": 1, )") == 9);
  CHECK(state.forced_text() == R"("a": )");
}

}  // namespace
}  // namespace glmhost::constraints::testing
