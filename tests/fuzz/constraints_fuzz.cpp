// Arbitrary bytes as a schema, a regular expression, a grammar or choices; what compiles is walked at random.
//
// The first byte picks the kind, the second seeds the walk. What must hold: a state allows some token unless its text is
// complete, and every token that the mask allows is taken.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "inference/constraints/constraint.h"
#include "inference/error.h"

namespace {

using namespace glmhost::constraints;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

// All bytes, some pieces of JSON, and the end.
std::shared_ptr<const TokenTrie> vocabulary() {
  static const std::shared_ptr<const TokenTrie> trie = [] {
    static std::vector<std::string> tokens;
    for (int byte = 0; byte < 256; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
    for (const char* piece : {"{\"", "\":", "\",\"", "\"}", "true", "\\u00", "ab", "a\"", "\xE4\xBD", "[[", "]]", "00"}) {
      tokens.emplace_back(piece);
    }
    tokens.emplace_back();
    return std::make_shared<const TokenTrie>(
        static_cast<std::int32_t>(tokens.size()),
        [](std::int32_t id) { return std::string_view(tokens[static_cast<std::size_t>(id)]); },
        std::vector<std::int32_t>{static_cast<std::int32_t>(tokens.size() - 1)});
  }();
  return trie;
}

Spec spec_of(std::uint8_t kind, std::string text) {
  Spec spec;
  spec.white_space = kind & 16 ? Spec::WhiteSpace::usual : Spec::WhiteSpace::any;
  spec.order = kind & 32 ? Spec::PropertyOrder::declared : Spec::PropertyOrder::any;
  switch (kind % 4) {
    case 0:
      spec.kind = Spec::Kind::json_schema;
      break;
    case 1:
      spec.kind = Spec::Kind::regex;
      break;
    case 2:
      spec.kind = Spec::Kind::grammar;
      break;
    default:
      spec.kind = Spec::Kind::choice;
      for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        spec.choices.push_back(text.substr(begin, end - begin));
        begin = end + 1;
      }
      return spec;
  }
  spec.text = std::move(text);
  return spec;
}

void walk(const std::shared_ptr<const Constraint>& constraint, std::uint32_t seed) {
  std::mt19937 random(seed);
  ConstraintState state(constraint);
  const std::int32_t end = vocabulary()->end_tokens()[0];
  for (int i = 0; i < 48; ++i) {
    const auto mask = state.mask();
    std::vector<std::int32_t> allowed;
    for (std::int32_t id = 0; id < vocabulary()->vocabulary_size(); ++id) {
      if (bit_is_set(mask, id)) allowed.push_back(id);
    }
    require(!allowed.empty(), "a state allows some token");
    require(state.can_end() == bit_is_set(mask, end), "the end is allowed where the text is complete");
    const std::int32_t token = allowed[random() % allowed.size()];
    require(state.accept(token), "an allowed token is taken");
    if (token == end) return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const Spec spec = spec_of(data[0], std::string(reinterpret_cast<const char*>(data) + 2, size - 2));
  std::shared_ptr<const Constraint> constraint;
  try {
    constraint = compile(spec, vocabulary());
  } catch (const glmhost::Error& error) {
    require(error.what()[0] != '\0', "a refusal has a sentence");
    return 0;
  }
  try {
    walk(constraint, data[1]);
  } catch (const glmhost::Error&) {  // too ambiguous
  }
  return 0;
}
