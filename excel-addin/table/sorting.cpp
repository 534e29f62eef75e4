#include "excel-addin/table/sorting.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

namespace glmhost::table {
namespace {

constexpr std::uint64_t kEmptyKey = ~std::uint64_t{0};
// Finite numbers lie below; above them is room for all other cells.
constexpr std::uint64_t kTextKey = std::uint64_t{0xFFF1} << 48, kBooleanKey = std::uint64_t{0xFFF2} << 48,
                        kErrorKey = std::uint64_t{0xFFF3} << 48;

std::uint64_t number_key(double number) {
  const auto bits = std::bit_cast<std::uint64_t>(number + 0.0);
  return (bits >> 63) != 0 ? ~bits : bits | std::uint64_t{1} << 63;
}

struct Entry {
  std::uint64_t key;
  std::uint32_t row;
};

// One pass for each 11 bits in which the keys differ, lowest first.
void radix_sort(std::vector<Entry>& entries, const Workers& workers) {
  constexpr int kBits = 11;
  constexpr std::size_t kBuckets = std::size_t{1} << kBits;
  std::uint64_t differing = 0;
  for (const Entry& entry : entries) differing |= entry.key ^ entries[0].key;
  std::vector<Entry> other(entries.size());
  for (int shift = 0; shift < 64; shift += kBits) {
    if ((differing >> shift & (kBuckets - 1)) == 0) continue;
    workers.check_cancelled();
    std::array<std::uint32_t, kBuckets> places{};
    for (const Entry& entry : entries) ++places[entry.key >> shift & (kBuckets - 1)];
    std::uint32_t at = 0;
    for (std::uint32_t& place : places) at += std::exchange(place, at);
    for (const Entry& entry : entries) other[places[entry.key >> shift & (kBuckets - 1)]++] = entry;
    entries.swap(other);
  }
}

}  // namespace

std::vector<std::uint64_t> sort_keys(const SortColumn& key, Workers& workers) {
  const Column& column = key.column;
  const std::vector<std::uint32_t>* ranks = column.dictionary() ? &column.dictionary()->ranks() : nullptr;
  std::vector<std::uint64_t> keys(column.rows());
  workers.for_blocks(keys.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      std::uint64_t value = 0;
      switch (column.tag(row)) {
        case Tag::empty:
          keys[row] = kEmptyKey;
          continue;
        case Tag::text:
          value =
              kTextKey | (*ranks)[column.type() == ColumnType::text ? column.codes()[row]
                                                                    : static_cast<std::size_t>(column.payloads()[row])];
          break;
        case Tag::boolean:
          value =
              kBooleanKey |
              ((column.type() == ColumnType::boolean ? column.booleans()[row] != 0 : column.payloads()[row] != 0) ? 1
                                                                                                                  : 0);
          break;
        case Tag::error:
          value = kErrorKey | static_cast<std::uint64_t>(column.payloads()[row]);
          break;
        default:
          value = number_key(column.type() == ColumnType::number ? column.numbers()[row] : column.payloads()[row]);
      }
      keys[row] = key.descending ? kEmptyKey - 1 - value : value;
    }
  });
  return keys;
}

Rows sorted_rows(std::span<const SortColumn> keys, std::size_t rows, Workers& workers) {
  Rows order(rows);
  std::iota(order.begin(), order.end(), 0u);
  if (rows < 2) return order;
  workers.require_memory(static_cast<double>(rows) * (2 * sizeof(Entry) + sizeof(std::uint64_t)), "Sorting takes");
  for (std::size_t k = keys.size(); k-- > 0;) {
    workers.check_cancelled();
    const std::vector<std::uint64_t> values = sort_keys(keys[k], workers);
    std::vector<Entry> entries(rows);
    for (std::size_t i = 0; i < rows; ++i) entries[i] = {values[order[i]], order[i]};
    radix_sort(entries, workers);
    for (std::size_t i = 0; i < rows; ++i) order[i] = entries[i].row;
  }
  return order;
}

}  // namespace glmhost::table
