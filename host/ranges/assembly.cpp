#include "host/ranges/assembly.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "host/platform/process.h"
#include "host/ranges/range_error.h"
#include "host/ranges/transcode.h"

namespace glmhost::ranges {
namespace {

constexpr std::uint64_t kMostGrowth = 64u << 20;
constexpr std::uint64_t kLeastGrowth = 256u << 10;

constexpr std::uint64_t aligned(std::uint64_t offset) {
  return (offset + kAlignment - 1) / kAlignment * kAlignment;
}

constexpr std::uint64_t bitmap_bytes(std::uint64_t rows) {
  return (rows + 63) / 64 * 8;
}

// Sets bits [first, first + count).
void set_bits(std::uint64_t* words, std::uint64_t first, std::uint64_t count) {
  while (count > 0) {
    const std::uint64_t bit = first & 63;
    const std::uint64_t take = std::min<std::uint64_t>(64 - bit, count);
    const std::uint64_t mask = take == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << take) - 1;
    words[first >> 6] |= mask << bit;
    first += take;
    count -= take;
  }
}

}  // namespace

std::size_t reserve_for(std::uint64_t rows, std::uint64_t columns) {
  if (columns > kMostColumns || rows > kMostRows) {
    throw RangeError("A range has at most " + std::to_string(kMostRows) + " rows and " + std::to_string(kMostColumns) +
                     " columns.");
  }
  const std::uint64_t a_column = 9 * rows + bitmap_bytes(rows) + 4 * kAlignment;
  const std::uint64_t fixed = aligned(sizeof(Header)) + columns * (sizeof(ColumnEntry) + a_column) + (1u << 20);
  const std::uint64_t most = SharedMemory::most_reserve();
  constexpr std::uint64_t kMostCellBytes = 3 * 32'767;
  const std::uint64_t texts = rows * columns > most / kMostCellBytes ? most : rows * columns * kMostCellBytes;
  if (fixed > kMostTextOffset || fixed > SIZE_MAX / 2) {
    throw RangeError("A range of " + std::to_string(rows) + " rows and " + std::to_string(columns) +
                     " columns is too large for this program. Take the part that is in use.");
  }
  const std::uint64_t whole = fixed + texts;
  return static_cast<std::size_t>(sizeof(void*) == 8 ? whole : std::max(fixed, std::min(whole, most)));
}

Assembly::Assembly(std::uint64_t rows, std::uint64_t columns, SharedMemory memory)
    : rows_(rows), columns_(columns), memory_(std::move(memory)) {
  columns_offset_ = aligned(sizeof(Header));
  end_ = aligned(columns_offset_ + columns * sizeof(ColumnEntry));
  memory_.commit(end_);
  std::memset(memory_.data(), 0, end_);
}

void Assembly::grow(std::uint64_t end) {
  if (end <= memory_.size()) return;
  const std::uint64_t more = std::clamp(end / 4, kLeastGrowth, kMostGrowth);
  // A little ahead where that is possible: each growth is a call to the system.
  try {
    memory_.commit(static_cast<std::size_t>(end + more));
  } catch (const RangeError&) {
    memory_.commit(static_cast<std::size_t>(end));
  }
}

std::uint64_t Assembly::allocate(std::uint64_t bytes) {
  const std::uint64_t offset = aligned(end_);
  grow(offset + bytes);
  end_ = offset + bytes;
  return offset;
}

void Assembly::check_room(const ColumnState& column, std::uint64_t count) const {
  if (count > rows_ - column.rows) {
    throw RangeError("More cells were written into a column than the range has rows (" + std::to_string(rows_) + ").");
  }
}

void Assembly::need_bitmap(ColumnState& column) {
  if (column.valid != 0) return;
  column.valid = allocate(bitmap_bytes(rows_));
  set_bits(at<std::uint64_t>(column.valid), 0, column.rows);
}

void Assembly::mark_valid(const ColumnState& column, std::uint64_t first, std::uint64_t count) {
  if (column.valid != 0) set_bits(at<std::uint64_t>(column.valid), first, count);
}

// The first cell that is not empty decides what the column is.
void Assembly::begin(ColumnState& column, ColumnKind kind, CellTag number_tag) {
  column.kind = kind;
  column.number_tag = number_tag;
  column.data = allocate(8 * rows_);
  if (kind == ColumnKind::mixed) {
    column.tags = allocate(rows_);
  } else if (column.rows > 0) {
    column.valid = allocate(bitmap_bytes(rows_));
  }
}

void Assembly::become_mixed(ColumnState& column) {
  column.tags = allocate(rows_);
  auto* const tags = at<std::uint8_t>(column.tags);
  const auto* const valid = column.valid == 0 ? nullptr : at<std::uint64_t>(column.valid);
  CellTag tag = column.number_tag;
  if (column.kind == ColumnKind::text) tag = CellTag::text;
  if (column.kind == ColumnKind::boolean) {
    tag = CellTag::boolean;
    // From the last to the first: a byte lies before the eight that it becomes.
    const auto* const bytes = at<std::uint8_t>(column.data);
    auto* const payloads = at<double>(column.data);
    for (std::uint64_t i = column.rows; i-- > 0;) {
      const double payload = bytes[i];
      payloads[i] = payload;
    }
  }
  for (std::uint64_t i = 0; i < column.rows; ++i) {
    const bool is_there = valid == nullptr || (valid[i >> 6] >> (i & 63) & 1) != 0;
    tags[i] = static_cast<std::uint8_t>(is_there ? tag : CellTag::empty);
  }
  column.kind = ColumnKind::mixed;
  column.valid = 0;
  bytes_written_ += column.rows;
}

void Assembly::add_empties(ColumnState& column, std::uint64_t count) {
  if (count == 0) return;
  check_room(column, count);
  if (column.kind != ColumnKind::empty && column.kind != ColumnKind::mixed) need_bitmap(column);
  column.rows += count;
}

void Assembly::add_numbers(ColumnState& column, const double* numbers, std::size_t count, std::size_t stride) {
  if (count == 0) return;
  check_room(column, count);
  if (column.kind == ColumnKind::empty) begin(column, ColumnKind::number, CellTag::number);
  if (column.kind != ColumnKind::mixed && (column.kind != ColumnKind::number || column.number_tag != CellTag::number)) {
    become_mixed(column);
  }
  double* const to = at<double>(column.data) + column.rows;
  if (stride == 1) {
    std::memcpy(to, numbers, count * sizeof(double));
  } else {
    for (std::size_t i = 0; i < count; ++i) to[i] = numbers[i * stride];
  }
  if (column.kind == ColumnKind::mixed) {
    std::memset(at<std::uint8_t>(column.tags) + column.rows, static_cast<int>(CellTag::number), count);
    bytes_written_ += count;
  }
  mark_valid(column, column.rows, count);
  column.rows += count;
  bytes_written_ += count * sizeof(double);
}

void Assembly::add_cell(ColumnState& column, CellTag tag, double payload) {
  check_room(column, 1);
  const bool is_number = tag >= CellTag::number && tag <= CellTag::date_time;
  if (column.kind == ColumnKind::empty) {
    begin(column,
          is_number                 ? ColumnKind::number
          : tag == CellTag::boolean ? ColumnKind::boolean
                                    : ColumnKind::mixed,
          is_number ? tag : CellTag::number);
  }
  const bool fits = column.kind == ColumnKind::mixed ||
                    (column.kind == ColumnKind::number && is_number && column.number_tag == tag) ||
                    (column.kind == ColumnKind::boolean && tag == CellTag::boolean);
  if (!fits) become_mixed(column);
  if (column.kind == ColumnKind::boolean) {
    at<std::uint8_t>(column.data)[column.rows] = payload != 0 ? 1 : 0;
    ++bytes_written_;
  } else {
    at<double>(column.data)[column.rows] = payload;
    bytes_written_ += sizeof(double);
  }
  if (column.kind == ColumnKind::mixed) {
    at<std::uint8_t>(column.tags)[column.rows] = static_cast<std::uint8_t>(tag);
    ++bytes_written_;
  }
  mark_valid(column, column.rows, 1);
  ++column.rows;
}

void Assembly::add_ref(ColumnState& column, TextRef ref) {
  if (column.kind == ColumnKind::empty) begin(column, ColumnKind::text, CellTag::text);
  if (column.kind != ColumnKind::text && column.kind != ColumnKind::mixed) become_mixed(column);
  at<TextRef>(column.data)[column.rows] = ref;
  bytes_written_ += sizeof(ref) + text_size(ref);
  if (column.kind == ColumnKind::mixed) {
    at<std::uint8_t>(column.tags)[column.rows] = static_cast<std::uint8_t>(CellTag::text);
    ++bytes_written_;
  }
  mark_valid(column, column.rows, 1);
  ++column.rows;
}

TextRef Assembly::put_text(std::string_view utf8) {
  if (utf8.size() > kMostTextBytes) {
    throw RangeError("A text of " + std::to_string(utf8.size()) + " bytes is too long for a range; at most " +
                     std::to_string(kMostTextBytes) + " are possible.");
  }
  grow(end_ + utf8.size());
  if (!utf8.empty()) std::memcpy(memory_.data() + end_, utf8.data(), utf8.size());
  const TextRef ref = text_ref(end_, utf8.size());
  end_ += utf8.size();
  return ref;
}

void Assembly::add_text(ColumnState& column, std::string_view utf8) {
  check_room(column, 1);
  const TextRef ref = put_text(utf8);
  add_ref(column, ref);
}

void Assembly::add_text(ColumnState& column, std::u16string_view utf16) {
  check_room(column, 1);
  if (utf16.size() > kMostTextBytes / 3) throw RangeError("A text is too long for a range.");
  grow(end_ + 3 * utf16.size());
  const std::size_t size = to_utf8(utf16, at<char>(end_));
  const TextRef ref = text_ref(end_, size);
  end_ += size;
  add_ref(column, ref);
}

void Assembly::set_dictionary(ColumnState& column, std::span<const std::uint32_t> codes, const std::uint64_t* valid,
                              std::span<const std::string_view> texts) {
  check_room(column, codes.size());
  if (column.rows != 0) throw RangeError("A column that has cells already cannot become a dictionary column.");
  column.kind = ColumnKind::dictionary;
  column.distinct = true;
  column.data = allocate(4 * rows_);
  if (!codes.empty()) std::memcpy(at<std::uint32_t>(column.data), codes.data(), codes.size_bytes());
  column.rows = codes.size();
  if (valid != nullptr || column.rows < rows_) need_bitmap(column);
  if (valid != nullptr) {
    std::memcpy(at<std::uint64_t>(column.valid), valid, bitmap_bytes(codes.size()));
    // Bits behind the last row are not ours to set.
    if (codes.size() % 64 != 0) {
      at<std::uint64_t>(column.valid)[codes.size() / 64] &= (std::uint64_t{1} << codes.size() % 64) - 1;
    }
  }
  column.text_count = texts.size();
  column.texts = allocate(8 * texts.size());
  bytes_written_ += codes.size_bytes() + 8 * texts.size();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const TextRef ref = put_text(texts[i]);
    at<TextRef>(column.texts)[i] = ref;
    bytes_written_ += texts[i].size();
  }
}

SharedMemory Assembly::seal() {
  std::uint64_t names_offset = 0, names_size = 0;
  for (ColumnState& column : columns_) {
    if (column.rows < rows_) add_empties(column, rows_ - column.rows);
    names_size += column.name.size();
  }
  if (names_size > UINT32_MAX) throw RangeError("The names of the columns are too long.");
  if (names_size > 0) names_offset = allocate(names_size);
  std::uint64_t name_end = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const ColumnState& column = columns_[i];
    ColumnEntry& entry = at<ColumnEntry>(columns_offset_)[i];
    entry = {};
    entry.kind = static_cast<std::uint32_t>(column.kind);
    entry.number_tag = static_cast<std::uint32_t>(column.number_tag);
    entry.valid_offset = column.valid;
    entry.data_offset = column.data;
    entry.tags_offset = column.tags;
    entry.texts_offset = column.texts;
    entry.text_count = column.text_count;
    entry.distinct = column.distinct ? 1 : 0;
    entry.name_offset = static_cast<std::uint32_t>(name_end);
    entry.name_size = static_cast<std::uint32_t>(column.name.size());
    if (!column.name.empty()) std::memcpy(at<char>(names_offset) + name_end, column.name.data(), column.name.size());
    name_end += column.name.size();
  }
  Header& header = *at<Header>(0);
  header = {};
  header.magic = kMagic;
  header.version = kLayoutVersion;
  header.rows = rows_;
  header.columns = columns_.size();
  header.total_size = end_;
  header.generation = generation_;
  header.columns_offset = columns_offset_;
  header.names_offset = names_offset;
  header.names_size = names_size;
  header.owner_pid = platform::process_id();
  header.state = static_cast<std::uint32_t>(State::sealed);
  return std::move(memory_);
}

}  // namespace glmhost::ranges
