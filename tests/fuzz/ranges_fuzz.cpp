// Segments from an untrusted other side: whatever the bytes, they are refused or can be read to the end.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "excel-addin/table/range_table.h"
#include "host/ranges/segment.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace glmhost;
  // Exactly as long as the input, so that a byte read behind it is seen.
  const std::size_t room = (size + 63) / 64 * 64 + 64;
  auto* const memory = static_cast<std::uint8_t*>(std::aligned_alloc(64, room));
  const std::shared_ptr<const void> owner(memory, [](const void* block) { std::free(const_cast<void*>(block)); });
  std::memcpy(memory, data, size);
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(memory), size);
  try {
    const ranges::Segment segment = ranges::Segment::over(bytes, owner);
    std::size_t seen = 0;
    for (std::uint64_t c = 0; c < segment.width(); ++c) {
      const ranges::ColumnView& column = segment.column(c);
      // Columns without memory may claim any number of rows.
      const std::uint64_t rows = std::min<std::uint64_t>(segment.rows(), 100'000);
      for (std::uint64_t row = 0; row < rows; ++row) {
        const ranges::CellTag tag = column.tag(row);
        if (tag == ranges::CellTag::text) {
          for (const char byte : column.text(row)) seen += static_cast<unsigned char>(byte);
        } else if (tag != ranges::CellTag::empty) {
          seen += column.number(row) != 0;
        }
      }
    }
    segment.content_hash();
    if (segment.rows() < 100'000 && segment.width() < 100) {
      const table::Table table = table::to_table(segment);
      seen += table.width();
    }
    if (seen == static_cast<std::size_t>(-1)) std::abort();
  } catch (const ranges::RangeError&) {
  }
  return 0;
}
