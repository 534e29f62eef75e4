// Asserts that something is refused by an Error of a kind whose sentence holds certain words.
#pragma once

#include <doctest/doctest.h>

#include <initializer_list>
#include <optional>
#include <string_view>

#include "inference/error.h"

namespace glmhost::generation {

template <typename Action>
void check_refused(Action action, ErrorKind kind, std::initializer_list<std::string_view> words) {
  std::optional<Error> refusal;
  try {
    action();
  } catch (const Error& error) {
    refusal = error;
  }
  REQUIRE_MESSAGE(refusal.has_value(), "nothing was refused");
  const std::string_view sentence = refusal->what();
  INFO(sentence);
  CHECK(refusal->kind() == kind);
  for (const std::string_view word : words) {
    INFO(word);
    CHECK(sentence.find(word) != std::string_view::npos);
  }
}

}  // namespace glmhost::generation
