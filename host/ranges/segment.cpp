#include "host/ranges/segment.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <unordered_set>
#include <vector>

#include "host/ranges/segment_access.h"
#include "host/ranges/transcode.h"

namespace glmhost::ranges {
namespace {

[[noreturn]] void damaged(const std::string& what) {
  throw RangeError("The range is damaged: " + what + ". Calculate the formula again.");
}

std::string in_column(std::uint64_t index, const std::string& what) {
  return "column " + std::to_string(index + 1) + " " + what;
}

// Checked access to a segment's bytes.
class Bytes {
 public:
  explicit Bytes(std::span<const std::byte> bytes) : bytes_(bytes) {}

  // `count` elements at the offset. Null when there are none.
  template <class T>
  const T* run(std::uint64_t offset, std::uint64_t count, std::uint64_t column, const char* what) const {
    if (count == 0) return nullptr;
    const std::uint64_t size = bytes_.size();
    if (offset % kAlignment != 0) damaged(in_column(column, std::string("has ") + what + " that are not aligned"));
    if (offset < sizeof(Header) || offset > size || count > (size - offset) / sizeof(T)) {
      damaged(in_column(column, std::string("has ") + what + " outside of the segment"));
    }
    return reinterpret_cast<const T*>(bytes_.data() + offset);
  }

  bool holds(std::uint64_t offset, std::uint64_t size) const {
    return offset <= bytes_.size() && size <= bytes_.size() - offset;
  }
  std::string_view text(std::uint64_t offset, std::uint64_t size) const {
    return {reinterpret_cast<const char*>(bytes_.data()) + offset, static_cast<std::size_t>(size)};
  }

 private:
  std::span<const std::byte> bytes_;
};

// Texts that follow one another, as a writer leaves them, are checked as one: a long run is looked at much faster than
// many short ones, and where a text begins inside of a character is seen by its first byte.
class TextCheck {
 public:
  TextCheck(const Bytes& bytes, std::uint64_t column) : bytes_(bytes), column_(column) {}
  ~TextCheck() = default;

  void add(TextRef ref) {
    const std::uint64_t offset = text_offset(ref), size = text_size(ref);
    if (!bytes_.holds(offset, size)) damaged(in_column(column_, "has a text outside of the segment"));
    if (size == 0) return;
    if (offset != end_) {
      flush();
      begin_ = offset;
    } else if ((static_cast<unsigned char>(bytes_.text(offset, 1)[0]) & 0xC0) == 0x80) {
      bad();
    }
    end_ = offset + size;
    if (end_ - begin_ > kMostRun) flush();
  }

  void flush() {
    if (end_ > begin_ && !is_utf8(bytes_.text(begin_, end_ - begin_))) bad();
    begin_ = end_;
  }

 private:
  static constexpr std::uint64_t kMostRun = 1u << 16;
  [[noreturn]] void bad() const { damaged(in_column(column_, "has a text that is not UTF-8")); }

  const Bytes& bytes_;
  std::uint64_t column_;
  std::uint64_t begin_ = 0, end_ = 0;
};

// Not by way of a double: a processor may change the bits of one that is no number.
TextRef ref_at(const double* payload) {
  TextRef ref = 0;
  std::memcpy(&ref, payload, sizeof(ref));
  return ref;
}

}  // namespace

struct Segment::State {
  std::string name;
  std::shared_ptr<const void> owner;
  std::uint64_t rows = 0, generation = 0, bytes = 0;
  std::vector<ColumnView> columns;
};

CellTag ColumnView::tag(std::uint64_t row) const {
  switch (kind_) {
    case ColumnKind::empty:
      return CellTag::empty;
    case ColumnKind::mixed:
      return tags_[row];
    default:
      break;
  }
  if (!is_valid(row)) return CellTag::empty;
  if (kind_ == ColumnKind::number) return number_tag_;
  return kind_ == ColumnKind::boolean ? CellTag::boolean : CellTag::text;
}

double ColumnView::number(std::uint64_t row) const {
  return kind_ == ColumnKind::boolean ? booleans_[row] : numbers_[row];
}

std::string_view ColumnView::text(std::uint64_t row) const {
  if (kind_ == ColumnKind::mixed) return resolve(ref_at(numbers_ + row));
  return resolve(texts_[kind_ == ColumnKind::dictionary ? codes_[row] : row]);
}

Segment Segment::make(std::string name, std::span<const std::byte> memory, std::shared_ptr<const void> owner,
                      bool check_cells) {
  if (memory.size() < sizeof(Header)) damaged("it is too short");
  Header header;
  std::memcpy(&header, memory.data(), sizeof(header));
  if (header.magic != kMagic) damaged("it does not begin as one");
  if (header.version != kLayoutVersion) {
    throw RangeError("The range is of version " + std::to_string(header.version) + ", and this program knows version " +
                     std::to_string(kLayoutVersion) + ". Use programs of the same GLM Host release.");
  }
  if (header.state != static_cast<std::uint32_t>(ranges::State::sealed)) damaged("it is not complete");
  if (header.total_size > memory.size() || header.total_size < sizeof(Header)) damaged("its size is wrong");
  if (header.rows > kMostRows || header.columns > kMostColumns) damaged("it has too many rows or columns");
  const std::span<const std::byte> used = memory.first(static_cast<std::size_t>(header.total_size));
  const Bytes bytes(used);

  auto state = std::make_shared<State>();
  state->name = std::move(name);
  state->owner = std::move(owner);
  state->rows = header.rows;
  state->generation = header.generation;
  state->bytes = header.total_size;
  if (header.columns > 0 && (header.columns_offset % kAlignment != 0 || header.columns_offset < sizeof(Header) ||
                             !bytes.holds(header.columns_offset, header.columns * sizeof(ColumnEntry)))) {
    damaged("its columns are outside of it");
  }
  if (header.names_size > 0 && !bytes.holds(header.names_offset, header.names_size)) {
    damaged("its names are outside of it");
  }
  state->columns.resize(static_cast<std::size_t>(header.columns));
  for (std::uint64_t i = 0; i < header.columns; ++i) {
    ColumnEntry entry;
    std::memcpy(&entry, used.data() + header.columns_offset + i * sizeof(ColumnEntry), sizeof(entry));
    ColumnView& column = state->columns[i];
    if (entry.kind > static_cast<std::uint32_t>(ColumnKind::mixed)) damaged(in_column(i, "is of an unknown kind"));
    column.kind_ = static_cast<ColumnKind>(entry.kind);
    column.rows_ = header.rows;
    column.base_ = reinterpret_cast<const char*>(used.data());
    if (entry.name_offset > header.names_size || entry.name_size > header.names_size - entry.name_offset) {
      damaged(in_column(i, "has a name outside of the names"));
    }
    if (entry.name_size > 0) {
      column.name_ = bytes.text(header.names_offset + entry.name_offset, entry.name_size);
      if (!is_utf8(column.name_)) damaged(in_column(i, "has a name that is not UTF-8"));
    }
    if (column.kind_ == ColumnKind::empty) continue;
    if (column.kind_ != ColumnKind::mixed && entry.valid_offset != 0) {
      column.valid_ = bytes.run<std::uint64_t>(entry.valid_offset, (header.rows + 63) / 64, i, "bits");
    }
    switch (column.kind_) {
      case ColumnKind::number:
        if (entry.number_tag < static_cast<std::uint32_t>(CellTag::number) ||
            entry.number_tag > static_cast<std::uint32_t>(CellTag::date_time)) {
          damaged(in_column(i, "has numbers of an unknown kind"));
        }
        column.number_tag_ = static_cast<CellTag>(entry.number_tag);
        column.numbers_ = bytes.run<double>(entry.data_offset, header.rows, i, "numbers");
        break;
      case ColumnKind::boolean:
        column.booleans_ = bytes.run<std::uint8_t>(entry.data_offset, header.rows, i, "cells");
        for (std::uint64_t row = 0; check_cells && row < header.rows; ++row) {
          if (column.booleans_[row] > 1) damaged(in_column(i, "has a cell that is neither TRUE nor FALSE"));
        }
        break;
      case ColumnKind::text:
        column.texts_ = bytes.run<TextRef>(entry.data_offset, header.rows, i, "texts");
        column.text_count_ = header.rows;
        break;
      case ColumnKind::dictionary:
        column.codes_ = bytes.run<std::uint32_t>(entry.data_offset, header.rows, i, "cells");
        if (entry.text_count > UINT32_MAX) damaged(in_column(i, "has too many texts"));
        column.texts_ = bytes.run<TextRef>(entry.texts_offset, entry.text_count, i, "texts");
        column.text_count_ = entry.text_count;
        for (std::uint64_t row = 0; check_cells && row < header.rows; ++row) {
          if (column.codes_[row] >= entry.text_count && column.is_valid(row)) {
            damaged(in_column(i, "has a cell without a text"));
          }
        }
        break;
      default:
        column.numbers_ = bytes.run<double>(entry.data_offset, header.rows, i, "cells");
        column.tags_ = bytes.run<CellTag>(entry.tags_offset, header.rows, i, "types");
    }
    column.distinct_ = entry.distinct == 1;
    if (!check_cells) continue;
    TextCheck check(bytes, i);
    for (const TextRef ref : column.texts()) check.add(ref);
    for (std::uint64_t row = 0; column.kind_ == ColumnKind::mixed && row < header.rows; ++row) {
      const auto tag = static_cast<std::uint8_t>(column.tags_[row]);
      if (tag > kMostTag) damaged(in_column(i, "has a cell of an unknown type"));
      const double payload = column.numbers_[row];
      if (column.tags_[row] == CellTag::text) check.add(ref_at(column.numbers_ + row));
      if (column.tags_[row] == CellTag::boolean && payload != 0 && payload != 1) {
        damaged(in_column(i, "has a cell that is neither TRUE nor FALSE"));
      }
      if (column.tags_[row] == CellTag::error && !(payload >= 0 && payload <= kMostError)) {
        damaged(in_column(i, "has an unknown error value"));
      }
    }
    check.flush();
    if (column.distinct_ && column.kind_ == ColumnKind::dictionary) {
      std::unordered_set<std::string_view> seen;
      seen.reserve(column.texts().size());
      for (const TextRef ref : column.texts())
        column.distinct_ = seen.insert(column.resolve(ref)).second && column.distinct_;
    }
  }
  return Segment(std::move(state));
}

Segment Segment::open(std::string_view name) {
  auto memory = std::make_shared<const SharedMemory>(SharedMemory::open(name));
  const std::span<const std::byte> bytes(memory->data(), memory->size());
  return make(std::string(name), bytes, std::move(memory), true);
}

Segment Segment::over(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  return make({}, bytes, std::move(owner), true);
}

Segment trusted_segment(SharedMemory moved) {
  auto memory = std::make_shared<const SharedMemory>(std::move(moved));
  const std::span<const std::byte> bytes(memory->data(), memory->size());
  return Segment::make(memory->name(), bytes, memory, false);
}

const std::string& Segment::name() const {
  return state_->name;
}
std::uint64_t Segment::rows() const {
  return state_->rows;
}
std::uint64_t Segment::width() const {
  return state_->columns.size();
}
std::uint64_t Segment::generation() const {
  return state_->generation;
}
std::uint64_t Segment::bytes() const {
  return state_->bytes;
}
const ColumnView& Segment::column(std::uint64_t index) const {
  return state_->columns[static_cast<std::size_t>(index)];
}
std::shared_ptr<const void> Segment::owner() const {
  return state_->owner;
}

Segment::Hash Segment::content_hash() const {
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  const std::unique_ptr<XXH3_state_t, Free> hash(XXH3_createState());
  XXH3_128bits_reset(hash.get());
  const auto add = [&](const void* bytes, std::uint64_t size) {
    if (size > 0) XXH3_128bits_update(hash.get(), bytes, static_cast<std::size_t>(size));
  };
  const auto add_number = [&](std::uint64_t number) { add(&number, sizeof(number)); };
  const auto add_text = [&](std::string_view text) {
    add_number(text.size());
    add(text.data(), text.size());
  };
  add_number(rows());
  add_number(width());
  for (const ColumnView& column : state_->columns) {
    add_text(column.name());
    add_number(static_cast<std::uint64_t>(column.kind()));
    add_number(static_cast<std::uint64_t>(column.number_tag()));
    add_number(column.valid() != nullptr);
    if (column.valid() != nullptr) add(column.valid(), (rows() + 63) / 64 * 8);
    if (column.kind() == ColumnKind::number) add(column.numbers(), rows() * 8);
    if (column.kind() == ColumnKind::boolean) add(column.booleans(), rows());
    if (column.kind() == ColumnKind::dictionary) add(column.codes(), rows() * 4);
    for (const TextRef ref : column.texts()) add_text(column.resolve(ref));
    if (column.kind() != ColumnKind::mixed) continue;
    add(column.tags(), rows());
    for (std::uint64_t row = 0; row < rows(); ++row) {
      if (column.tags()[row] == CellTag::text) {
        add_text(column.text(row));
      } else {
        add_number(std::bit_cast<std::uint64_t>(column.numbers()[row]));
      }
    }
  }
  const XXH128_hash_t value = XXH3_128bits_digest(hash.get());
  return {value.low64, value.high64};
}

}  // namespace glmhost::ranges
