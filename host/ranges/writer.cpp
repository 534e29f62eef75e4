#include "host/ranges/writer.h"

#include "host/ranges/assembly.h"
#include "host/ranges/range_error.h"
#include "host/ranges/segment_access.h"

namespace glmhost::ranges {

void ColumnWriter::add_empty() {
  assembly_->add_empties(assembly_->column(index_), 1);
}
void ColumnWriter::add_empties(std::size_t count) {
  assembly_->add_empties(assembly_->column(index_), count);
}
void ColumnWriter::add_number(double number, CellTag tag) {
  if (tag < CellTag::number || tag > CellTag::date_time) throw RangeError("A number was given another type's tag.");
  assembly_->add_cell(assembly_->column(index_), tag, number);
}
void ColumnWriter::add_numbers(std::span<const double> numbers) {
  assembly_->add_numbers(assembly_->column(index_), numbers.data(), numbers.size(), 1);
}
void ColumnWriter::add_numbers(const double* numbers, std::size_t count, std::size_t stride) {
  assembly_->add_numbers(assembly_->column(index_), numbers, count, stride);
}
void ColumnWriter::add_boolean(bool boolean) {
  assembly_->add_cell(assembly_->column(index_), CellTag::boolean, boolean ? 1 : 0);
}
void ColumnWriter::add_error(std::uint8_t code) {
  if (code > kMostError) throw RangeError("There is no error of the code " + std::to_string(code) + ".");
  assembly_->add_cell(assembly_->column(index_), CellTag::error, code);
}
void ColumnWriter::add_text(std::string_view utf8) {
  assembly_->add_text(assembly_->column(index_), utf8);
}
void ColumnWriter::add_text(std::u16string_view utf16) {
  assembly_->add_text(assembly_->column(index_), utf16);
}
void ColumnWriter::set_dictionary(std::span<const std::uint32_t> codes, const std::uint64_t* valid,
                                  std::span<const std::string_view> texts) {
  assembly_->set_dictionary(assembly_->column(index_), codes, valid, texts);
}
std::uint64_t ColumnWriter::rows() const {
  return assembly_->column(index_).rows;
}

Writer::Writer(std::uint64_t rows, std::uint64_t columns)
    : assembly_(std::make_unique<Assembly>(rows, columns, SharedMemory::create(reserve_for(rows, columns)))) {}

Writer::Writer(std::uint64_t rows, std::uint64_t columns, std::string_view existing)
    : assembly_(std::make_unique<Assembly>(rows, columns,
                                           SharedMemory::open_for_writing(existing, reserve_for(rows, columns)))) {}

Writer::~Writer() = default;

ColumnWriter Writer::column(std::uint64_t index) {
  if (index >= assembly_->width()) throw RangeError("There is no such column.");
  return {*assembly_, index};
}

void Writer::set_name(std::uint64_t column, std::string_view utf8) {
  if (column >= assembly_->width()) throw RangeError("There is no such column.");
  assembly_->column(column).name = utf8;
}

void Writer::set_generation(std::uint64_t generation) {
  assembly_->set_generation(generation);
}

std::uint64_t Writer::bytes_written() const {
  return assembly_->bytes_written();
}

Segment Writer::seal() {
  return trusted_segment(assembly_->seal());
}

ResultSlot::ResultSlot() : memory_(SharedMemory::create(SharedMemory::most_reserve())) {}

Segment ResultSlot::open() const {
  return Segment::open(memory_.name());
}

}  // namespace glmhost::ranges
