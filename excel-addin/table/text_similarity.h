// How alike two texts are: 1 - (Levenshtein distance) / (length of the longer one), in code points, without case, with
// runs of blanks as one and none at the ends. 1: equal, 0: nothing in common.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace glmhost::table {

// The code points that are compared.
std::u32string folded_for_similarity(std::string_view text);

// One text against many. Texts of at most 64 code points take one step a code point of the other (the bit-parallel
// algorithm of Myers, 1999, in the form of Hyyrö, 2001).
class Similarity {
 public:
  explicit Similarity(std::u32string text);
  // Or 0 where it would be below `least`.
  double to(const std::u32string& other, double least) const;

 private:
  std::size_t distance(const std::u32string& other) const;
  std::uint64_t places(char32_t c) const;

  std::u32string text_;
  std::vector<std::uint64_t> low_;                        // where each code point below 128 stands
  std::vector<std::pair<char32_t, std::uint64_t>> high_;  // and the others
};

}  // namespace glmhost::table
