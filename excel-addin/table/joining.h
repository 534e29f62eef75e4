// Pairs of rows with equal keys.
#pragma once

#include <span>

#include "excel-addin/table/column.h"
#include "excel-addin/table/pipeline.h"
#include "excel-addin/table/workers.h"

namespace glmhost::table {

struct JoinedRows {
  Rows left, right;            // kNoRow where a side has no row
  bool all_left_once = false;  // left is 0, 1, 2, ...
};

// In the order of the left table and, for one left row, of the right one; right rows without a partner (right, full)
// come last. Keys with an empty cell or an error match nothing. semi and anti give left rows alone. Throws TableError
// with the number of rows when there would be more than `most_rows`, before anything is made.
JoinedRows join_rows(JoinKind kind, std::span<const Column> left_keys, std::span<const Column> right_keys,
                     std::size_t left_rows, std::size_t right_rows, std::size_t most_rows, Workers& workers);

// One id for each row of both sides: equal keys have equal ids, kMatchesNothing is that of incomplete ones.
inline constexpr std::uint32_t kMatchesNothing = 0;
struct SharedIds {
  Buffer<std::uint32_t> left, right;
  std::size_t space = 1;
};
SharedIds shared_ids(std::span<const Column> left_keys, std::span<const Column> right_keys, std::size_t left_rows,
                     std::size_t right_rows, Workers& workers);

// Throws TableError when there are more than `most_rows`.
void check_join_size(double rows, std::size_t most_rows);

// A pair of keys that need not be equal.
struct PairRule {
  Compare compare = Compare::equal;
  Column left, right;
};

// join_rows() with further conditions: rows that agree in the equal keys (perhaps none) are partners when all rules
// hold; only cells of one type compare. `nearest`: of the partners by the one rule with an order, the one with the
// nearest key alone, of equal ones the last for > and >=, the first for < and <=.
JoinedRows join_rows_where(JoinKind kind, bool nearest, std::span<const Column> left_keys,
                           std::span<const Column> right_keys, std::span<const PairRule> rules, std::size_t left_rows,
                           std::size_t right_rows, std::size_t most_rows, Workers& workers);

struct FuzzyRows {
  JoinedRows rows;
  std::vector<double> scores;  // of each pair; 0 where a side has no row
};
// The row whose text is most alike (text_similarity.h) among those that agree in the equal keys and reach the score; of
// equally alike ones the first. Numbers are compared as they show.
FuzzyRows join_rows_alike(JoinKind kind, double least_score, const Column& left_text, const Column& right_text,
                          std::span<const Column> left_keys, std::span<const Column> right_keys, std::size_t left_rows,
                          std::size_t right_rows, std::size_t most_rows, Workers& workers);

}  // namespace glmhost::table
