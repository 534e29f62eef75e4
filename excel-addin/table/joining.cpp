#include "excel-addin/table/joining.h"

#include <algorithm>
#include <string>
#include <utility>

#include "excel-addin/table/grouping.h"
#include "excel-addin/table/table_error.h"

namespace glmhost::table {
namespace {

bool matches_nothing(const Column& column, std::size_t row) {
  const Tag tag = column.tag(row);
  return tag == Tag::empty || tag == Tag::error;
}

}  // namespace

SharedIds shared_ids(std::span<const Column> left_keys, std::span<const Column> right_keys, std::size_t left_rows,
                     std::size_t right_rows, Workers& workers) {
  std::vector<std::vector<KeyCodes>> codes;
  for (std::size_t k = 0; k < left_keys.size(); ++k) {
    const Column both[] = {left_keys[k], right_keys[k]};
    codes.push_back(key_codes(both, workers));
  }
  SharedIds result;
  const std::size_t direct = std::max<std::size_t>(std::size_t{1} << 16, (left_rows + right_rows) * 2);
  if (codes.size() == 1 && codes[0][0].range <= direct && codes[0][0].range > 0) {
    result.left = std::move(codes[0][0].codes);
    result.right = std::move(codes[0][1].codes);
    result.space = codes[0][0].range;
  } else {
    std::vector<KeyCodes> all;
    for (auto& pair : codes) {
      Buffer<std::uint32_t> both(left_rows + right_rows);
      std::copy_n(pair[0].codes.data(), left_rows, both.data());
      std::copy_n(pair[1].codes.data(), right_rows, both.data() + left_rows);
      all.push_back({std::move(both), pair[0].range});
    }
    const Grouping grouping = group_codes(std::move(all), left_rows + right_rows, workers);
    result.left = Buffer<std::uint32_t>(left_rows);
    result.right = Buffer<std::uint32_t>(right_rows);
    for (std::size_t i = 0; i < left_rows; ++i) result.left[i] = grouping.ids[i] + 1;
    for (std::size_t i = 0; i < right_rows; ++i) result.right[i] = grouping.ids[left_rows + i] + 1;
    result.space = grouping.space + 1;
  }
  const auto exclude = [&](Buffer<std::uint32_t>& ids, std::span<const Column> keys) {
    for (const Column& key : keys) {
      if (key.type() != ColumnType::mixed && !key.has_empties()) continue;
      for (std::size_t i = 0; i < ids.size(); ++i) {
        if (matches_nothing(key, i)) ids[i] = kMatchesNothing;
      }
    }
  };
  exclude(result.left, left_keys);
  exclude(result.right, right_keys);
  return result;
}

void check_join_size(double rows, std::size_t most_rows) {
  if (rows <= static_cast<double>(most_rows)) return;
  std::string number = std::to_string(static_cast<unsigned long long>(std::min(rows, 1.8e19)));
  for (std::size_t at = number.size(); at > 3; at -= 3) number.insert(at - 3, ",");
  throw TableError("This join would make " + number + " rows, more than the " + std::to_string(most_rows) +
                   " that are allowed. Join on further columns, or filter or group one side first.");
}

namespace {

JoinedRows crossed(std::size_t left_rows, std::size_t right_rows, std::size_t most_rows, const Workers& workers) {
  const double rows = static_cast<double>(left_rows) * static_cast<double>(right_rows);
  check_join_size(rows, most_rows);
  workers.require_memory(rows * 2 * sizeof(std::uint32_t), "This join takes");
  JoinedRows result;
  result.left.reserve(left_rows * right_rows);
  result.right.reserve(left_rows * right_rows);
  for (std::size_t l = 0; l < left_rows; ++l) {
    for (std::size_t r = 0; r < right_rows; ++r) {
      result.left.push_back(static_cast<std::uint32_t>(l));
      result.right.push_back(static_cast<std::uint32_t>(r));
    }
  }
  return result;
}

}  // namespace

JoinedRows join_rows(JoinKind kind, std::span<const Column> left_keys, std::span<const Column> right_keys,
                     std::size_t left_rows, std::size_t right_rows, std::size_t most_rows, Workers& workers) {
  if (kind == JoinKind::cross) return crossed(left_rows, right_rows, most_rows, workers);
  const SharedIds ids = shared_ids(left_keys, right_keys, left_rows, right_rows, workers);

  // The right rows by id.
  std::vector<std::uint32_t> ends(ids.space + 1);
  for (const std::uint32_t id : ids.right.span()) ++ends[id];
  ends[kMatchesNothing] = 0;
  std::uint32_t at = 0;
  bool unique = true;
  for (std::uint32_t& end : ends) {
    unique &= end <= 1;
    at += std::exchange(end, at);
  }
  std::vector<std::uint32_t> by_id(at);
  for (std::size_t row = 0; row < right_rows; ++row) {
    const std::uint32_t id = ids.right[row];
    if (id != kMatchesNothing) by_id[ends[id]++] = static_cast<std::uint32_t>(row);
  }
  // Each entry has moved to its end: the begin is the entry before.
  const auto begin_of = [&](std::uint32_t id) { return id == 0 ? 0 : ends[id - 1]; };
  const auto count_of = [&](std::uint32_t id) { return id == kMatchesNothing ? 0 : ends[id] - begin_of(id); };

  const bool keeps_left = kind == JoinKind::left || kind == JoinKind::full;
  const bool alone = kind == JoinKind::semi || kind == JoinKind::anti;
  const auto made_by = [&](std::uint32_t id) -> std::uint64_t {
    const std::uint32_t count = count_of(id);
    if (alone) return (count > 0) == (kind == JoinKind::semi) ? 1 : 0;
    return count == 0 && keeps_left ? 1 : count;
  };
  const std::size_t blocks = (left_rows + Workers::kBlockRows - 1) / Workers::kBlockRows;
  std::vector<std::uint64_t> offsets(blocks + 1);
  workers.for_blocks(left_rows, [&](std::size_t begin, std::size_t end) {
    std::uint64_t count = 0;
    for (std::size_t row = begin; row < end; ++row) count += made_by(ids.left[row]);
    offsets[begin / Workers::kBlockRows + 1] = count;
  });
  for (std::size_t block = 0; block < blocks; ++block) offsets[block + 1] += offsets[block];
  std::vector<std::uint32_t> unmatched;
  if (kind == JoinKind::right || kind == JoinKind::full) {
    std::vector<bool> met(ids.space);
    for (const std::uint32_t id : ids.left.span()) met[id] = true;
    for (std::size_t row = 0; row < right_rows; ++row) {
      if (ids.right[row] == kMatchesNothing || !met[ids.right[row]])
        unmatched.push_back(static_cast<std::uint32_t>(row));
    }
  }
  const std::uint64_t total = offsets[blocks] + unmatched.size();
  check_join_size(static_cast<double>(total), most_rows);
  workers.require_memory(static_cast<double>(total) * (alone ? 1 : 2) * sizeof(std::uint32_t), "This join takes");

  JoinedRows result;
  result.left.resize(total, kNoRow);
  if (!alone) result.right.resize(total, kNoRow);
  workers.for_blocks(left_rows, [&](std::size_t begin, std::size_t end) {
    std::size_t out = offsets[begin / Workers::kBlockRows];
    for (std::size_t row = begin; row < end; ++row) {
      const std::uint32_t id = ids.left[row];
      const std::uint64_t made = made_by(id);
      const std::uint32_t count = count_of(id), first = begin_of(id);
      for (std::uint64_t k = 0; k < made; ++k, ++out) {
        result.left[out] = static_cast<std::uint32_t>(row);
        if (!alone && count > 0) result.right[out] = by_id[first + k];
      }
    }
  });
  std::copy(unmatched.begin(), unmatched.end(), result.right.end() - static_cast<std::ptrdiff_t>(unmatched.size()));
  result.all_left_once = keeps_left && unique && unmatched.empty();
  return result;
}

}  // namespace glmhost::table
