#include "excel-addin/functions/interim_topic.h"

#include <xxhash.h>

#include <cstring>
#include <memory>
#include <new>

namespace glmhost::functions {
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
    case formula::Type::number:
      add_number(state, value.number());
      break;
    case formula::Type::boolean:
      add_number(state, value.boolean());
      break;
    case formula::Type::error:
      add_number(state, value.error());
      break;
    case formula::Type::text:
      add_number(state, static_cast<std::uint64_t>(value.text().size()));
      add_bytes(state, value.text().data(), value.text().size());
      break;
    default:
      break;
  }
}

}  // namespace

Topic topic_of(FunctionId function, const std::vector<Value>& arguments) {
  const State state(XXH3_createState());
  if (state == nullptr) throw std::bad_alloc();
  XXH3_128bits_reset(state.get());
  add_number(state.get(), function);
  for (const Value& argument : arguments) {
    add_number(state.get(), static_cast<std::uint64_t>(rows_of(argument)));
    add_number(state.get(), static_cast<std::uint64_t>(columns_of(argument)));
    for (const Value& cell : cells_of(argument)) add_scalar(state.get(), cell);
  }
  const XXH128_hash_t hash = XXH3_128bits_digest(state.get());
  return {hash.low64, hash.high64};
}

}  // namespace glmhost::functions
