// Range transfer against memcpy of the same bytes in the same run: numbers as FP12 has them, cells as XLOPER12 has
// them, texts. A destination is new memory each time for both, because that is what a range gets.
//
//   ranges_bench [ROWS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "host/ranges/writer.h"

using namespace glmhost::ranges;

namespace {

constexpr std::size_t kColumns = 4;
constexpr std::size_t kBlock = 256;
constexpr int kRounds = 9;

// As large as an XLOPER12, with the number where that has it.
struct Cell {
  double number;
  const char16_t* text;
  std::uint32_t length;
  std::uint32_t type;  // 1: number, 2: text, 4: boolean
  std::uint64_t rest;
};
static_assert(sizeof(Cell) == 32);

double median_seconds(const auto& action) {
  std::vector<double> seconds;
  for (int i = 0; i < kRounds; ++i) {
    const auto start = std::chrono::steady_clock::now();
    action();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[kRounds / 2];
}

// memcpy into shared memory of the same kind.
double copy_seconds(const void* from, std::size_t size) {
  return median_seconds([&] {
    SharedMemory memory = SharedMemory::create(size);
    memory.commit(size);
    std::memcpy(memory.data(), from, size);
  });
}

void tell(const char* what, std::size_t bytes, double copy, double write, std::uint64_t written, std::size_t cells) {
  std::printf("%-28s memcpy %6.2f GB/s, into a segment %6.2f GB/s: %.2f; %.2f bytes written a cell\n", what,
              static_cast<double>(bytes) / copy / 1e9, static_cast<double>(bytes) / write / 1e9, copy / write,
              static_cast<double>(written) / static_cast<double>(cells));
}

std::uint64_t write_cells(const std::vector<Cell>& cells, std::size_t rows) {
  Writer writer(rows, kColumns);
  for (std::size_t first = 0; first < rows; first += kBlock) {
    const std::size_t count = std::min(kBlock, rows - first);
    for (std::size_t c = 0; c < kColumns; ++c) {
      const Cell* const block = cells.data() + first * kColumns + c;
      ColumnWriter column = writer.column(c);
      // Runs of one type, as the add-in hands them over.
      for (std::size_t row = 0; row < count;) {
        std::size_t end = row;
        const std::uint32_t type = block[row * kColumns].type;
        while (end < count && block[end * kColumns].type == type) ++end;
        if (type == 1) {
          column.add_numbers(&block[row * kColumns].number, end - row, kColumns * sizeof(Cell) / sizeof(double));
        } else {
          for (std::size_t i = row; i < end; ++i) {
            const Cell& cell = block[i * kColumns];
            if (type == 2) column.add_text(std::u16string_view(cell.text, cell.length));
            if (type == 4) column.add_boolean(cell.number != 0);
          }
        }
        row = end;
      }
    }
  }
  const std::uint64_t written = writer.bytes_written();
  writer.seal();
  return written;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t rows = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'048'576;
  const std::size_t cells = rows * kColumns;
  std::uint64_t written = 0;
  {
    std::vector<double> numbers(cells);
    for (std::size_t i = 0; i < cells; ++i) numbers[i] = static_cast<double>(i);
    const double copy = copy_seconds(numbers.data(), cells * 8);
    const double write = median_seconds([&] {
      Writer writer(rows, kColumns);
      for (std::size_t first = 0; first < rows; first += kBlock) {
        const std::size_t count = std::min(kBlock, rows - first);
        for (std::size_t c = 0; c < kColumns; ++c) {
          writer.column(c).add_numbers(numbers.data() + first * kColumns + c, count, kColumns);
        }
      }
      written = writer.bytes_written();
      writer.seal();
    });
    tell("numbers (FP12)", cells * 8, copy, write, written, cells);
  }
  std::vector<std::u16string> texts;
  for (std::size_t i = 0; i < 1000; ++i) texts.push_back(u"customer number " + std::u16string(i % 20, u'x'));
  std::vector<Cell> table(cells);
  const auto fill = [&](const auto& type_of) {
    std::size_t text_bytes = 0;
    for (std::size_t i = 0; i < cells; ++i) {
      const std::u16string& text = texts[i % texts.size()];
      table[i] = {static_cast<double>(i % 2), text.data(), static_cast<std::uint32_t>(text.size()), type_of(i), 0};
      if (table[i].type == 2) text_bytes += 2 * text.size();
    }
    return text_bytes;
  };
  const auto measure = [&](const char* what, const auto& type_of) {
    const std::size_t text_bytes = fill(type_of);
    // What Excel holds: the cells, and the texts' units.
    std::vector<char> whole(cells * sizeof(Cell) + text_bytes);
    std::memcpy(whole.data(), table.data(), cells * sizeof(Cell));
    const double copy = copy_seconds(whole.data(), whole.size());
    const double write = median_seconds([&] { written = write_cells(table, rows); });
    tell(what, whole.size(), copy, write, written, cells);
  };
  measure("cells of numbers", [](std::size_t) { return 1u; });
  measure("cells of texts", [](std::size_t) { return 2u; });
  measure("mixed cells", [](std::size_t i) { return i / kColumns % 7 == 0 ? 4u : i % kColumns < 2 ? 1u : 2u; });
}
