// Golden cases: what a model wrote, and what is shown of it. "|" in a document is the cursor.
#include "vscode-bridge/server/completion/finish.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace glmhost::completion;

namespace {

Situation at(const std::string& document, const std::string& language = "python") {
  const std::size_t cursor = document.find('|');
  REQUIRE(cursor != std::string::npos);
  Situation situation;
  situation.uri = "file:///a";
  situation.language = language;
  situation.prefix = document.substr(0, cursor);
  situation.suffix = document.substr(cursor + 1);
  situation.cursor = cursor;
  return situation;
}

// What the document is once the answer is taken; the verdict's name where nothing is shown.
std::string result(const std::string& document, const std::string& answer, const std::string& language = "python") {
  const Situation situation = at(document, language);
  const Finished finished = finish(answer, choose_extent(situation), situation, true);
  if (finished.verdict != Verdict::shown) return "(" + std::string(name(finished.verdict)) + ")";
  const Placed placed = place(finished.text, situation);
  return situation.prefix + placed.insert + situation.suffix.substr(placed.replaced);
}

}  // namespace

TEST_CASE("one line or a block, by the cursor's place") {
  CHECK(choose_extent(at("x = |")) == Extent::line);
  CHECK(choose_extent(at("|")) == Extent::block);
  CHECK(choose_extent(at("def f():\n    |\n")) == Extent::block);
  CHECK(choose_extent(at("def f():|")) == Extent::block);
  CHECK(choose_extent(at("if (x) {|", "c")) == Extent::block);
  CHECK(choose_extent(at("f(|)")) == Extent::line);
  CHECK(choose_extent(at("    |  # later")) == Extent::line);
}

TEST_CASE("a line ends with its line, a block with its indentation, an empty line or the suffix") {
  CHECK(result("x = |", "1 + 2\ny = 3\n") == "x = 1 + 2");
  CHECK(result("def f():\n    |", "return 1\n\ndef g():\n    pass\n") == "def f():\n    return 1");
  CHECK(result("def f():\n    |", "a = 1\n    return a\nprint(f())\n") == "def f():\n    a = 1\n    return a");
  CHECK(result("def f():|", "\n    a = 1\n    return a\nprint(f())\n") == "def f():\n    a = 1\n    return a");
  CHECK(result("if (x) {|", "\n  y();\n}\nz();\n", "c") == "if (x) {\n  y();\n}");
  CHECK(result("    |\nnext_line()\n", "first()\n    next_line()\n    third()\n") == "    first()\nnext_line()\n");
}

TEST_CASE("a space before the cursor is not doubled") {
  CHECK(result("return |", " a + b") == "return a + b");
  CHECK(result("    |", "    return 1") == "    return 1");
  CHECK(result("x =|", " 1") == "x = 1");
}

TEST_CASE("what stands behind the cursor is not written again") {
  CHECK(result("print(|)", "\"hello\")") == "print(\"hello\")");
  CHECK(result("print(|)", "\"hello\"") == "print(\"hello\")");
  CHECK(result("foo(|)", "a, b):\n    pass") == "foo(a, b):");
  CHECK(result("f(\"|\");", "hello\");", "c") == "f(\"hello\");");
  CHECK(result("x = [|]", "1, 2, 3]") == "x = [1, 2, 3]");
  CHECK(result("a = | + c", "b + c") == "a = b + c");
  CHECK(result("call(|)\n", "bar(1") == "call(bar(1))\n");
}

TEST_CASE("no bracket is shown that closes nothing") {
  CHECK(result("x = |", "1)") == "x = 1");
  CHECK(result("f(x = |", "1)") == "f(x = 1)");
  CHECK(result("x = |", "\")\" + y") == "x = \")\" + y");
  CHECK(result("x = |", "[1, 2)") == "x = [1, 2");
  CHECK(result("void f() {\n  |\n}\n", "g();\n  }\n}", "c") == "void f() {\n  g();\n}\n");
  CHECK(result("# it's\nx = (|", "1)") == "# it's\nx = (1)");
}

TEST_CASE("tabs and spaces as the document has them") {
  CHECK(result("def f():\n\t|", "a = 1\n    if a:\n        b()\n") == "def f():\n\ta = 1\n\tif a:\n\t\tb()");
  CHECK(result("def f():\n  x()\n  |", "a = 1\n\tb = 2") == "def f():\n  x()\n  a = 1\n  b = 2");
  CHECK(result("def f():\n    |", "a = 1\n    b = 2") == "def f():\n    a = 1\n    b = 2");
}

TEST_CASE("line ends of any kind, and blanks at line ends, are no part of it") {
  CHECK(result("def f():\n    |", "a = 1  \r\n    b = 2\t\r\n\r\n") == "def f():\n    a = 1\n    b = 2");
  CHECK(with_plain_line_ends("a\r\nb\rc\n") == "a\nb\nc\n");
}

TEST_CASE("noise is not shown") {
  CHECK(result("x = 1|", "") == "(nothing)");
  CHECK(result("x = 1|", "\nx = 2") == "(nothing)");
  CHECK(result("|", "   \n \n") == "(nothing)");
  CHECK(result("|", "#") == "(nothing)");
  CHECK(result("a()\n|\nb()\n", "b()") == "(repeats-below)");
  CHECK(result("ret|\nreturn x\n", "urn x") == "(repeats-below)");
  CHECK(result("total += 1\n|", "total += 1") == "(repeats-above)");
}

TEST_CASE("what is said again and again is said once") {
  CHECK(without_repetition("x = compute()\nx = compute()\nx = compute()") == "x = compute()");
  CHECK(without_repetition("a, b, a, b, a, b, a, b, ") == "a, b, ");
  CHECK(without_repetition("0000") == "0000");
  CHECK(without_repetition("1000000 + 表表表表") == "1000000 + 表");
  CHECK(without_repetition("====\n----") == "====\n----");
  CHECK(result("x = |", "very very very very very ") == "x = very");
}

TEST_CASE("characters beyond ASCII pass") {
  CHECK(result("名前 = \"\xF0\x9F\x98\x80\" + |", "\"工程\"") == "名前 = \"\xF0\x9F\x98\x80\" + \"工程\"");
}

TEST_CASE("where an answer ends is known while it streams") {
  const Situation block = at("def f():\n    |");
  CHECK_FALSE(find_end("a = 1\n    b", Extent::block, block).has_value());
  CHECK(find_end("a = 1\nprint", Extent::block, block) == 5);
  CHECK(find_end("a = 1\n\n", Extent::block, block) == 5);
  CHECK_FALSE(find_end("abc", Extent::line, block).has_value());
  CHECK(find_end("abc\n", Extent::line, block) == 3);
  std::string many;
  for (int i = 0; i < 30; ++i) many += "step_number_" + std::to_string(i) + "()\n    ";
  const auto end = find_end(many, Extent::block, block);
  REQUIRE(end.has_value());
  const std::string kept = many.substr(0, *end);
  CHECK(std::count(kept.begin(), kept.end(), '\n') == static_cast<long>(kMostLines) - 1);
}

TEST_CASE("windows begin in steps") {
  CHECK(window_begin(0) == 0);
  CHECK(window_begin(kMostPrefix) == 0);
  CHECK(window_begin(kMostPrefix + 1) == kWindowStep);
  CHECK(window_begin(kMostPrefix + kWindowStep) == kWindowStep);
  for (std::size_t cursor = 0; cursor < 50'000; ++cursor) {
    const std::size_t begin = window_begin(cursor);
    REQUIRE(begin % kWindowStep == 0);
    REQUIRE(cursor - begin <= kMostPrefix);
    REQUIRE((begin == 0 || cursor - begin > kMostPrefix - kWindowStep));
  }
}
