// Asserts that something is refused by an Error of a kind, with a whole sentence that holds certain words.
#pragma once

#include <doctest/doctest.h>

#include <initializer_list>
#include <optional>
#include <string_view>

#include "inference/error.h"
#include "inference/model_files/gguf_file.h"
#include "tests/unit/inference/model_files/gguf_writer.h"

namespace glmhost::model_files {

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
  CHECK(sentence.ends_with('.'));
  for (const std::string_view word : words) {
    INFO(word);
    CHECK(sentence.find(word) != std::string_view::npos);
  }
}

// The file is called x.gguf.
inline void check_bytes_refused(const Bytes& bytes, ErrorKind kind, std::initializer_list<std::string_view> words) {
  check_refused([&] { GgufFile::from_bytes(bytes, "x.gguf"); }, kind, words);
}

}  // namespace glmhost::model_files
