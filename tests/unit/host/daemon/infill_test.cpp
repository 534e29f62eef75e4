// Gaps to be filled, through the daemon: the same answer as to the raw prompt that the form gives, a prompt of any
// length, and what the cache spares.
#include <doctest/doctest.h>

#include "tests/unit/host/daemon/running_daemon.h"

namespace glmhost::daemon {
namespace {

Request gap(const std::string& prefix) {
  Request request;
  request.infill.emplace().prefix = prefix;
  request.infill->suffix = "\nthe end\n";
  request.max_tokens = 12;
  request.memo = false;
  return request;
}

TEST_CASE("a gap is filled, and what stands behind it counts where the model has markers") {
  RunningDaemon host;
  host.start();
  const auto client = host.client();
  const Result filled = result_of(ask(*client, gap("hello world")));
  CHECK_FALSE(filled.content.empty());
  CHECK(filled.reasoning.empty());
  CHECK(result_of(ask(*client, gap("hello world"))).content == filled.content);
  // The tiny model's vocabulary has the markers of GLM-4.5.
  Request other = gap("hello world");
  other.infill->suffix.clear();
  const Result without = result_of(ask(*client, other));
  CHECK(without.usage.prompt_tokens < filled.usage.prompt_tokens);
}

TEST_CASE("a prefix far longer than the context is cut, not refused") {
  RunningDaemon host;
  host.start();
  const auto client = host.client();
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "line " + std::to_string(i) + "\n";
  const Result filled = result_of(ask(*client, gap(text)));
  CHECK(filled.usage.prompt_tokens > 500);
  CHECK(filled.usage.prompt_tokens <= 2048 - 12);
}

TEST_CASE("one key more computes the prompt's end only, and usage says so") {
  RunningDaemon host;
  host.start();
  const auto client = host.client();
  std::string text;
  for (int i = 0; i < 60; ++i) text += "value_" + std::to_string(i) + " = " + std::to_string(i * 7) + "\n";
  const Result first = result_of(ask(*client, gap(text)));
  CHECK(first.usage.cached_prompt_tokens == 0);
  const Result second = result_of(ask(*client, gap(text + "v")));
  CHECK(second.usage.cached_prompt_tokens > first.usage.prompt_tokens - 64);
  CHECK(second.usage.cached_prompt_tokens < second.usage.prompt_tokens);
}

}  // namespace
}  // namespace glmhost::daemon
