#include "vscode-bridge/server/completion/radix_cache.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>

#include "vscode-bridge/server/completion/context_ring.h"

using namespace glmhost::completion;

TEST_CASE("keys that a text begins with, the longest first") {
  RadixCache cache(10);
  cache.put("ab", {"1", Verdict::shown});
  cache.put("abcd", {"2", Verdict::shown});
  cache.put("abce", {"3", Verdict::shown});
  cache.put("", {"0", Verdict::nothing});
  const auto found = cache.find("abcdx");
  REQUIRE(found.size() == 3);
  CHECK(found[0].length == 4);
  CHECK(found[0].value.text == "2");
  CHECK(found[1].value.text == "1");
  CHECK(found[2].value.verdict == Verdict::nothing);
  cache.put("ab", {"4", Verdict::shown});
  CHECK(cache.size() == 4);
  CHECK(cache.find("abx")[0].value.text == "4");
}

TEST_CASE("random keys: as a list that is searched and cut at its end") {
  std::mt19937_64 random(5);
  RadixCache cache(40);
  std::deque<std::pair<std::string, std::string>> list;  // the one used last in front
  const auto text = [&] {
    std::string made;
    for (auto i = random() % 9; i > 0; --i) made += "ab\xE8"[random() % 3];
    return made;
  };
  for (int i = 0; i < 30'000; ++i) {
    const std::string key = text();
    if (random() % 2 == 0) {
      std::erase_if(list, [&](const auto& one) { return one.first == key; });
      list.emplace_front(key, std::to_string(i));
      if (list.size() > 40) list.pop_back();
      cache.put(key, {std::to_string(i), Verdict::shown});
      REQUIRE(cache.size() == list.size());
      continue;
    }
    std::map<std::size_t, std::string> expected;
    for (const auto& [known, value] : list) {
      if (key.starts_with(known)) expected[known.size()] = value;
    }
    const auto found = cache.find(key);
    REQUIRE(found.size() == expected.size());
    auto next = expected.rbegin();
    for (const auto& one : found) {
      REQUIRE(one.length == next->first);
      REQUIRE(one.value.text == next->second);
      ++next;
    }
    // Found from the shortest to the longest: the longest is the newest now.
    for (const auto& one : expected) {
      const auto at =
          std::find_if(list.begin(), list.end(), [&](const auto& e) { return e.first == key.substr(0, one.first); });
      const auto entry = *at;
      list.erase(at);
      list.push_front(entry);
    }
  }
}

TEST_CASE("pieces of other files: the ones that share names, oldest first, within the budget") {
  ContextRing ring;
  ring.visit({"a", "a.py", 0, "def parse_header(stream):\n    return stream.read()\n"});
  ring.visit({"b", "b.py", 0, "colour = paint(wall)\nbrush = wash(brush)\n"});
  ring.visit({"c", "c.py", 0, "header = parse_header(stream)\nprint(header)\n"});
  ring.visit({"d", "d.py", 0, "x\n"});  // says nothing
  const std::string near = "stream = open(name)\nheader = parse_header(stream)\n";
  auto chosen = ring.choose("z", near, 10'000);
  REQUIRE(chosen.size() == 2);
  CHECK(chosen[0].uri == "a");
  CHECK(chosen[1].uri == "c");
  CHECK(ring.choose("c", near, 10'000).size() == 1);  // never of the file itself
  REQUIRE(ring.choose("z", near, 50).size() == 1);
  CHECK(ring.choose("z", near, 50)[0].uri == "c");  // the better one
  // A new text of a place keeps its place in the order.
  ring.visit({"a", "a.py", 0, "def parse_header(stream, limit):\n    return stream.read(limit)\n"});
  chosen = ring.choose("z", near, 10'000);
  CHECK(chosen[0].text.find("limit") != std::string::npos);
  ring.forget("a");
  CHECK(ring.choose("z", near, 10'000).size() == 1);
}

TEST_CASE("declarations of a source file") {
  CHECK(declarations_of(
            "import x\n\ndef f(a):\n    y = 1\n    def g():\n        pass\nclass C:\n        def deep(): pass\n",
            1000) == "def f(a):\n    def g():\nclass C:\n");
  CHECK(declarations_of("struct A;\r\nint x;\r\nfoo();\r\n", 1000) == "struct A;\nint x;\n");
  CHECK(declarations_of("def f():\ndef g():\n", 10) == "def f():\n");
}
