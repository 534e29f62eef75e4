// Hashes of questions (XXH3, 128 bits).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "excel-addin/functions/argument.h"
#include "excel-addin/functions/topic.h"

struct XXH3_state_s;

namespace glmhost::functions {

// Everything goes in with its kind and length, so that no two lists of things look alike.
class ContentHash {
 public:
  ContentHash();
  ~ContentHash();
  ContentHash(const ContentHash&) = delete;
  ContentHash& operator=(const ContentHash&) = delete;

  void add(std::uint64_t number);
  void add(std::string_view text);
  void add(const Value& scalar);
  void add(const Argument& argument);  // its cells, not where they lie
  Topic topic() const;

 private:
  void bytes(const void* data, std::size_t size);
  XXH3_state_s* state_;
};

}  // namespace glmhost::functions
