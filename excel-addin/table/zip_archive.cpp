#include "excel-addin/table/zip_archive.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "excel-addin/formula/text_units.h"
#include "excel-addin/table/table_error.h"

namespace glmhost::table {
namespace {

// APPNOTE.TXT of PKWARE, 4.3.
constexpr std::uint32_t kLocalHeader = 0x04034b50, kDirectoryHeader = 0x02014b50, kEnd = 0x06054b50,
                        kZip64Locator = 0x07064b50, kZip64End = 0x06064b50;
constexpr std::uint64_t kEndSize = 22, kMostComment = 65535, kLocatorSize = 20, kHeaderSize = 46, kLocalSize = 30;
constexpr std::uint32_t kIn64 = 0xFFFFFFFF;  // the number stands in the entry's ZIP64 field
constexpr std::uint16_t kStored = 0, kDeflated = 8, kEncrypted = 1;
constexpr std::size_t kPiece = 1 << 16;

[[noreturn]] void damaged() {
  throw TableError("The workbook is damaged: its ZIP archive does not hold together. Was it copied whole?");
}

void append(std::string& out, std::uint64_t number, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(number >> (8 * i) & 0xFF);
}

}  // namespace

ZipReader::ZipReader(std::string_view bytes) : bytes_(bytes) {
  read_directory();
}

std::uint64_t ZipReader::number(std::uint64_t at, int bytes) const {
  if (at > bytes_.size() || bytes_.size() - at < static_cast<std::uint64_t>(bytes)) damaged();
  std::uint64_t result = 0;
  for (int i = bytes; i-- > 0;)
    result = result << 8 | static_cast<unsigned char>(bytes_[at + static_cast<std::uint64_t>(i)]);
  return result;
}

void ZipReader::read_directory() {
  if (bytes_.size() < kEndSize) damaged();
  // The end of the directory is the last record, behind which a comment may stand.
  std::uint64_t end = bytes_.size() - kEndSize;
  const std::uint64_t least = end > kMostComment ? end - kMostComment : 0;
  while (number(end, 4) != kEnd) {
    if (end == least) damaged();
    --end;
  }
  std::uint64_t count = number(end + 10, 2), at = number(end + 16, 4);
  const bool in_64 = count == 0xFFFF || at == kIn64;
  if (in_64 && end >= kLocatorSize && number(end - kLocatorSize, 4) == kZip64Locator) {
    const std::uint64_t place = number(end - kLocatorSize + 8, 8);
    if (number(place, 4) != kZip64End) damaged();
    count = number(place + 32, 8);
    at = number(place + 48, 8);
  }
  constexpr std::uint64_t kMostEntries = 100'000;
  if (count > kMostEntries) damaged();
  for (std::uint64_t i = 0; i < count; ++i) {
    if (number(at, 4) != kDirectoryHeader) damaged();
    Entry entry;
    entry.flags = static_cast<std::uint16_t>(number(at + 8, 2));
    entry.method = static_cast<std::uint16_t>(number(at + 10, 2));
    entry.checksum = static_cast<std::uint32_t>(number(at + 16, 4));
    entry.packed = number(at + 20, 4);
    const std::uint64_t size = number(at + 24, 4), name = number(at + 28, 2), extra = number(at + 30, 2),
                        comment = number(at + 32, 2);
    entry.offset = number(at + 42, 4);
    if (bytes_.size() - at - kHeaderSize < name + extra + comment) damaged();
    entry.name = bytes_.substr(at + kHeaderSize, name);
    std::ranges::replace(entry.name, '\\', '/');
    // Its ZIP64 field holds the numbers that were too large, in this order.
    const std::uint64_t fields = at + kHeaderSize + name;
    for (std::uint64_t field = fields; field + 4 <= fields + extra;) {
      const std::uint64_t id = number(field, 2), length = number(field + 2, 2);
      std::uint64_t next = field + 4;
      if (id == 1) {
        if (size == kIn64) next += 8;
        for (std::uint64_t* each : {&entry.packed, &entry.offset}) {
          if (*each != kIn64) continue;
          *each = number(next, 8);
          next += 8;
        }
      }
      field += 4 + length;
    }
    at += kHeaderSize + name + extra + comment;
    entries_.push_back(std::move(entry));
  }
}

const ZipReader::Entry* ZipReader::find(std::string_view name) const {
  const auto found =
      std::ranges::find_if(entries_, [&](const Entry& entry) { return formula::equal_without_case(entry.name, name); });
  return found == entries_.end() ? nullptr : &*found;
}

std::string_view ZipReader::packed_bytes(const Entry& entry) const {
  if (number(entry.offset, 4) != kLocalHeader) damaged();
  const std::uint64_t begin = entry.offset + kLocalSize + number(entry.offset + 26, 2) + number(entry.offset + 28, 2);
  if (begin > bytes_.size() || bytes_.size() - begin < entry.packed) damaged();
  return bytes_.substr(begin, entry.packed);
}

void ZipReader::read(std::string_view name, const std::function<bool(std::string_view piece)>& take) const {
  const Entry* entry = find(name);
  if (entry == nullptr) throw TableError("The workbook has no part `" + formula::valid_utf8(name) + "`.");
  if ((entry->flags & kEncrypted) != 0) throw TableError("The workbook is encrypted. Save it without a password.");
  const std::string_view packed = packed_bytes(*entry);
  if (entry->method == kStored) {
    take(packed);
    return;
  }
  if (entry->method != kDeflated) throw TableError("The workbook is packed in a way that Excel does not use.");
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  const auto inflate_end = [](z_stream* each) { inflateEnd(each); };
  const std::unique_ptr<z_stream, decltype(inflate_end)> guard(&stream, inflate_end);
  std::string piece(kPiece, '\0');
  std::uint64_t size = 0;
  std::size_t given = 0;
  auto checksum = static_cast<std::uint32_t>(crc32(0, nullptr, 0));
  for (int status = Z_OK; status != Z_STREAM_END;) {
    if (stream.avail_in == 0) {
      const std::size_t next = std::min<std::size_t>(packed.size() - given, std::numeric_limits<std::int32_t>::max());
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + given));  // zlib does not write to it
      stream.avail_in = static_cast<uInt>(next);
      given += next;
    }
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    status = inflate(&stream, Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END) damaged();
    const std::size_t made = piece.size() - stream.avail_out;
    size += made;
    if (size > kMostSize || (size > kSmall && size / kMostGrowth > packed.size())) {
      throw TableError("The part `" + formula::valid_utf8(name) + "` of the workbook unpacks to more than " +
                       std::to_string(size >> 20) + " MiB from " + std::to_string(packed.size() >> 10) +
                       " KiB; no sheet does that. The file is made to fill memory, or damaged.");
    }
    checksum = static_cast<std::uint32_t>(
        crc32(checksum, reinterpret_cast<const Bytef*>(piece.data()), static_cast<uInt>(made)));
    if (made > 0 && !take(std::string_view(piece).substr(0, made))) return;
  }
  if (checksum != entry->checksum) damaged();
}

struct ZipWriter::Deflater {
  z_stream stream{};
};

void ZipWriter::Free::operator()(Deflater* deflater) const {
  deflateEnd(&deflater->stream);
  delete deflater;
}

void ZipWriter::put(const std::string& bytes) {
  write_(bytes);
  at_ += bytes.size();
}

void ZipWriter::begin(std::string name) {
  constexpr int kLevel = 4, kMemory = 8;  // sheets pack nearly as well as at 6, in half the time
  auto deflater = std::make_unique<Deflater>();
  if (deflateInit2(&deflater->stream, kLevel, Z_DEFLATED, -MAX_WBITS, kMemory, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  deflater_.reset(deflater.release());
  packed_.clear();
  entries_.push_back({std::move(name), at_, 0, 0, static_cast<std::uint32_t>(crc32(0, nullptr, 0))});
}

void ZipWriter::add(std::string_view bytes) {
  Entry& entry = entries_.back();
  entry.size += bytes.size();
  z_stream& stream = deflater_->stream;
  const auto run = [&](int flush) {
    do {
      const std::size_t before = packed_.size();
      packed_.resize(before + kPiece);
      stream.next_out = reinterpret_cast<Bytef*>(packed_.data() + before);
      stream.avail_out = static_cast<uInt>(kPiece);
      deflate(&stream, flush);
      packed_.resize(before + kPiece - stream.avail_out);
    } while (stream.avail_out == 0);
  };
  if (bytes.empty()) return run(Z_FINISH);
  constexpr std::size_t kAtOnce = std::size_t{1} << 30;
  for (std::size_t at = 0; at < bytes.size(); at += kAtOnce) {
    const std::string_view part = bytes.substr(at, kAtOnce);
    entry.checksum = static_cast<std::uint32_t>(
        crc32(entry.checksum, reinterpret_cast<const Bytef*>(part.data()), static_cast<uInt>(part.size())));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
    stream.avail_in = static_cast<uInt>(part.size());
    run(Z_NO_FLUSH);
  }
}

namespace {

constexpr std::uint16_t kVersion = 20, kUtf8Names = 0x800;
constexpr std::uint32_t kFirstDay = 0x00210000;  // 1980-01-01: the same table gives the same file

// What the header of an entry and its line in the directory have in common.
void append_description(std::string& out, std::uint32_t checksum, std::uint64_t packed, std::uint64_t size,
                        const std::string& name) {
  append(out, kVersion, 2);
  append(out, kUtf8Names, 2);
  append(out, kDeflated, 2);
  append(out, kFirstDay, 4);
  append(out, checksum, 4);
  append(out, packed, 4);
  append(out, size, 4);
  append(out, name.size(), 2);
  append(out, 0, 2);
}

}  // namespace

void ZipWriter::end() {
  add({});
  Entry& entry = entries_.back();
  entry.packed = packed_.size();
  if (entry.size >= kIn64 || entry.packed >= kIn64 || at_ + entry.packed >= kIn64)
    throw TableError("The workbook would be larger than 4 GiB, which Excel does not open. Write a CSV file.");
  std::string header;
  append(header, kLocalHeader, 4);
  append_description(header, entry.checksum, entry.packed, entry.size, entry.name);
  put(header + entry.name);
  put(packed_);
  deflater_.reset();
}

void ZipWriter::finish() {
  const std::uint64_t begin = at_;
  std::string directory;
  for (const Entry& entry : entries_) {
    append(directory, kDirectoryHeader, 4);
    append(directory, kVersion, 2);
    append_description(directory, entry.checksum, entry.packed, entry.size, entry.name);
    append(directory, 0, 2 + 2 + 2);  // no comment, one disk, no attributes
    append(directory, 0, 4);
    append(directory, entry.offset, 4);
    directory += entry.name;
  }
  const std::uint64_t size = directory.size();
  append(directory, kEnd, 4);
  append(directory, 0, 4);
  append(directory, entries_.size(), 2);
  append(directory, entries_.size(), 2);
  append(directory, size, 4);
  append(directory, begin, 4);
  append(directory, 0, 2);
  put(directory);
}

}  // namespace glmhost::table
