// Regular expressions, grammars in GBNF, choices and types.
#include <doctest/doctest.h>

#include "walk.h"

namespace glmhost::constraints::testing {
namespace {

void check(const Spec& spec, const std::vector<std::string>& taken, const std::vector<std::string>& refused) {
  CAPTURE(spec.text);
  const auto constraint = compiled(spec);
  for (const std::uint32_t seed : {0u, 1u}) {
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

void says(const Spec& spec, const char* part) {
  const std::string sentence = refusal(spec);
  CAPTURE(spec.text);
  CAPTURE(sentence);
  CHECK(sentence.find(part) != std::string::npos);
}

TEST_CASE("regular expressions") {
  check(regex("a|bc"), {"a", "bc"}, {"", "b", "abc"});
  check(regex("[A-Z]{3}-\\d+"), {"ABC-1", "XYZ-007"}, {"AB-1", "ABC-", "abc-1"});
  check(regex("(ab?){2,3}"), {"aa", "abab", "aabab"}, {"a", "aaaa"});
  check(regex("^x*$"), {"", "x", "xxx"}, {"y"});
  check(regex("."), {"a", "é", "你", "😀"}, {"", "\n", "\xE4\xBD", "ab"});
  check(regex("[^a-c]+"), {"xyz", "é你"}, {"a", "xa"});
  check(regex("\\p{Lu}\\p{Ll}*"), {"A", "Éa"}, {"a", "A1"});
  check(regex("\\u00e9\\u{1F600}\\x41\\t"), {"é😀A\t"}, {"é"});
  check(regex("a{1000}"), {std::string(1000, 'a')}, {std::string(999, 'a')});
  check(regex("[\\w-.]+"), {"a-b.c_"}, {"a b"});
  check(regex("(?:a|(?<name>b))c??"), {"a", "bc"}, {"c"});
  check(regex("a{,2}"), {"a{,2}"}, {"aa"});
}

TEST_CASE("regular expressions that are refused") {
  says(regex("("), "no `)`");
  says(regex(")"), "without its `(`");
  says(regex("[a"), "no `]`");
  says(regex("[b-a]"), "wrong order");
  says(regex("a{3,2}"), "wrong order");
  says(regex("*a"), "nothing that this quantifier");
  says(regex("a\\"), "backslash");
  says(regex("(a)\\1"), "back references");
  says(regex("a(?=b)"), "look-around");
  says(regex("\\bword"), "word boundaries");
  says(regex("\\p{Nope}"), "not supported");
  says(regex("\xFF"), "not valid UTF-8");
  says(regex("(a|b)*a(a|b){40}"), "explodes");
  says(regex("((a{1000}){1000}){1000}"), "explodes");
  says(regex("(((){1000}){1000}){1000}"), "explodes");
  says(regex("a{100000000}"), "repetition count");
  says(regex(std::string(1000, '(')), "nested");
  says(regex("[^\\s\\S]"), "No text matches");
}

TEST_CASE("grammars") {
  check(gbnf("root ::= \"a\" b? # remark\nb ::= [0-9]+ |\n  \"x\""), {"a", "a12", "ax"}, {"", "ab", "ax1"});
  check(gbnf("root ::= \"(\" root \")\" | \"\""), {"", "()", "((()))"}, {"(", "())"});
  const std::string arithmetic = R"_(root ::= term ([-+] term)*
term ::= factor ([*/] factor)*
factor ::= [0-9]{1,3} | "(" root ")")_";
  check(gbnf(arithmetic), {"1+2*(3-4)", "999", "((7))"}, {"1+", "1000", "(1"});
  // Palindromes of even length: no automaton without a stack, and two ways to go at every letter.
  check(gbnf(R"_(root ::= "a" root "a" | "b" root "b" | "aa" | "bb")_"), {"aa", "abba", "baaaab"}, {"ab", "aba"});
  check(gbnf("root ::= item{2,3} \"!\"\nitem ::= \"<\" item* \">\""), {"<><>!", "<<>><><>!"}, {"<>!", "<><><><>!"});
  check(gbnf("root ::= x x x\nx ::= y*\ny ::= \"(\" x \")\""), {"", "()", "(())()"}, {"(()"});
  check(gbnf("root ::= . [^\"\\n] \"\\u4f60\""), {"é1你"}, {"é\n你"});
  check(gbnf("root ::= a | b\na ::= \"x\" a \"y\" | \"x\"\nb ::= \"x\" b | \"z\""), {"xxy", "xxxz", "z"},
        {"xy", "xxyy"});
}

TEST_CASE("grammars with schemas in them") {
  check(gbnf("root ::= \"<\" v{1,2} \">\"\nv ::= %json {\"enum\": [\"}\", 1, {\"a\": true}]} | \"x\"\n"),
        {R"(<"}">)", "<1>", "<x1>", R"(<{"a":true}x>)"}, {"<2>", "<>", "<1", R"(<{"a":false}>)"});
  // Each has its own $defs, and one used twice is one.
  check(gbnf(R"(root ::= a " " b " " a
a ::= %json {"$ref": "#/$defs/x", "$defs": {"x": {"type": "boolean"}}}
b ::= %json {"type": "array", "items": {"$ref": "#/$defs/x"}, "$defs": {"x": {"const": "\"}"}}} # a comment
)"),
        {R"(true [] false)", R"(false ["\"}","\"}"] true)"}, {R"(true [true] true)", R"("}" [] true)"});
  // Beside and inside recursion.
  check(gbnf("root ::= %json {\"type\": \"null\"} | \"(\" root \")\"\n"), {"null", "((null))"}, {"(null", "()"});
  Spec one_line = gbnf("root ::= \"call \" %json {\"type\": \"array\", \"items\": {\"const\": 1}}\n");
  one_line.white_space = Spec::WhiteSpace::usual;
  check(one_line, {"call [1, 1]"}, {"call [1,1]", "call [1, 1] "});
}

TEST_CASE("schemas in grammars that are refused") {
  says(gbnf("root ::= %json 5"), "a schema in braces");
  says(gbnf("root ::= \"a\"\n | %json {\"a\": \"}\""), "in line 2, column 10, the schema behind %json does not end");
  says(gbnf("root ::= %json {\"type\" \"null\"}"), "JSON");
  says(gbnf("root ::= %json {\"type\": \"strnig\"}"), "strnig");
  says(gbnf("root ::= %json {\"type\": \"array\", \"uniqueItems\": true}"), "uniqueItems");
  says(gbnf("root ::= %json {\"type\": \"string\", \"enum\": [1]}"), "No text matches the grammar");
}

TEST_CASE("an ambiguous grammar stays small") {
  // Each letter may be read in two ways that end differently: stacks must share their tails.
  const auto constraint = compiled(gbnf(R"_(root ::= "a" root "x" | "a" root "y" | "|")_"));
  std::string text(60, 'a');
  text += "|";
  for (int i = 0; i < 60; ++i) text += i % 3 == 0 ? "x" : "y";
  CHECK(takes(constraint, text));
  CHECK_FALSE(takes(constraint, text + "x"));
}

TEST_CASE("grammars that are refused") {
  says(gbnf("a ::= \"x\""), "no rule `root`");
  says(gbnf("root ::= nothing"), "`nothing` is used but not defined");
  says(gbnf("root ::= \"a\"\nroot ::= \"b\""), "defined a second time");
  says(gbnf("root ::= root \"a\" | \"a\""), "left recursive");
  says(gbnf("root ::= a\na ::= b \"x\" | \"q\"\nb ::= \"\"  a | \"y\""), "left recursive");
  says(gbnf("root ::= \"a\" root"), "never comes to an end");
  says(gbnf("root ::= \"a"), "does not end");
  says(gbnf("root ::= (\"a\""), "no `)`");
  says(gbnf("root ::= \"\\q\""), "escape");
  says(gbnf("root = \"a\""), "::= is expected");
  says(gbnf("root ::= \"a\"\n\n  ]"), "line 3, column 3");
  says(gbnf(""), "no rule `root`");
}

TEST_CASE("rules that double do not explode") {
  std::string text = "root ::= r0\n";
  for (int i = 0; i < 60; ++i)
    text += "r" + std::to_string(i) + " ::= r" + std::to_string(i + 1) + " r" + std::to_string(i + 1) + "\n";
  text += "r60 ::= \"a\"\n";
  ConstraintState state(compiled(gbnf(text)));
  CHECK(state.accept_text(std::string(500, 'a')) == 500);
  CHECK_FALSE(state.can_end());
}

TEST_CASE("choices") {
  check(choices({"yes", "no", "not sure", "no"}), {"yes", "no", "not sure"}, {"", "n", "not", "yesno"});
  ConstraintState state(compiled(choices({"a", "ab"})));
  CHECK(state.accept_text("a") == 1);
  CHECK(state.can_end());
  CHECK_FALSE(state.is_complete());
  CHECK(state.accept_text("b") == 1);
  CHECK(state.is_complete());
  says(choices({}), "empty");
  says(choices({"a", ""}), "empty");
  says(choices({"\xFF"}), "not valid UTF-8");
}

TEST_CASE("a hundred thousand choices") {
  std::vector<std::string> texts;
  for (int i = 0; i < 100000; ++i) texts.push_back("choice number " + std::to_string(i * 17));
  const auto constraint = compiled(choices(texts));
  CHECK(takes(constraint, "choice number 1699983"));
  CHECK_FALSE(takes(constraint, "choice number 16"));
}

TEST_CASE("types") {
  check(type("number"), {"0", "-1.5e3"}, {"one", "1,5"});
  check(type("date"), {"2026-11-30"}, {"30.11.2026", "2026-02-30"});
  check(type("boolean"), {"true", "false"}, {"True", "yes"});
  check(type("list"), {"[]", "[1, \"a\", null, true]"}, {"[[1]]", "1"});
  check(type("grid"), {"[[1,2],[3,\"x\"]]", "[[1]]"}, {"[]", "[[1,2],[3]]", "[1]", "[[]]"});
  says(type("colour"), "no type `colour`");
}

}  // namespace
}  // namespace glmhost::constraints::testing
