#include "walk.h"

#include <doctest/doctest.h>

#include <random>
#include <set>
#include <vector>

#include "inference/error.h"

namespace glmhost::constraints::testing {

std::shared_ptr<const TokenTrie> vocabulary() {
  static const std::shared_ptr<const TokenTrie> trie = [] {
    std::set<std::string> texts;
    const std::string letters = "etaoinshrdlcumwfgypbvkjxqz";
    for (const char a : letters) {
      for (const char b : letters) {
        texts.insert({a, b});
        texts.insert({' ', a, b});
        for (const char c : letters.substr(0, 8)) texts.insert({a, b, c});
      }
    }
    for (int i = 0; i < 1000; ++i) texts.insert(std::to_string(i));
    for (const char* piece : {"{\"",      "\":",      "\": ",     "\",\"",        "\", \"",
                              "\"}",      "\"]",      "},{\"",    "}, {",         "[[",
                              "]]",       "[]",       "{}",       "  ",           "    ",
                              "\n  ",     "\n    ",   "true",     "false",        "null",
                              "tru",      "\\u00",    "\\n",      "\\\"",         "\\u",
                              "\\ud83",   "foo",      "bar",      "name",         "\"foo",
                              "oo\"",     "oo\":",    ".0",       "-1",           "1.5",
                              "e+",       ": [",      "\",",      "\"\"",         "\"\",",
                              "\"a\"",    ": \"",     "\xE4\xBD", "\xE4\xBD\xA0", "\xA0\xE5\xA5\xBD",
                              "\xF0\x9F", "\x98\x80", "\xC3",     "\xC3\xA9",     "\xA9\"",
                              "\xBD\"",   "2024",     "-01",      "T12",          ":30",
                              "Z\""}) {
      texts.insert(piece);
    }
    std::vector<std::string> tokens;
    for (int byte = 0; byte < 256; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
    tokens.insert(tokens.end(), texts.begin(), texts.end());
    tokens.emplace_back();  // the end
    const auto end = static_cast<std::int32_t>(tokens.size() - 1);
    return std::make_shared<const TokenTrie>(
        static_cast<std::int32_t>(tokens.size()),
        [&](std::int32_t id) { return std::string_view(tokens[static_cast<std::size_t>(id)]); },
        std::vector<std::int32_t>{end});
  }();
  return trie;
}

namespace {

Spec of_kind(Spec::Kind kind, std::string text) {
  Spec spec;
  spec.kind = kind;
  spec.text = std::move(text);
  return spec;
}

// The longest, the shortest, or any token that TEXT begins with.
std::int32_t next_token(std::string_view text, std::uint32_t seed, std::mt19937& random) {
  static const std::vector<std::vector<std::int32_t>> by_first = [] {
    std::vector<std::vector<std::int32_t>> lists(256);
    for (std::int32_t id = 0; id < vocabulary()->vocabulary_size(); ++id) {
      const std::string_view bytes = vocabulary()->bytes(id);
      if (!bytes.empty()) lists[static_cast<unsigned char>(bytes[0])].push_back(id);
    }
    return lists;
  }();
  std::vector<std::int32_t> fitting;
  std::int32_t longest = -1;
  for (const std::int32_t id : by_first[static_cast<unsigned char>(text[0])]) {
    if (!text.starts_with(vocabulary()->bytes(id))) continue;
    fitting.push_back(id);
    if (longest < 0 || vocabulary()->bytes(id).size() > vocabulary()->bytes(longest).size()) longest = id;
  }
  if (seed == 0) return longest;
  return fitting[random() % fitting.size()];
}

}  // namespace

Spec schema(std::string text) {
  return of_kind(Spec::Kind::json_schema, std::move(text));
}
Spec regex(std::string text) {
  return of_kind(Spec::Kind::regex, std::move(text));
}
Spec gbnf(std::string text) {
  return of_kind(Spec::Kind::grammar, std::move(text));
}
Spec type(std::string name) {
  return of_kind(Spec::Kind::type, std::move(name));
}
Spec choices(std::vector<std::string> texts) {
  Spec spec = of_kind(Spec::Kind::choice, "");
  spec.choices = std::move(texts);
  return spec;
}

std::shared_ptr<const Constraint> compiled(const Spec& spec) {
  return compile(spec, vocabulary());
}

std::string refusal(const Spec& spec) {
  try {
    compile_grammar(spec);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool takes(const std::shared_ptr<const Constraint>& constraint, std::string_view text, std::uint32_t seed) {
  std::mt19937 random(seed);
  ConstraintState state(constraint);
  while (!text.empty()) {
    const std::int32_t token = next_token(text, seed, random);
    const bool allowed = bit_is_set(state.mask(), token);
    // The mask and the reader must agree on every token that is tried.
    const bool accepted = state.accept(token);
    CHECK(allowed == accepted);
    if (!accepted) return false;
    text.remove_prefix(constraint->vocabulary().bytes(token).size());
  }
  CHECK(state.can_end() == bit_is_set(state.mask(), constraint->vocabulary().end_tokens()[0]));
  return state.can_end();
}

bool takes(const Spec& spec, std::string_view text, std::uint32_t seed) {
  return takes(compiled(spec), text, seed);
}

std::string random_text(const std::shared_ptr<const Constraint>& constraint, std::uint32_t seed, int most) {
  std::mt19937 random(seed);
  ConstraintState state(constraint);
  const TokenTrie& trie = constraint->vocabulary();
  const std::int32_t end = trie.end_tokens()[0];
  std::string text;
  for (int i = 0; i < most; ++i) {
    const auto mask = state.mask();
    if (bit_is_set(mask, end) && (random() % 4 == 0 || i > most / 2)) return text;
    std::vector<std::int32_t> allowed, closing;
    for (std::int32_t id = 0; id < trie.vocabulary_size(); ++id) {
      if (id == end || !bit_is_set(mask, id)) continue;
      allowed.push_back(id);
      if (trie.bytes(id).find_first_of("\"]}") != std::string_view::npos) closing.push_back(id);
    }
    if (allowed.empty()) {
      REQUIRE(bit_is_set(mask, end));
      return text;
    }
    const auto& drawn = !closing.empty() && random() % 3 == 0 ? closing : allowed;
    const std::int32_t token = drawn[random() % drawn.size()];
    REQUIRE(state.accept(token));
    text += trie.bytes(token);
  }
  return "";
}

}  // namespace glmhost::constraints::testing
