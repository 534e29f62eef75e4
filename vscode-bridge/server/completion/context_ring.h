// Pieces of other files that were visited or edited lately, for the model to see: those that share the most names with
// the text around the cursor, as many as the budget allows.
//
// What was chosen stays chosen, in its place, until the choice is renewed: a prompt that begins otherwise costs the
// model all of it again.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <vector>

namespace glmhost::completion {

struct Piece {
  std::string uri;
  std::string path;
  std::size_t block = 0;  // which kBlockLines lines of the file
  std::string text;
};

inline constexpr std::size_t kBlockLines = 48;

class ContextRing {
 public:
  // The place the user is at, or has just edited. The newest of a place counts.
  void visit(Piece piece);
  // Of a file that is not open, such as declarations of a module that is imported.
  void add(Piece piece) { visit(std::move(piece)); }
  void forget(std::string_view uri);

  // The pieces of other files that fit best to `near`, at most `bytes` in all, the ones visited longest ago first.
  std::vector<Piece> choose(std::string_view uri, std::string_view near, std::size_t bytes) const;

 private:
  struct Kept {
    Piece piece;
    std::uint64_t since = 0;           // when it came first: the order of prompts
    std::vector<std::uint64_t> names;  // hashes, sorted, each once
  };
  std::list<Kept> kept_;  // the newest in front
  std::uint64_t clock_ = 0;
};

// Hashes of the names in a text, sorted, each once.
std::vector<std::uint64_t> names_in(std::string_view text);
// Of two such lists: names in both by names in either.
double similarity(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b);

// The lines of a source file that say what is in it: beginnings of functions, types and the like, at most `bytes`.
std::string declarations_of(std::string_view text, std::size_t bytes);

}  // namespace glmhost::completion
