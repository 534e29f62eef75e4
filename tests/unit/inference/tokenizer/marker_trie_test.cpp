#include "inference/tokenizer/marker_trie.h"

#include <doctest/doctest.h>

#include <string>

namespace glmhost::tokenizer {
namespace {

const MarkerTrie& sample() {
  static const MarkerTrie trie({{"<think>", 1, Markers::user_defined},
                                {"<|user|>", 2, Markers::all},
                                {"<|", 3, Markers::user_defined},
                                {"\n\n", 4, Markers::none},
                                {"\n\n\n", 5, Markers::none},
                                {"<think>", 6, Markers::all},
                                {"abcd", 7, Markers::all},
                                {"bc", 8, Markers::all}});
  return trie;
}

TokenId id_at(std::string_view text, std::size_t position, Markers mode) {
  const auto found = sample().find(text, position, mode);
  return found ? found->id : -1;
}

TEST_CASE("the first marker at or after a position is found") {
  const auto found = sample().find("say <think> <think>", 5, Markers::all);
  REQUIRE(found);
  CHECK(found->begin == 12);
  CHECK(found->length == 7);
  CHECK(found->id == 1);
  CHECK_FALSE(sample().find("say <thin", 0, Markers::all));
  CHECK_FALSE(sample().find("", 0, Markers::all));
}

TEST_CASE("of markers that start at the same place the longest is taken") {
  CHECK(id_at("\n\n\n\n", 0, Markers::none) == 5);
  CHECK(id_at("\n\n", 0, Markers::none) == 4);
  CHECK(id_at("<|user|>", 0, Markers::all) == 2);
  CHECK(id_at("<|user", 0, Markers::all) == 3);
}

TEST_CASE("a marker that starts first is taken before a longer one inside it ends") {
  CHECK(id_at("xabcd", 0, Markers::all) == 7);
  CHECK(id_at("xabc", 0, Markers::all) == 8);
}

TEST_CASE("each marker is taken from its own mode on") {
  CHECK(id_at("<think>", 0, Markers::none) == -1);
  CHECK(id_at("<think>", 0, Markers::user_defined) == 1);
  CHECK(id_at("<|user|>", 0, Markers::user_defined) == 3);  // the longer one is not for this mode
  CHECK(id_at("<|user|>", 0, Markers::none) == -1);
}

TEST_CASE("exact look-up finds whole markers of every mode only") {
  CHECK(sample().exact("<|user|>") == 2);
  CHECK(sample().exact("<|") == 3);
  CHECK(sample().exact("<think>") == 1);
  CHECK_FALSE(sample().exact("<|use"));
  CHECK_FALSE(sample().exact("<|user|>x"));
  CHECK_FALSE(sample().exact(""));
}

TEST_CASE("no markers, very long ones and every byte") {
  const MarkerTrie none({});
  CHECK_FALSE(none.find("text", 0, Markers::all));
  CHECK_FALSE(none.exact("text"));

  const std::string longest(1 << 20, 'z');
  std::vector<std::string> bytes;
  for (int byte = 0; byte < 256; ++byte) bytes.push_back(std::string{'\x01', static_cast<char>(byte)});
  std::vector<Marker> markers = {{longest, 1000, Markers::none}};
  for (int byte = 0; byte < 256; ++byte)
    markers.push_back({bytes[static_cast<std::size_t>(byte)], byte, Markers::none});
  const MarkerTrie trie(markers);
  CHECK(trie.exact(longest) == 1000);
  for (int byte = 0; byte < 256; ++byte) CHECK(trie.exact(bytes[static_cast<std::size_t>(byte)]) == byte);
}

}  // namespace
}  // namespace glmhost::tokenizer
