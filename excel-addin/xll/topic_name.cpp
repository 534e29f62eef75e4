#include "excel-addin/xll/topic_name.h"

#include <xxhash.h>

#include <cstring>
#include <memory>

namespace glmhost::xll {
namespace {

struct FreeState {
  void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};
using State = std::unique_ptr<XXH3_state_t, FreeState>;

void add_bytes(XXH3_state_t* state, const void* bytes, std::size_t size) {
  XXH3_128bits_update(state, bytes, size);
}

template <class Number>
void add_number(XXH3_state_t* state, Number number) {
  add_bytes(state, &number, sizeof(number));
}

void add_scalar(XXH3_state_t* state, const formula::Value& value) {
  add_number(state, value.is_omitted() ? std::uint8_t{0xFF} : static_cast<std::uint8_t>(value.type()));
  switch (value.type()) {
    case formula::Type::number: add_number(state, value.number()); break;
    case formula::Type::boolean: add_number(state, value.boolean()); break;
    case formula::Type::error: add_number(state, value.error()); break;
    case formula::Type::text:
      add_number(state, static_cast<std::uint64_t>(value.text().size()));
      add_bytes(state, value.text().data(), value.text().size());
      break;
    default: break;
  }
}

}  // namespace

std::string topic_name(std::string_view function, const std::vector<formula::Value>& arguments) {
  const State state(XXH3_createState());
  if (state == nullptr) throw std::bad_alloc();
  XXH3_128bits_reset(state.get());
  add_bytes(state.get(), function.data(), function.size());
  for (const formula::Value& argument : arguments) {
    add_number(state.get(), static_cast<std::uint64_t>(rows_of(argument)));
    add_number(state.get(), static_cast<std::uint64_t>(columns_of(argument)));
    for (const formula::Value& cell : cells_of(argument)) add_scalar(state.get(), cell);
  }
  XXH128_canonical_t bytes;
  XXH128_canonicalFromHash(&bytes, XXH3_128bits_digest(state.get()));
  constexpr char kDigits[] = "0123456789abcdef";
  std::string name;
  for (const unsigned char byte : bytes.digest) {
    name += kDigits[byte >> 4];
    name += kDigits[byte & 15];
  }
  return name;
}

}  // namespace glmhost::xll
