// A short run of cells on its way through an expression, and the kernels that combine such runs.
#pragma once

#include <cstddef>
#include <vector>

#include "excel-addin/formula/syntax_tree.h"
#include "excel-addin/table/column.h"

namespace glmhost::table {

inline constexpr std::size_t kLaneRows = 2048;  // so that a run stays in the nearest cache

struct Lane {
  const double* data = nullptr;  // 0 where a cell is empty
  const Tag* tags = nullptr;     // null: all cells are `tag`
  Tag tag = Tag::empty;          // of those that are not empty, where the lane is uniform
  bool uniform = true;           // all cells are `tag` or empty
  const Dictionary* dictionary = nullptr;

  Tag tag_at(std::size_t i) const { return tags == nullptr ? tag : tags[i]; }
  // No errors and no texts: data can be computed with.
  bool is_plain() const { return uniform && tag != Tag::text && tag != Tag::error; }
  bool is_numeric() const { return uniform && (is_number(tag) || tag == Tag::empty); }
  formula::Value value(std::size_t i) const;
};

// Memory for the result of one step.
struct LaneBuffer {
  std::vector<double> data;
  std::vector<Tag> tags;
  LaneBuffer() : data(kLaneRows), tags(kLaneRows) {}
};

// The cells of a column from `begin` on.
Lane column_lane(const Column& column, std::size_t begin, std::size_t count, LaneBuffer& buffer);

// entries[code of the cell]; the last entry is that of an empty cell.
Lane mapped_lane(const Column& texts, const Column& entries, std::size_t begin, std::size_t count, LaneBuffer& buffer);

Lane binary_lane(formula::Operator op, const Lane& left, const Lane& right, std::size_t count, LaneBuffer& buffer);
Lane unary_lane(formula::Operator op, const Lane& operand, std::size_t count, LaneBuffer& buffer);

// IF. Texts of either side get the codes that the maps give for theirs; null: they stay.
struct Choice {
  std::shared_ptr<const Dictionary> dictionary;
  std::vector<std::uint32_t> yes_codes, no_codes;
};
Lane choice_lane(const Lane& condition, const Lane& yes, const Lane& no, const Choice& choice, std::size_t count,
                 LaneBuffer& buffer);

bool has_kernel(formula::Operator op);

}  // namespace glmhost::table
