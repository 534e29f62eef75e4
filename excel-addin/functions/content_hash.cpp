#include "excel-addin/functions/content_hash.h"

#include <xxhash.h>

#include <bit>
#include <new>

namespace glmhost::functions {

ContentHash::ContentHash() : state_(XXH3_createState()) {
  if (state_ == nullptr) throw std::bad_alloc();
  XXH3_128bits_reset(state_);
}

ContentHash::~ContentHash() {
  XXH3_freeState(state_);
}

void ContentHash::bytes(const void* data, std::size_t size) {
  if (size > 0) XXH3_128bits_update(state_, data, size);
}

void ContentHash::add(std::uint64_t number) {
  bytes(&number, sizeof(number));
}

void ContentHash::add(std::string_view text) {
  add(std::uint64_t{text.size()});
  bytes(text.data(), text.size());
}

void ContentHash::add(const Value& scalar) {
  add(static_cast<std::uint64_t>(scalar.type()));
  switch (scalar.type()) {
    case formula::Type::number:
      add(std::bit_cast<std::uint64_t>(scalar.number() == 0 ? 0.0 : scalar.number()));
      add(static_cast<std::uint64_t>(scalar.kind()));
      break;
    case formula::Type::text:
      add(std::string_view(scalar.text()));
      break;
    case formula::Type::boolean:
      add(std::uint64_t{scalar.boolean()});
      break;
    case formula::Type::error:
      add(static_cast<std::uint64_t>(scalar.error()));
      break;
    default:
      break;
  }
}

void ContentHash::add(const Argument& argument) {
  add(std::uint64_t{argument.parts.size()});
  for (const Part& part : argument.parts) {
    const std::uint32_t rows = part.cells ? part.cells->rows() : 0;
    const std::uint32_t columns = part.cells ? part.cells->columns() : 0;
    add(std::uint64_t{rows} << 32 | columns);
    // Cells and a value alike in content are asked about in other words: one has an address.
    add(std::uint64_t{part.area.has_value()});
    for (std::uint32_t row = 0; row < rows; ++row) {
      for (std::uint32_t column = 0; column < columns; ++column) add(part.cells->cell(row, column));
    }
  }
}

Topic ContentHash::topic() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_);
  return {hash.low64, hash.high64};
}

}  // namespace glmhost::functions
