// What an object, an array or a repetition remembers while it is read.
#pragma once

#include <cstdint>
#include <vector>

#include "inference/constraints/grammar.h"

namespace glmhost::constraints {

struct Memory {
  enum class Kind : std::uint8_t { none, object, counts };
  // Places in an object's data.
  static constexpr std::size_t kItems = 0;
  static constexpr std::size_t kLabel = 1;     // of the key that has been read + 1; 0: none
  static constexpr std::size_t kPosition = 2;  // behind the last declared key; with declared order
  static constexpr std::size_t kSeen = 3;      // one bit for each label

  Kind kind = Kind::none;
  std::uint32_t form = 0;
  // Objects: as above. Arrays: {items, hits of `contains`}. Repetitions: {items}.
  std::vector<std::uint32_t> data;

  // Objects only, derived from the rest.
  std::vector<std::uint64_t> available;  // one bit for each label that may come now
  bool others_available = false;         // names that are no known property
  bool can_close = false;

  bool same(const Memory& other) const { return kind == other.kind && form == other.form && data == other.data; }
  bool is_available(std::uint32_t label) const { return (available[label / 64] >> (label % 64) & 1) != 0; }
  bool any_available(std::uint32_t first, std::uint32_t last) const;  // of the labels first..last-1
  bool any_available() const;
};

// The memory of an object at its beginning, and after a key.
std::vector<std::uint32_t> initial_object_data(const ObjectForm& form);
std::vector<std::uint32_t> object_data_with_key(const ObjectForm& form, const Memory& before, std::uint32_t label);

// Sets the derived fields: what may come so that the object can still be completed.
void derive(const ObjectForm& form, Memory& memory);

}  // namespace glmhost::constraints
