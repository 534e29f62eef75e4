#include "inference/generation/stop_matcher.h"

#include <doctest/doctest.h>

#include <random>

namespace glmhost::generation {

namespace {

struct Result {
  std::string text;
  bool stopped = false;
};

Result run(const std::vector<std::string>& stops, const std::vector<std::string>& pieces) {
  StopMatcher matcher(stops);
  Result result;
  for (const std::string& piece : pieces) result.text += matcher.push(piece);
  result.text += matcher.finish();
  result.stopped = matcher.stopped();
  return result;
}

// The text before the stop string that ends first, by looking at every position.
Result slow(const std::vector<std::string>& stops, const std::string& text) {
  for (std::size_t end = 1; end <= text.size(); ++end) {
    std::size_t found = 0;
    for (const std::string& stop : stops) {
      if (stop.size() <= end && text.compare(end - stop.size(), stop.size(), stop) == 0) {
        found = std::max(found, stop.size());
      }
    }
    if (found > 0) return {text.substr(0, end - found), true};
  }
  return {text, false};
}

}  // namespace

TEST_CASE("without stop strings text passes at once") {
  StopMatcher matcher({});
  CHECK(matcher.push("abc") == "abc");
  CHECK(matcher.finish().empty());
  CHECK_FALSE(matcher.stopped());
}

TEST_CASE("what may become a stop string is held back, and let go when it does not") {
  StopMatcher matcher(std::vector<std::string>{"END."});
  CHECK(matcher.push("the E") == "the ");
  CHECK(matcher.push("N") == "");
  CHECK(matcher.push("D of") == "END of");
  CHECK(matcher.push(" E") == " ");
  CHECK(matcher.finish() == "E");
}

TEST_CASE("a stop string across pieces ends the text before it") {
  CHECK(run({"END."}, {"say E", "ND", ". more"}).text == "say ");
  CHECK(run({"END."}, {"say E", "ND", ". more"}).stopped);
  StopMatcher matcher(std::vector<std::string>{"x"});
  CHECK(matcher.push("axb") == "a");
  CHECK(matcher.stopped());
  CHECK(matcher.push("more").empty());
  CHECK(matcher.finish().empty());
}

TEST_CASE("of several stop strings the one that is complete first counts") {
  CHECK(run({"abc", "b"}, {"abc"}).text == "a");
  CHECK(run({"bcd", "abc"}, {"abcd"}).text.empty());
  CHECK(run({"c", "abc"}, {"xabc"}).text == "x");  // both end together: the longer
  CHECK(run({"aab"}, {"aaab"}).text == "a");       // overlapping starts
  CHECK(run({"abab"}, {"aba", "bab"}).text.empty());
}

TEST_CASE("any text in any pieces gives what a slow search gives") {
  std::mt19937 random(11);
  for (int round = 0; round < 5000; ++round) {
    std::vector<std::string> stops(1 + random() % 3);
    for (std::string& stop : stops) {
      const std::size_t length = 1 + random() % 6;
      for (std::size_t i = 0; i < length; ++i) stop += static_cast<char>('a' + random() % 2);
    }
    std::string text;
    std::vector<std::string> pieces(random() % 12);
    for (std::string& piece : pieces) {
      const std::size_t length = random() % 4;
      for (std::size_t i = 0; i < length; ++i) piece += static_cast<char>('a' + random() % 3);
      text += piece;
    }
    const Result expected = slow(stops, text);
    const Result got = run(stops, pieces);
    CHECK(got.text == expected.text);
    CHECK(got.stopped == expected.stopped);
  }
}

}  // namespace glmhost::generation
