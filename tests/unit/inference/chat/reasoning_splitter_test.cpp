#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "inference/chat/template.h"

using namespace glmhost::chat;

namespace {

void add(ReasoningSplitter::Delta& sum, const ReasoningSplitter::Delta& delta) {
  sum.reasoning += delta.reasoning;
  sum.content += delta.content;
}

ReasoningSplitter::Delta split(ReasoningSplitter splitter, const std::vector<std::string_view>& pieces) {
  ReasoningSplitter::Delta sum;
  for (const std::string_view piece : pieces) add(sum, splitter.push(piece));
  add(sum, splitter.finish());
  return sum;
}

// Splits the answer whole, byte by byte, and cut in two and in three at every place; all must give the same.
void check(const ReasoningSplitter& fresh, std::string_view answer, std::string_view reasoning,
           std::string_view content) {
  std::vector<std::vector<std::string_view>> ways = {{answer}, {}};
  for (std::size_t i = 0; i < answer.size(); ++i) ways[1].push_back(answer.substr(i, 1));
  for (std::size_t i = 0; i <= answer.size(); ++i) {
    ways.push_back({answer.substr(0, i), answer.substr(i)});
    for (std::size_t j = i; j <= answer.size(); ++j) {
      ways.push_back({answer.substr(0, i), answer.substr(i, j - i), answer.substr(j)});
    }
  }
  int wrong = 0;
  for (const auto& pieces : ways) {
    const auto result = split(fresh, pieces);
    if (result.reasoning != reasoning || result.content != content) ++wrong;
  }
  const auto whole = split(fresh, {answer});
  CHECK(whole.reasoning == reasoning);
  CHECK(whole.content == content);
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("an answer that begins with a think block is split, wherever it is cut") {
  const ReasoningSplitter fresh(Family::glm_4_6, false);
  check(fresh, "\n<think>\nFirst.\n\nThen.\n</think>\n\nThe answer.\n", "First.\n\nThen.", "The answer.\n");
  check(fresh, "<think></think>\nThe answer.", "", "The answer.");
  check(fresh, "The answer: a < b.", "", "The answer: a < b.");
  check(fresh, "\n\nThe answer.", "", "The answer.");
  check(fresh, "  indented", "", "  indented");
  check(fresh, "<thin air>", "", "<thin air>");
  check(fresh, "<<think>x</think>", "", "<<think>x</think>");
  check(fresh, "<thi", "", "<thi");
  check(fresh, "\n <thi", "", " <thi");
  check(fresh, "", "", "");
  check(fresh, "\n\n", "", "");
}

TEST_CASE("an answer that begins inside reasoning ends it at the first close marker") {
  const ReasoningSplitter fresh(Family::glm_4_7_flash, true);
  check(fresh, "a </thin <b></</think>c</think>d", "a </thin <b></", "c</think>d");
  check(fresh, "a<</think>b", "a<", "b");
  check(fresh, "\nThinking…\n</think>\nDone 好", "Thinking…", "Done 好");
  check(fresh, "never closed\n\n", "never closed", "");
  check(fresh, "cut </thi", "cut </thi", "");
  check(fresh, "a\n</thi\nb", "a\n</thi\nb", "");
  check(fresh, "a\n\n</think>", "a", "");
  check(fresh, "<think>twice</think>x", "<think>twice", "x");
}

TEST_CASE("a think block further down is content") {
  const ReasoningSplitter fresh(Family::glm_4_7_flash, false);
  check(fresh, "Write <think>x</think> so.", "", "Write <think>x</think> so.");
  check(ReasoningSplitter(Family::glm_4_7_flash, true), "r</think>a <think>b</think> c", "r", "a <think>b</think> c");
}

TEST_CASE("GLM-5.2 keeps every byte: its template writes reasoning back as it was") {
  check(ReasoningSplitter(Family::glm_5_2, true), "\n a \n</think>\n\nb\n", "\n a \n", "\n\nb\n");
  check(ReasoningSplitter(Family::glm_5_2, false), "\n b", "", "\n b");
  check(ReasoningSplitter(Family::glm_5_2, false), "\n<think>\na</think>b", "\na", "b");
}

TEST_CASE("GLM-Z1 begins inside reasoning and loses the newlines around it") {
  check(ReasoningSplitter(Family::glm_z1, true), "\nHm.\n</think>\n\nYes.", "Hm.", "Yes.");
}

TEST_CASE("families without thinking pass everything as content") {
  for (const char* family : {"smollm2", "gemma-3", "llama-3", "llama-3.1", "llama-3.2", "chatml"}) {
    check(ReasoningSplitter(*find_family(family), false), "\n<think>a</think>\nb", "", "\n<think>a</think>\nb");
  }
}

TEST_CASE("GLM-4 and GLM-Edge lose the one newline that belongs to the turn's header") {
  for (const Family family : {Family::glm_4_9b_chat, Family::glm_edge}) {
    check(ReasoningSplitter(family, false), "\n\n<think>a</think>", "", "\n<think>a</think>");
    check(ReasoningSplitter(family, false), "a\nb", "", "a\nb");
    check(ReasoningSplitter(family, false), "\n", "", "");
  }
}

TEST_CASE("an answer that continues a message passes unchanged") {
  RenderRequest request;
  request.messages = Json::parse(R"([{"role": "user", "content": "q"}, {"role": "assistant", "content": "Line 1"}])");
  request.continue_final_message = true;
  for (const std::string_view family : family_names()) {
    const Prompt prompt = render(*find_family(family), request);
    CHECK(prompt.text().ends_with("Line 1"));
    CHECK(prompt.continues_message);
    CHECK_FALSE(prompt.starts_in_reasoning);
    check(ReasoningSplitter(*find_family(family), prompt), "\n\n<think>x</think>", "", "\n\n<think>x</think>");
  }
}

TEST_CASE("a prompt says whether its answer begins inside reasoning") {
  RenderRequest request;
  request.messages = Json::parse(R"([{"role": "user", "content": "q"}])");
  for (const std::string_view name : family_names()) {
    const Family family = *find_family(name);
    for (const int thinking : {-1, 0, 1}) {
      for (const bool generation : {true, false}) {
        request.enable_thinking = thinking < 0 ? std::nullopt : std::optional(thinking == 1);
        request.add_generation_prompt = generation;
        const Prompt prompt = render(family, request);
        CHECK(prompt.starts_in_reasoning == prompt.text().ends_with("<think>"));
        const auto delta = ReasoningSplitter(family, prompt).push("x");
        CHECK(delta.reasoning == (prompt.starts_in_reasoning ? "x" : ""));
      }
    }
  }
}

TEST_CASE("where an answer is, and whether it may still begin to reason") {
  ReasoningSplitter begun(Family::glm_4_7_flash, true);
  CHECK(begun.in_reasoning());
  CHECK_FALSE(begun.may_reason());
  begun.push("x</think>");
  CHECK_FALSE(begun.in_reasoning());
  CHECK_FALSE(begun.may_reason());
  ReasoningSplitter fresh(Family::glm_4_6, false);
  CHECK_FALSE(fresh.in_reasoning());
  CHECK(fresh.may_reason());
  fresh.push("\n<think>");
  CHECK(fresh.in_reasoning());
  ReasoningSplitter answering(Family::glm_4_6, false);
  answering.push("x");
  CHECK_FALSE(answering.may_reason());
  CHECK_FALSE(ReasoningSplitter(*find_family("smollm2"), false).may_reason());
}

TEST_CASE("content whose form was demanded keeps its newlines") {
  ReasoningSplitter splitter(Family::glm_4_6, true);
  splitter.keep_newlines_of_content();
  check(splitter, "\nHm.\n</think>\n\nYes.", "Hm.", "\n\nYes.");
}

TEST_CASE("what is certain is handed on at once") {
  ReasoningSplitter splitter(Family::glm_4_7_flash, true);
  CHECK(splitter.push("abc<").reasoning == "abc");
  CHECK(splitter.push("d").reasoning == "<d");
  CHECK(splitter.push("</think").reasoning == "");
  CHECK(splitter.push(">e").content == "e");
  CHECK(splitter.push("</think").content == "</think");
}
