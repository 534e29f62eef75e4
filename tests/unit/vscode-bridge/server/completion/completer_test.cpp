// The state machine between typist and model, with a model that says what the test wants, when it wants, and a clock of
// its own.
#include "vscode-bridge/server/completion/completer.h"

#include <doctest/doctest.h>

#include <map>

using namespace glmhost::completion;
using namespace std::chrono_literals;

namespace {

class ScriptedModel : public Model {
 public:
  void start(StreamId id, const ModelRequest& request) override { running[id] = request; }
  void cancel(StreamId id) override {
    running.erase(id);
    cancelled.push_back(id);
  }
  StreamId only() const {
    REQUIRE(running.size() == 1);
    return running.begin()->first;
  }
  std::map<StreamId, ModelRequest> running;
  std::vector<StreamId> cancelled;
};

struct Bench {
  Bench()
      : completer(
            model, [this](Answer answer) { answers.push_back(std::move(answer)); }, options()) {}

  static CompleterOptions options() {
    CompleterOptions out;
    out.ahead = false;
    return out;
  }

  Situation at(const std::string& prefix, const std::string& suffix = "\nend()\n") const {
    Situation situation;
    situation.uri = "a";
    situation.language = "python";
    situation.prefix = prefix;
    situation.suffix = suffix;
    situation.cursor = prefix.size();
    return situation;
  }
  QuestionId ask(const std::string& prefix, bool is_explicit = false, const std::string& suffix = "\nend()\n") {
    completer.ask({++last, at(prefix, suffix), {}, is_explicit}, now);
    return last;
  }
  // Asks and lets the pause pass.
  QuestionId ask_model(const std::string& prefix) {
    const QuestionId id = ask(prefix);
    pass(500ms);
    return id;
  }
  void type(const std::string& before, const std::string& text) { completer.changed("a", before.size(), 0, text, now); }
  void pass(std::chrono::milliseconds time) {
    const auto end = now + time;
    while (const auto next = completer.next_wake()) {
      if (*next > end) break;
      now = std::max(now, *next);
      completer.wake(now);
    }
    now = end;
  }
  void say(const std::string& text, float logprob = -0.1f) {
    completer.text(model.only(), text, {{text.size(), logprob}}, now);
  }
  void end() {
    const StreamId id = model.only();
    model.running.erase(id);
    completer.done(id, std::nullopt, now);
  }
  std::string shown() {
    REQUIRE(!answers.empty());
    const Answer answer = answers.back();
    return answer.items.empty() ? "(" + std::string(name(answer.verdict)) + ")" : answer.items[0].insert;
  }

  ScriptedModel model;
  std::vector<Answer> answers;
  Completer completer;
  Clock::time_point now = Clock::time_point{} + 1h;
  QuestionId last = 0;
};

}  // namespace

TEST_CASE("what is typed along the text shown is answered from it") {
  Bench bench;
  bench.ask_model("x = ");
  bench.say("compute(y)\n");
  CHECK(bench.shown() == "compute(y)");
  CHECK(bench.model.running.empty());  // a line is a line: the model was stopped
  std::string typed = "x = ";
  for (const char c : std::string("compute(")) {
    bench.type(typed, std::string(1, c));
    typed += c;
    bench.ask(typed);
  }
  CHECK(bench.shown() == "y)");
  CHECK(bench.completer.counters().started == 1);
  CHECK(bench.completer.counters().typed_along == 8);
}

TEST_CASE("a bracket that the editor closes by itself does not disturb") {
  Bench bench;
  bench.ask_model("x = ");
  bench.say("compute(y)\n");
  bench.type("x = ", "compute()");
  bench.ask("x = compute(", false, ")\nend()\n");
  CHECK(bench.shown() == "y");
  CHECK(bench.completer.counters().started == 1);
}

TEST_CASE("an answer under way that still fits is kept") {
  Bench bench;
  const QuestionId first = bench.ask_model("x = ");
  bench.say("com");
  bench.type("x = ", "c");
  CHECK(bench.completer.cancel(first, bench.now));
  CHECK(bench.model.cancelled.empty());
  bench.ask("x = c");
  bench.say("pute(y)\n");
  CHECK(bench.shown() == "ompute(y)");
  CHECK(bench.completer.counters().started == 1);
  CHECK(bench.completer.counters().from_stream == 1);
}

TEST_CASE("an answer under way that no longer fits is ended by the keystroke itself") {
  Bench bench;
  bench.ask_model("x = ");
  bench.say("com");
  bench.type("x = ", "z");
  CHECK(bench.model.running.empty());
  bench.ask("x = z");
  bench.pass(500ms);
  CHECK(bench.completer.counters().started == 2);
  CHECK(bench.model.running.begin()->second.situation.prefix == "x = z");
}

TEST_CASE("a cancel without a keystroke frees the model at once") {
  Bench bench;
  const QuestionId id = bench.ask_model("x = ");
  CHECK(bench.completer.cancel(id, bench.now));
  CHECK(bench.model.running.empty());
  CHECK_FALSE(bench.completer.cancel(id, bench.now));
  CHECK(bench.answers.empty());
}

TEST_CASE("a stream that nobody claims after a cancelling keystroke ends") {
  Bench bench;
  const QuestionId id = bench.ask_model("x = ");
  bench.type("x = ", "c");
  bench.completer.cancel(id, bench.now);
  CHECK(bench.completer.running() == 1);
  bench.pass(1000ms);
  CHECK(bench.completer.running() == 0);
}

TEST_CASE("an answer that is behind the typist is started anew from the nearer place") {
  Bench bench;
  bench.ask_model("x = ");
  bench.type("x = ", "c");
  bench.ask("x = c");
  bench.pass(250ms);
  CHECK(bench.completer.counters().started == 2);
  CHECK(bench.model.running.at(bench.model.only()).situation.prefix == "x = c");
}

TEST_CASE("a newer question answers the older one, and only the newest gets a text") {
  Bench bench;
  bench.ask("x = ");
  bench.ask("x = ");
  CHECK(bench.answers.size() == 1);
  CHECK(bench.answers[0].verdict == Verdict::superseded);
}

TEST_CASE("going back is answered from the cache, with its suffix and file") {
  Bench bench;
  bench.ask_model("x = ");
  bench.say("one()\n");
  bench.ask_model("x = tw");
  bench.say("o()\n");
  bench.ask("x = ");
  CHECK(bench.shown() == "one()");
  CHECK(bench.completer.counters().started == 2);
  bench.ask("x = ", false, "\nother()\n");  // another text behind the cursor
  bench.pass(500ms);
  CHECK(bench.completer.counters().started == 3);
}

TEST_CASE("a part is shown when the whole takes long, and only ever extended") {
  Bench bench;
  bench.ask_model("def f():\n    ");
  bench.say("first()\n    sec");
  bench.pass(400ms);
  CHECK(bench.shown() == "first()");
  bench.say("ond()\n    third");
  bench.type("def f():\n    ", "f");
  bench.ask("def f():\n    f");
  CHECK(bench.shown() == "irst()\n    second()");
  CHECK(bench.completer.counters().started == 1);
}

TEST_CASE("the completion that would follow is computed ahead, and taken over when it is wanted") {
  Bench bench;
  CompleterOptions options;
  bench.completer.set_options(options);
  bench.ask_model("x = ");
  bench.say("one()\n");
  REQUIRE(bench.model.running.size() == 1);
  CHECK(bench.model.running.begin()->second.ahead);
  CHECK(bench.model.running.begin()->second.situation.prefix == "x = one()");
  bench.type("x = ", "one()");
  bench.ask("x = one()");
  bench.say(".two()\n");
  CHECK(bench.shown() == ".two()");
  CHECK(bench.completer.counters().started == 1);
}

TEST_CASE("what follows a text that is not wanted is not computed to its end") {
  Bench bench;
  bench.completer.set_options(CompleterOptions{});
  bench.ask_model("x = ");
  bench.say("one()\n");
  CHECK(bench.completer.running() == 1);
  bench.type("x = ", "z");
  CHECK(bench.completer.running() == 0);
}

TEST_CASE("an answer that the model is not sure of is not shown") {
  Bench bench;
  bench.ask_model("x = ");
  bench.say("maybe()\n", -3.0f);
  CHECK(bench.shown() == "(low-confidence)");
  bench.ask("x = ");  // known: the model is not asked again
  CHECK(bench.shown() == "(low-confidence)");
  CHECK(bench.completer.counters().started == 1);
}

TEST_CASE("asking by key: several answers, each once, without a pause") {
  Bench bench;
  bench.ask("x = ", true);
  REQUIRE(bench.model.running.size() == 3);
  const auto running = bench.model.running;
  int number = 0;
  for (const auto& [id, request] : running) {
    const std::string text = number++ == 1 ? "same()\n" : "other()\n";
    bench.completer.text(id, text, {{text.size(), -0.1f}}, bench.now);
  }
  REQUIRE(bench.answers.size() == 1);
  REQUIRE(bench.answers[0].items.size() == 2);
  CHECK(bench.answers[0].items[0].insert == "other()");
  CHECK(bench.answers[0].items[1].insert == "same()");
}

TEST_CASE("a failure of the model is the reason, and the next question asks again") {
  Bench bench;
  bench.ask_model("x = ");
  const StreamId id = bench.model.only();
  bench.model.running.clear();
  bench.completer.done(id, "The daemon went away.", bench.now);
  CHECK(bench.shown() == "(unavailable)");
  CHECK(bench.answers.back().detail == "The daemon went away.");
  bench.ask_model("x = ");
  CHECK(bench.completer.counters().started == 2);
}

TEST_CASE("inside a word nothing is asked; closing a document ends its work") {
  Bench bench;
  bench.ask("pri", false, "nt()\n");
  CHECK(bench.shown() == "(in-word)");
  bench.ask_model("x = ");
  bench.completer.closed("a");
  CHECK(bench.completer.running() == 0);
  CHECK(bench.shown() == "(superseded)");
}

TEST_CASE("what was typed between two situations") {
  Bench bench;
  const auto typed = [&](const Situation& a, const Situation& b) { return typed_since(a, b).value_or("(none)"); };
  CHECK(typed(bench.at("ab"), bench.at("abc")) == "c");
  CHECK(typed(bench.at("ab"), bench.at("ab")) == "");
  CHECK(typed(bench.at("ab"), bench.at("a")) == "(none)");
  CHECK(typed(bench.at("ab"), bench.at("xbc")) == "(none)");
  // The window's beginning has moved on by a step.
  std::string text;
  for (int i = 0; i < 400; ++i) text += "line " + std::to_string(i) + "\n";
  Situation early = bench.at(text);
  Situation late = bench.at(text.substr(1000) + "new");
  late.begin = 1000;
  late.cursor = early.cursor + 3;
  CHECK(typed(early, late) == "new");
}
