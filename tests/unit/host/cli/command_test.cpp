#include "host/cli/command.h"

#include <doctest/doctest.h>

#include "host/cli/exit_code.h"

using namespace glmhost::cli;

namespace {

constexpr CommandText kText = {
    .verb = "try", .words = "[WORDS...]", .summary = "Try a thing", .details = "", .examples = "  glm try one two"};
constexpr CommandText kWithoutWords = {
    .verb = "bare", .words = "", .summary = "Take no words", .details = "", .examples = "  glm bare"};

struct Parsed {
  bool flag = false;
  std::string text;
  std::vector<std::string> texts;
  std::int32_t whole = 1;
  float fraction = 0.5f;
  std::uint64_t seed = 3;
  std::string choice = "a";
  std::vector<std::string> words;
  bool text_given = false;
};

Parsed parse(const std::vector<std::string>& arguments, const CommandText& about = kText) {
  Parsed out;
  Command command(about);
  command.flag("--flag", out.flag, "A flag");
  command.text("-m,--text", out.text, "TEXT", "A text");
  command.texts("--stop", out.texts, "TEXT", "Texts");
  command.number("--whole", out.whole, -5, 100, "A whole number");
  command.number("--fraction", out.fraction, 0, 2, "A fraction");
  command.number("--seed", out.seed, "A seed");
  command.choice("--choice", out.choice, {"a", "b"}, "A choice");
  command.parse(arguments);
  out.words = command.words();
  out.text_given = command.given("--text");
  return out;
}

std::string refusal(const std::vector<std::string>& arguments, const CommandText& about = kText) {
  try {
    parse(arguments, about);
  } catch (const Failure& failure) {
    CHECK(failure.code() == ExitCode::usage);
    return failure.what();
  }
  return "";
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("flags take their values and leave defaults alone") {
  const Parsed none = parse({});
  CHECK(none.whole == 1);
  CHECK(none.fraction == 0.5f);
  CHECK(none.seed == 3);
  CHECK_FALSE(none.text_given);
  const Parsed all = parse({"--flag", "-m", "x", "--whole", "-5", "--fraction=1.25", "--seed", "18446744073709551615",
                            "--choice", "b", "--stop", "one", "--stop", "two words"});
  CHECK(all.flag);
  CHECK(all.text == "x");
  CHECK(all.text_given);
  CHECK(all.whole == -5);
  CHECK(all.fraction == 1.25f);
  CHECK(all.seed == 18446744073709551615ull);
  CHECK(all.choice == "b");
  CHECK(all.texts == std::vector<std::string>{"one", "two words"});
  CHECK(parse({"--whole", "010"}).whole == 10);  // not octal
}

TEST_CASE("words keep their order and their looks") {
  using Words = std::vector<std::string>;
  CHECK(parse({"one", "--flag", "two", "[a, b]", "", "-"}).words == Words{"one", "two", "[a, b]", "", "-"});
  CHECK(parse({"x", "--", "--flag", "-m", "--"}).words == Words{"x", "--flag", "-m", "--"});
  CHECK_FALSE(parse({"--", "--flag"}).flag);
  CHECK(parse({"run", "serve", "--text", "-- x"}).words == Words{"run", "serve"});
  CHECK(parse({"--stop", "[a,b]"}).texts == Words{"[a,b]"});
  CHECK(parse({"--text", "[a,b]"}).text == "[a,b]");
  CHECK(parse({"--text", "-5"}).text == "-5");
  CHECK(parse({"--text", ""}).text == "");
  CHECK(parse({"%%", "工程", "ü"}).words == Words{"%%", "工程", "ü"});
}

TEST_CASE("a value that does not fit is refused with the flag, the value and the range") {
  for (const std::string bad :
       {"-6", "101", "1.5", "1e2", "x", "", " 1", "1 ", "99999999999999999999", "0x10", "nan"}) {
    CAPTURE(bad);
    const std::string sentence = refusal({"--whole", bad});
    CHECK(contains(sentence, "--whole"));
    CHECK(contains(sentence, "`" + bad + "` is not a whole number from -5 to 100"));
  }
  for (const std::string bad : {"-0.1", "2.1", "nan", "inf", "-inf", "1e400", "one", "1,5", "0x1p0"}) {
    CAPTURE(bad);
    CHECK(contains(refusal({"--fraction", bad}), "is not a number from 0 to 2"));
  }
  for (const std::string bad : {"-1", "18446744073709551616", "1.0", "+1"}) {
    CAPTURE(bad);
    CHECK(contains(refusal({"--seed", bad}), "--seed"));
  }
  CHECK(contains(refusal({"--choice", "c"}), "`c` is none of a, b"));
  CHECK_FALSE(refusal({"--whole"}).empty());
  CHECK(contains(refusal({"--text="}), "missing"));
}

TEST_CASE("a value that is missing is not taken from what follows") {
  for (const std::vector<std::string>& bad : std::vector<std::vector<std::string>>{
           {"--whole"}, {"--whole", "--flag"}, {"-m"}, {"-m", "--stop", "x"}, {"--text=", "word"}, {"--whole", "-h"}}) {
    CAPTURE(bad);
    CHECK(contains(refusal(bad), "is missing: write `--"));
  }
  CHECK(contains(refusal({"--whole"}), "`--whole N`"));
  CHECK(parse({"-mx"}).text == "x");
  CHECK(parse({"--text", "--no-flag"}).text == "--no-flag");
  CHECK(parse({"--stop=--flag"}).texts == std::vector<std::string>{"--flag"});
}

TEST_CASE("what is given twice, and switches with values, are told in words") {
  CHECK(contains(refusal({"--whole", "1", "--whole=2"}), "The flag --whole is given twice"));
  CHECK(contains(refusal({"-m", "a", "--text", "b"}), "The flag --text is given twice"));
  CHECK(parse({"--flag", "--flag"}).flag);
  CHECK(contains(refusal({"--flag=perhaps"}), "The flag --flag takes no value"));
}

TEST_CASE("values are UTF-8 text") {
  for (const std::vector<std::string>& bad : std::vector<std::vector<std::string>>{{"--text", "a\xff"},
                                                                                   {"--text=a\xff"},
                                                                                   {"-ma\xff"},
                                                                                   {"--stop", "x", "--stop", "a\xff"},
                                                                                   {"--choice", "a\xff"}}) {
    CHECK(contains(refusal(bad), "is not UTF-8 text: byte 2"));
  }
  Command command(kText);
  std::string file;
  command.text("--file", file, "FILE", "A path");
  command.parse(std::vector<std::string>{"--file", "a\xff"});
  CHECK(file == "a\xff");
}

TEST_CASE("a flag that does not exist gets the nearest one") {
  CHECK(contains(refusal({"--chioce", "b"}), "There is no flag `--chioce`; did you mean `--choice`?"));
  CHECK(contains(refusal({"--fractoin=1"}), "did you mean `--fraction`?"));
  CHECK(contains(refusal({"-x"}), "behind `--`"));
  CHECK(contains(refusal({"-5"}), "There is no flag `-5`"));
  CHECK(contains(refusal({"--zzzzzzzzz"}, kWithoutWords), "See `glm bare --help`"));
  CHECK(contains(refusal({"word"}, kWithoutWords), "`word` is not expected here"));
}

TEST_CASE("help is a text of its own and no failure") {
  for (const std::string flag : {"--help", "-h"}) {
    try {
      parse({flag});
      FAIL("no help");
    } catch (const HelpRequested& help) {
      CHECK(contains(help.text, "Usage: glm try [flags] [WORDS...]"));
      CHECK(contains(help.text, "--fraction"));
      CHECK(contains(help.text, "Examples:\n  glm try one two"));
      CHECK_FALSE(contains(help.text, "--json"));
    }
  }
}

TEST_CASE("help fits on a narrow terminal and keeps its paragraphs") {
  const std::string long_text =
      "One sentence that is much longer than a line of a terminal can be, so that it has to be broken.\n\nAnother.";
  Command command({.verb = "try", .words = "", .summary = "Try", .details = long_text, .examples = "  glm try"});
  bool flag = false;
  std::string text;
  command.flag("--json", flag, "Print " + std::string(20, 'x') + " " + long_text.substr(0, 90));
  command.text("--a-flag-with-a-name-beyond-all-measure", text, "PLACEHOLDER", "What it does");
  try {
    command.parse(std::vector<std::string>{"--help"});
    FAIL("no help");
  } catch (const HelpRequested& help) {
    CHECK(contains(help.text, "\n\nAnother.\n"));
    CHECK(contains(help.text, "With --json a failure is told on stdout too"));
    for (std::size_t at = 0; at < help.text.size();) {
      const std::size_t end = help.text.find('\n', at);
      CHECK(end - at <= 80);
      at = end + 1;
    }
  }
}
