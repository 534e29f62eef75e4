// What is refused, before it can do harm (every bound is checked before anything is allocated or multiplied for it):
//
//   header   not GGUF at all, big-endian, version other than 2 and 3; more than 65,536 metadata entries or 1,000,000
//            tensors, or more of either than the rest of the file can hold; more than 512 MB of memory in all
//   strings  keys of 0 or over 65,535 bytes, tensor names of 0 or over 255, anything longer than the rest of the file
//   values   arrays of arrays, unknown value types, truth values other than 0 and 1, keys that occur twice, arrays with
//            more elements than the rest of the file can hold
//   tensors  unknown and unsupported types, dimensions other than 1 to 4, lengths outside 1..2^40, products beyond 63
//            bits, rows that are no whole blocks, offsets off the alignment or off the file, overlaps, names twice
//   general.alignment that is not a whole number, a power of two, 8..65,536
#include "inference/model_files/gguf_header.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "inference/error.h"
#include "inference/model_files/error_text.h"
#include "inference/model_files/file_kind.h"

namespace glmhost::model_files {
namespace {

constexpr std::uint64_t kMostEntries = 65536;
constexpr std::uint64_t kMostTensors = 1'000'000;
constexpr std::uint64_t kSmallestEntry = 8 + 1 + 4 + 1;           // key length, key, type, value
constexpr std::uint64_t kSmallestTensor = 8 + 1 + 4 + 8 + 4 + 8;  // name length, name, dimensions, ne[0], type, offset
constexpr std::uint64_t kLongestName = 255;
constexpr std::int64_t kLongestDimension = std::int64_t{1} << 40;

std::uint64_t read_count(HeaderReader& reader, std::string_view what, std::uint64_t most) {
  const auto count = reader.number<std::uint64_t>();
  if (count > most) {
    reader.fail("claims " + grouped(count) + " " + std::string(what) + ", and at most " + grouped(most) +
                " are allowed");
  }
  return count;
}

// Reads the shape; returns the number of values.
std::int64_t read_shape(HeaderReader& reader, TensorInfo& tensor) {
  const auto dimensions = reader.number<std::uint32_t>();
  if (dimensions < 1 || dimensions > 4) reader.fail("has " + grouped(dimensions) + " dimensions instead of 1 to 4");
  tensor.dimensions = static_cast<int>(dimensions);
  tensor.ne = {1, 1, 1, 1};
  std::int64_t values = 1;
  for (std::size_t i = 0; i < dimensions; ++i) {
    const auto length = reader.number<std::uint64_t>();
    if (length < 1 || length > static_cast<std::uint64_t>(kLongestDimension)) {
      reader.fail("has " + grouped(length) + " as the length of a dimension");
    }
    tensor.ne[i] = static_cast<std::int64_t>(length);
    if (__builtin_mul_overflow(values, tensor.ne[i], &values)) reader.fail("has more values than 63 bits can count");
  }
  return values;
}

void read_type_and_size(HeaderReader& reader, TensorInfo& tensor, std::int64_t values) {
  const auto id = reader.number<std::uint32_t>();
  const TensorTypeTraits* known = find_traits(id);
  if (!known) {
    reader.fail_unsupported("is stored as " + tensor_type_name(id) +
                            ", which this version does not read; take the model as " + supported_instead_of(id) +
                            " instead.");
  }
  tensor.type = known->type;
  if (tensor.ne[0] % known->block_values != 0) {
    reader.fail("has rows of " + grouped(static_cast<std::uint64_t>(tensor.ne[0])) + " values, not a multiple of " +
                std::to_string(known->block_values) + " as " + std::string(known->name) + " needs");
  }
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(values / known->block_values, known->block_bytes, &bytes)) {
    reader.fail("takes more bytes than 63 bits can count");
  }
  tensor.bytes = static_cast<std::uint64_t>(bytes);
}

// Leaves in tensor.offset what the file has: an offset from the start of the data.
TensorInfo read_tensor(HeaderReader& reader, std::uint64_t alignment, int shard) {
  TensorInfo tensor{};
  tensor.name = reader.string(1, kLongestName, "its name");
  reader.set_name(tensor.name);
  tensor.shard = shard;
  const std::int64_t values = read_shape(reader, tensor);
  read_type_and_size(reader, tensor, values);
  tensor.offset = reader.number<std::uint64_t>();
  if (tensor.offset % alignment != 0) {
    reader.fail("begins at offset " + grouped(tensor.offset) + ", not a multiple of the alignment " +
                std::to_string(alignment));
  }
  return tensor;
}

std::uint64_t read_alignment(const Metadata& metadata, const std::string& file_name) {
  const std::uint64_t alignment = metadata.get_unsigned("general.alignment").value_or(32);
  if (!std::has_single_bit(alignment) || alignment < 8 || alignment > 65536) {
    throw Error(ErrorKind::bad_file, file_name + " is damaged: its metadata value \"general.alignment\" is " +
                                         grouped(alignment) +
                                         ", and it must be a power of two from 8 to 65,536. Download or convert the "
                                         "file again.");
  }
  return alignment;
}

// Turns offsets into absolute ones and compares every tensor's place with the file's size and with its neighbours.
void place_tensors(std::vector<TensorInfo>& tensors, std::uint64_t data_start, const ByteSource& source) {
  std::uint64_t needed = 0;
  for (TensorInfo& tensor : tensors) {
    std::uint64_t end = 0;
    if (__builtin_add_overflow(tensor.offset, data_start, &tensor.offset) ||
        __builtin_add_overflow(tensor.offset, tensor.bytes, &end)) {
      throw Error(ErrorKind::bad_file, source.name() + " is damaged: the data of tensor " + quoted_text(tensor.name) +
                                           " would end beyond what 64 bits can count. Download or convert the file "
                                           "again.");
    }
    // A file that is cut short still says where its data would lie; no file is a petabyte long.
    constexpr std::uint64_t kBeyondAnyFile = std::uint64_t{1} << 50;
    if (end >= kBeyondAnyFile) {
      throw Error(ErrorKind::bad_file, source.name() + " is damaged: the data of tensor " + quoted_text(tensor.name) +
                                           " would end at byte " + grouped(end) +
                                           ", where no file reaches. Download or convert the file again.");
    }
    needed = std::max(needed, end);
  }
  if (needed > source.size()) {
    throw Error(ErrorKind::bad_file, source.name() + " is cut short: its tensors need " + byte_count(needed) +
                                         " and the file has " + grouped(source.size()) + ", so " +
                                         byte_count(needed - source.size()) +
                                         (needed - source.size() == 1 ? " is" : " are") +
                                         " missing. Download the file again, or finish the download.");
  }

  std::vector<const TensorInfo*> by_offset;
  by_offset.reserve(tensors.size());
  for (const TensorInfo& tensor : tensors) by_offset.push_back(&tensor);
  std::ranges::sort(by_offset, {}, &TensorInfo::offset);
  for (std::size_t i = 1; i < by_offset.size(); ++i) {
    if (by_offset[i - 1]->offset + by_offset[i - 1]->bytes > by_offset[i]->offset) {
      throw Error(ErrorKind::bad_file,
                  source.name() + " is damaged: the data of tensors " + quoted_text(by_offset[i - 1]->name) + " and " +
                      quoted_text(by_offset[i]->name) + " overlap. Download or convert the file again.");
    }
  }
}

}  // namespace

GgufHeader read_gguf_header(const ByteSource& source, int shard) {
  refuse_other_kinds(source);

  HeaderReader reader(source);
  reader.set_place({"header", 0, 0, {}});
  reader.number<std::uint32_t>();  // magic and version: checked above
  reader.number<std::uint32_t>();
  const std::uint64_t tensor_count = read_count(reader, "tensors", kMostTensors);
  const std::uint64_t entry_count = read_count(reader, "metadata entries", kMostEntries);
  reader.need(entry_count * kSmallestEntry + tensor_count * kSmallestTensor);

  Metadata metadata(reader, entry_count, source.name());
  const std::uint64_t alignment = read_alignment(metadata, source.name());

  reader.set_place({"tensor table", 0, 0, {}});
  reader.need(tensor_count * kSmallestTensor);
  reader.charge(tensor_count, sizeof(TensorInfo));
  std::vector<TensorInfo> tensors;
  tensors.reserve(static_cast<std::size_t>(tensor_count));
  for (std::uint64_t i = 0; i < tensor_count; ++i) {
    reader.set_place({"tensor", i, tensor_count, {}});
    tensors.push_back(read_tensor(reader, alignment, shard));
  }
  const std::uint64_t data_start = (reader.position() + alignment - 1) / alignment * alignment;
  place_tensors(tensors, data_start, source);
  return {std::move(metadata), std::move(tensors)};
}

}  // namespace glmhost::model_files
