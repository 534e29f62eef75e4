// Writes a table into a new segment, in one pass over wherever the cells come from.
//
// The rows and columns are known before; what the columns hold is not. Every column begins as a run of numbers; a cell
// of another type turns it into booleans, texts or mixed cells, which touches memory that was reserved for that and
// moves no number. Columns may be filled in any order and side by side, each from its first row to its last: a caller
// with row-major cells goes over them in blocks of some hundred rows and hands each column its part.
//
//   Writer writer(rows, columns);
//   writer.column(0).add_numbers(span);      // the fast way: one copy of doubles
//   writer.column(1).add_text("a");          // cell by cell
//   writer.set_name(0, "amount");
//   Segment segment = writer.seal();         // cells that were not added are empty
//
// Cost: a number is written once (8 bytes); a text once (its UTF-8 bytes and 8 bytes for its place); a byte more for
// each cell in a column of several types. The transcoding from UTF-16 goes straight into the segment.
//
// Everything throws RangeError when memory runs out or the grid is larger than Excel's. Thread rules: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "host/ranges/layout.h"
#include "host/ranges/segment.h"

namespace glmhost::ranges {

class Assembly;

class ColumnWriter {
 public:
  void add_empty();
  void add_empties(std::size_t count);
  void add_number(double number, CellTag tag = CellTag::number);  // number, date, time or date_time
  void add_numbers(std::span<const double> numbers);
  // numbers[0], numbers[stride], numbers[2 * stride], ...: a column of a row-major block.
  void add_numbers(const double* numbers, std::size_t count, std::size_t stride);
  void add_boolean(bool boolean);
  void add_error(std::uint8_t code);  // formula::ErrorCode; above kMostError: RangeError
  // Must be UTF-8: what is not is found by whoever opens the segment.
  void add_text(std::string_view utf8);
  // An unpaired surrogate becomes U+FFFD.
  void add_text(std::u16string_view utf16);
  // The whole column at once, as a dictionary: codes (one a row) into the texts, which are distinct. `valid` has a bit
  // for each row, or is null. Nothing may have been added before.
  void set_dictionary(std::span<const std::uint32_t> codes, const std::uint64_t* valid,
                      std::span<const std::string_view> texts);

  std::uint64_t rows() const;  // added so far

 private:
  friend class Writer;
  ColumnWriter(Assembly& assembly, std::uint64_t index) : assembly_(&assembly), index_(index) {}
  Assembly* assembly_;
  std::uint64_t index_;
};

class Writer {
 public:
  Writer(std::uint64_t rows, std::uint64_t columns);
  // Into a segment that another process made: its ResultSlot.
  Writer(std::uint64_t rows, std::uint64_t columns, std::string_view existing);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  ColumnWriter column(std::uint64_t index);
  void set_name(std::uint64_t column, std::string_view utf8);
  void set_generation(std::uint64_t generation);

  // Bytes that were copied or made of cells so far, without the table of columns: for measurements.
  std::uint64_t bytes_written() const;

  // The segment, ready for any process. The writer is spent afterwards.
  Segment seal();

 private:
  std::unique_ptr<Assembly> assembly_;
};

// An empty segment for another process to write its result into (Writer's second constructor). Holding it keeps the
// result alive whatever becomes of the writer; open() reads it once the other process has said that it is done.
class ResultSlot {
 public:
  ResultSlot();
  const std::string& name() const { return memory_.name(); }
  // Throws RangeError: nothing (complete) was written.
  Segment open() const;

 private:
  SharedMemory memory_;
};

}  // namespace glmhost::ranges
