#include "excel-addin/table/grouping.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "excel-addin/formula/text_units.h"

namespace glmhost::table {
namespace {

constexpr std::uint64_t kMostRange = std::uint64_t{1} << 31;
constexpr std::size_t kParts = 8;  // parts of the rows; never depends on the number of threads
constexpr std::size_t kSmallSpace = std::size_t{1} << 16;

struct Bounds {
  double least = std::numeric_limits<double>::infinity(), most = -std::numeric_limits<double>::infinity();
  bool whole = true;
};

Bounds bounds_of(const Column& column, Workers& workers) {
  std::vector<Bounds> parts((column.rows() + Workers::kBlockRows - 1) / Workers::kBlockRows);
  workers.for_blocks(column.rows(), [&](std::size_t begin, std::size_t end) {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    int odd = 0;
    const double* const cells = column.numbers();
    if (column.valid() == nullptr) {
      for (std::size_t i = begin; i < end; ++i) {
        least = std::min(least, cells[i]);
        most = std::max(most, cells[i]);
        // Beyond 2^51 the sum rounds in another place; such ranges are too wide anyway.
        constexpr double kRounds = 6755399441055744.0;
        odd |= static_cast<int>((cells[i] + kRounds) - kRounds != cells[i]);
      }
    } else {
      for (std::size_t i = begin; i < end; ++i) {
        if (!column.is_valid(i)) continue;
        least = std::min(least, cells[i]);
        most = std::max(most, cells[i]);
        odd |= static_cast<int>(std::floor(cells[i]) != cells[i]);
      }
    }
    parts[begin / Workers::kBlockRows] = {least, most, odd == 0};
  });
  Bounds all;
  for (const Bounds& part : parts) {
    all.least = std::min(all.least, part.least);
    all.most = std::max(all.most, part.most);
    all.whole &= part.whole;
  }
  return all;
}

std::uint64_t hash_of(std::uint64_t key) {
  key ^= key >> 32;
  key *= 0x9E3779B97F4A7C15u;
  key ^= key >> 29;
  key *= 0xBF58476D1CE4E5B9u;
  return key ^ key >> 32;
}

// --- many different keys: parts by hash, a table for each

struct Entry {
  std::uint64_t key;
  std::uint32_t row, local;
};

class HashGrouping {
 public:
  HashGrouping(std::span<const std::uint64_t> keys, Workers& workers) : keys_(keys), workers_(workers) {}

  Grouping run() {
    scatter();
    firsts_.resize(kPartitions);
    workers_.run(kPartitions, [&](std::size_t p) { group_partition(p); });
    return numbered();
  }

 private:
  static constexpr std::size_t kPartitions = 64;

  static std::size_t partition_of(std::uint64_t hash) { return hash >> 58; }

  std::pair<std::size_t, std::size_t> part_rows(std::size_t part) const {
    const std::size_t size = (keys_.size() + kParts - 1) / kParts;
    return {std::min(part * size, keys_.size()), std::min((part + 1) * size, keys_.size())};
  }

  void scatter() {
    std::vector<std::vector<std::size_t>> counts(kParts, std::vector<std::size_t>(kPartitions));
    workers_.run(kParts, [&](std::size_t part) {
      const auto rows = part_rows(part);
      std::size_t own[kPartitions] = {};
      for (std::size_t i = rows.first; i < rows.second; ++i) ++own[partition_of(hash_of(keys_[i]))];
      std::copy(std::begin(own), std::end(own), counts[part].begin());
    });
    begins_.assign(kPartitions + 1, 0);
    std::size_t at = 0;
    for (std::size_t p = 0; p < kPartitions; ++p) {
      begins_[p] = at;
      for (auto& own : counts) at += std::exchange(own[p], at);
    }
    begins_[kPartitions] = at;
    entries_ = Buffer<Entry>(keys_.size());
    workers_.run(kParts, [&](std::size_t part) {
      const auto rows = part_rows(part);
      std::size_t own[kPartitions];
      std::copy(counts[part].begin(), counts[part].end(), own);
      for (std::size_t i = rows.first; i < rows.second; ++i) {
        entries_[own[partition_of(hash_of(keys_[i]))]++] = {keys_[i], static_cast<std::uint32_t>(i), 0};
      }
    });
  }

  void group_partition(std::size_t p) {
    const std::size_t count = begins_[p + 1] - begins_[p];
    std::size_t size = 64;
    std::vector<std::uint32_t> slots(size);  // local id + 1
    std::vector<std::uint64_t> keys;
    Rows& firsts = firsts_[p];
    const auto place = [&](std::uint64_t key) {
      std::size_t slot = hash_of(key) & (size - 1);
      while (slots[slot] != 0 && keys[slots[slot] - 1] != key) slot = (slot + 1) & (size - 1);
      return slot;
    };
    for (std::size_t i = 0; i < count; ++i) {
      Entry& entry = entries_[begins_[p] + i];
      std::size_t slot = place(entry.key);
      if (slots[slot] == 0) {
        if ((keys.size() + 1) * 2 > size) {
          size *= 4;
          slots.assign(size, 0);
          for (std::size_t k = 0; k < keys.size(); ++k) {
            std::size_t at = hash_of(keys[k]) & (size - 1);
            while (slots[at] != 0) at = (at + 1) & (size - 1);
            slots[at] = static_cast<std::uint32_t>(k + 1);
          }
          slot = place(entry.key);
        }
        keys.push_back(entry.key);
        firsts.push_back(entry.row);
        slots[slot] = static_cast<std::uint32_t>(keys.size());
      }
      entry.local = slots[slot] - 1;
    }
  }

  // Groups get their numbers in the order of their first rows.
  Grouping numbered() {
    const std::size_t rows = keys_.size();
    std::vector<std::uint64_t> is_first(bitmap_words(rows));
    for (const Rows& firsts : firsts_) {
      for (const std::uint32_t row : firsts) is_first[row >> 6] |= std::uint64_t{1} << (row & 63);
    }
    std::vector<std::uint32_t> before(is_first.size());
    std::uint32_t groups = 0;
    for (std::size_t word = 0; word < is_first.size(); ++word) {
      before[word] = groups;
      groups += static_cast<std::uint32_t>(std::popcount(is_first[word]));
    }
    const auto number = [&](std::uint32_t row) {
      const std::uint64_t below = (std::uint64_t{1} << (row & 63)) - 1;
      return before[row >> 6] + static_cast<std::uint32_t>(std::popcount(is_first[row >> 6] & below));
    };
    Grouping result;
    result.ids = Buffer<std::uint32_t>(rows);
    result.space = groups;
    result.order.resize(groups);
    result.first_rows.resize(groups);
    workers_.run(kPartitions, [&](std::size_t p) {
      std::vector<std::uint32_t> numbers(firsts_[p].size());
      for (std::size_t local = 0; local < numbers.size(); ++local) {
        const std::uint32_t id = number(firsts_[p][local]);
        numbers[local] = id;
        result.order[id] = id;
        result.first_rows[id] = firsts_[p][local];
      }
      for (std::size_t i = begins_[p]; i < begins_[p + 1]; ++i)
        result.ids[entries_[i].row] = numbers[entries_[i].local];
    });
    return result;
  }

  std::span<const std::uint64_t> keys_;
  Workers& workers_;
  std::vector<std::size_t> begins_;
  Buffer<Entry> entries_;
  std::vector<Rows> firsts_;
};

// --- few possible keys: the code itself is the id

Grouping direct_grouping(Buffer<std::uint32_t> ids, std::size_t space, Workers& workers) {
  const std::size_t rows = ids.size();
  const std::size_t parts = space <= kSmallSpace && rows > kSmallSpace ? kParts : 1;
  const std::size_t size = (rows + parts - 1) / parts;
  struct Seen {
    std::vector<std::uint32_t> order;
    Rows first_rows;
  };
  std::vector<Seen> seen(parts);
  workers.run(parts, [&](std::size_t part) {
    std::vector<std::uint8_t> known(space);
    const std::size_t end = std::min(rows, (part + 1) * size);
    for (std::size_t row = part * size; row < end; ++row) {
      const std::uint32_t id = ids[row];
      if (known[id] != 0) continue;
      known[id] = 1;
      seen[part].order.push_back(id);
      seen[part].first_rows.push_back(static_cast<std::uint32_t>(row));
    }
  });
  Grouping result;
  result.space = space;
  if (parts == 1) {
    result.order = std::move(seen[0].order);
    result.first_rows = std::move(seen[0].first_rows);
  } else {
    std::vector<std::uint8_t> known(space);
    for (const Seen& part : seen) {
      for (std::size_t i = 0; i < part.order.size(); ++i) {
        if (std::exchange(known[part.order[i]], std::uint8_t{1}) != 0) continue;
        result.order.push_back(part.order[i]);
        result.first_rows.push_back(part.first_rows[i]);
      }
    }
  }
  result.ids = std::move(ids);
  return result;
}

// --- codes

using Codes = std::vector<KeyCodes>;

Codes boolean_codes(std::span<const Column> columns) {
  Codes result;
  for (const Column& column : columns) {
    Buffer<std::uint32_t> codes(column.rows());
    for (std::size_t i = 0; i < codes.size(); ++i) {
      codes[i] = column.type() == ColumnType::empty || !column.is_valid(i) ? kEmptyCode
                                                                           : 1 + (column.booleans()[i] != 0 ? 1 : 0);
    }
    result.push_back({std::move(codes), 3});
  }
  return result;
}

Codes text_codes(std::span<const Column> columns, Workers& workers) {
  Codes result;
  DictionaryBuilder all;
  const bool one = columns.size() == 1;
  std::uint64_t range = 1;
  std::vector<std::vector<std::uint32_t>> maps;
  for (const Column& column : columns) {
    const std::size_t size = column.dictionary() ? column.dictionary()->size() : 0;
    std::vector<std::uint32_t> map(size);
    if (one && size > 0) {
      const auto* folded = column.dictionary()->folded_codes();
      for (std::size_t code = 0; code < size; ++code)
        map[code] = (folded != nullptr ? (*folded)[code] : static_cast<std::uint32_t>(code)) + 1;
      range = size + 1;
    } else {
      for (std::size_t code = 0; code < size; ++code)
        map[code] = all.code(formula::folded(column.dictionary()->text(code))) + 1;
    }
    maps.push_back(std::move(map));
  }
  if (!one) range = all.size() + 1;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const Column& column = columns[c];
    const std::vector<std::uint32_t>& map = maps[c];
    Buffer<std::uint32_t> codes(column.rows());
    workers.for_blocks(column.rows(), [&](std::size_t begin, std::size_t end) {
      if (column.type() == ColumnType::empty) {
        std::fill(codes.data() + begin, codes.data() + end, kEmptyCode);
      } else if (column.valid() != nullptr) {
        for (std::size_t i = begin; i < end; ++i) codes[i] = column.is_valid(i) ? map[column.codes()[i]] : kEmptyCode;
      } else {
        for (std::size_t i = begin; i < end; ++i) codes[i] = map[column.codes()[i]];
      }
    });
    result.push_back({std::move(codes), range});
  }
  return result;
}

Codes number_codes(std::span<const Column> columns, Workers& workers) {
  Bounds all;
  std::size_t rows = 0;
  for (const Column& column : columns) {
    rows += column.rows();
    if (column.type() == ColumnType::empty) continue;
    const Bounds own = bounds_of(column, workers);
    all.least = std::min(all.least, own.least);
    all.most = std::max(all.most, own.most);
    all.whole &= own.whole;
  }
  Codes result;
  if (all.least > all.most) all.least = all.most = 0;
  if (all.whole && all.most - all.least < static_cast<double>(kMostRange) - 2) {
    const double base = all.least - 1;
    const auto range = static_cast<std::uint64_t>(all.most - base) + 1;
    for (const Column& column : columns) {
      Buffer<std::uint32_t> codes(column.rows());
      workers.for_blocks(column.rows(), [&](std::size_t begin, std::size_t end) {
        if (column.type() == ColumnType::empty) {
          std::fill(codes.data() + begin, codes.data() + end, kEmptyCode);
        } else if (column.valid() != nullptr) {
          for (std::size_t i = begin; i < end; ++i)
            codes[i] = column.is_valid(i)
                           ? static_cast<std::uint32_t>(static_cast<std::int64_t>(column.numbers()[i] - base))
                           : kEmptyCode;
        } else {
          for (std::size_t i = begin; i < end; ++i)
            codes[i] = static_cast<std::uint32_t>(static_cast<std::int64_t>(column.numbers()[i] - base));
        }
      });
      result.push_back({std::move(codes), range});
    }
    return result;
  }
  // Bits of the numbers of all columns, numbered together.
  Buffer<std::uint64_t> bits(rows);
  std::size_t at = 0;
  for (const Column& column : columns) {
    for (std::size_t i = 0; i < column.rows(); ++i, ++at) {
      const bool there = column.type() != ColumnType::empty && column.is_valid(i);
      bits[at] = there ? std::bit_cast<std::uint64_t>(column.numbers()[i] + 0.0) : 0;  // -0 becomes 0
    }
  }
  const Grouping grouping = HashGrouping(bits.span(), workers).run();
  at = 0;
  for (const Column& column : columns) {
    Buffer<std::uint32_t> codes(column.rows());
    for (std::size_t i = 0; i < codes.size(); ++i, ++at) {
      const bool there = column.type() != ColumnType::empty && column.is_valid(i);
      codes[i] = there ? grouping.ids[at] + 1 : kEmptyCode;
    }
    result.push_back({std::move(codes), std::uint64_t{grouping.space} + 1});
  }
  return result;
}

// Any cells: each as a text that says its type too.
Codes mixed_codes(std::span<const Column> columns) {
  DictionaryBuilder all;
  Codes result;
  for (const Column& column : columns) {
    Buffer<std::uint32_t> codes(column.rows());
    std::vector<std::uint32_t> of_text(column.dictionary() ? column.dictionary()->size() : 0);
    for (std::size_t i = 0; i < codes.size(); ++i) {
      const Tag tag = column.tag(i);
      if (tag == Tag::empty) {
        codes[i] = kEmptyCode;
        continue;
      }
      const formula::Value value = column.value(i);
      std::string key;
      if (tag == Tag::text) {
        const auto code =
            column.type() == ColumnType::text ? column.codes()[i] : static_cast<std::uint32_t>(column.payloads()[i]);
        if (of_text[code] == 0) of_text[code] = all.code("t" + formula::folded(value.text())) + 1;
        codes[i] = of_text[code];
        continue;
      }
      if (is_number(tag)) {
        const double number = value.number() + 0.0;
        key.assign(reinterpret_cast<const char*>(&number), sizeof number);
        key += 'n';
      } else {
        key =
            tag == Tag::boolean ? value.boolean() ? "b1" : "b0" : "e" + std::to_string(static_cast<int>(value.error()));
      }
      codes[i] = all.code(key) + 1;
    }
    result.push_back({std::move(codes), 0});
  }
  for (KeyCodes& codes : result) codes.range = all.size() + 1;
  return result;
}

}  // namespace

std::vector<KeyCodes> key_codes(std::span<const Column> columns, Workers& workers) {
  const auto all = [&](ColumnType type) {
    return std::ranges::all_of(
        columns, [&](const Column& column) { return column.type() == type || column.type() == ColumnType::empty; });
  };
  if (all(ColumnType::number)) return number_codes(columns, workers);
  if (all(ColumnType::text)) return text_codes(columns, workers);
  if (all(ColumnType::boolean)) return boolean_codes(columns);
  return mixed_codes(columns);
}

Grouping group_codes(std::vector<KeyCodes> keys, std::size_t rows, Workers& workers) {
  if (keys.empty()) {
    Grouping one;
    one.ids = Buffer<std::uint32_t>(rows);
    std::fill_n(one.ids.data(), rows, 0u);
    one.space = 1;
    one.order = {0};
    one.first_rows = {rows > 0 ? 0 : kNoRow};
    return one;
  }
  // As many keys at a time as fit into one number.
  while (true) {
    std::uint64_t range = 1;
    std::size_t taken = 0;
    while (taken < keys.size() && range <= std::numeric_limits<std::uint64_t>::max() / keys[taken].range)
      range *= keys[taken++].range;
    const bool last = taken == keys.size();
    const std::size_t direct = std::max(kSmallSpace, std::min<std::size_t>(rows * 2, std::size_t{1} << 24));
    Grouping grouping;
    if (range <= direct) {
      Buffer<std::uint32_t> ids = std::move(keys[0].codes);
      for (std::size_t k = 1; k < taken; ++k) {
        const auto factor = static_cast<std::uint32_t>(keys[k].range);
        workers.for_blocks(rows, [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) ids[i] = ids[i] * factor + keys[k].codes[i];
        });
      }
      grouping = direct_grouping(std::move(ids), range, workers);
    } else {
      Buffer<std::uint64_t> packed(rows);
      workers.for_blocks(rows, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) packed[i] = keys[0].codes[i];
        for (std::size_t k = 1; k < taken; ++k) {
          for (std::size_t i = begin; i < end; ++i) packed[i] = packed[i] * keys[k].range + keys[k].codes[i];
        }
      });
      grouping = HashGrouping(packed.span(), workers).run();
    }
    if (last) return grouping;
    std::vector<KeyCodes> rest;
    rest.push_back({std::move(grouping.ids), std::max<std::size_t>(grouping.space, 1)});
    for (std::size_t k = taken; k < keys.size(); ++k) rest.push_back(std::move(keys[k]));
    keys = std::move(rest);
  }
}

Grouping group_rows(std::span<const Column> keys, std::size_t rows, Workers& workers) {
  std::vector<KeyCodes> codes;
  for (const Column& key : keys) codes.push_back(std::move(key_codes({&key, 1}, workers)[0]));
  return group_codes(std::move(codes), rows, workers);
}

GroupRows rows_by_group(const Grouping& grouping, Workers& workers) {
  const std::size_t rows = grouping.ids.size(), groups = grouping.groups();
  const std::size_t parts = groups <= kSmallSpace && grouping.space <= kSmallSpace && rows > kSmallSpace ? kParts : 1;
  const std::size_t size = (rows + parts - 1) / parts;
  std::vector<std::vector<std::uint32_t>> counts(parts, std::vector<std::uint32_t>(grouping.space));
  const auto each_row = [&](std::size_t part, const auto& visit) {
    const std::size_t end = std::min(rows, (part + 1) * size);
    for (std::size_t row = part * size; row < end; ++row) visit(row, counts[part][grouping.ids[row]]);
  };
  workers.run(parts, [&](std::size_t part) { each_row(part, [](std::size_t, std::uint32_t& count) { ++count; }); });
  GroupRows result;
  result.offsets.resize(groups + 1);
  std::uint32_t at = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    result.offsets[g] = at;
    for (auto& own : counts) at += std::exchange(own[grouping.order[g]], at);
  }
  result.offsets[groups] = at;
  result.rows = Buffer<std::uint32_t>(rows);
  workers.run(parts, [&](std::size_t part) {
    each_row(part,
             [&](std::size_t row, std::uint32_t& place) { result.rows[place++] = static_cast<std::uint32_t>(row); });
  });
  return result;
}

}  // namespace glmhost::table
