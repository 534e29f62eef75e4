// One malformed file for each defence of the GGUF reader.
#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "tests/unit/inference/model_files/refusal.h"

namespace glmhost::model_files {
namespace {

constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();

GgufWriter with_tensor(std::uint32_t type, std::vector<std::uint64_t> ne, std::size_t data_bytes = 64,
                       std::int64_t offset = -1) {
  GgufWriter writer;
  writer.tensor({"the_tensor", type, std::move(ne), Bytes(data_bytes), offset});
  return writer;
}

void check_refused_writer(const GgufWriter& writer, ErrorKind kind, std::initializer_list<std::string_view> words) {
  check_bytes_refused(writer.bytes(), kind, words);
}

}  // namespace

TEST_CASE("counts beyond any real file, and beyond this file, are refused") {
  for (const std::uint64_t count : {std::uint64_t{1'000'001}, std::uint64_t{1} << 62, kHuge}) {
    GgufWriter writer = small_model();
    writer.claimed_tensors = 0;
    Bytes bytes = writer.bytes();
    std::memcpy(bytes.data() + 8, &count, sizeof count);
    check_bytes_refused(bytes, ErrorKind::bad_file, {"x.gguf", "tensors", "1,000,000"});
  }
  for (const std::uint64_t count : {std::uint64_t{65'537}, std::uint64_t{1} << 62, kHuge}) {
    Bytes bytes = small_model().bytes();
    std::memcpy(bytes.data() + 16, &count, sizeof count);
    check_bytes_refused(bytes, ErrorKind::bad_file, {"x.gguf", "metadata entries", "65,536"});
  }
  GgufWriter writer = small_model();
  writer.claimed_tensors = 1'000'000;
  check_refused_writer(writer, ErrorKind::bad_file, {"cut short", "header"});
  writer = small_model();
  writer.claimed_entries = 65'536;
  check_refused_writer(writer, ErrorKind::bad_file, {"cut short", "header"});
}

TEST_CASE("one entry or tensor more or fewer than the file has is refused") {
  for (const int delta : {-1, 1}) {
    GgufWriter writer = small_model();
    writer.claimed_entries = 6 + delta;
    CHECK_THROWS_AS(GgufFile::from_bytes(writer.bytes(), "x.gguf"), Error);
  }
  GgufWriter writer = small_model();
  writer.claimed_tensors = 6;
  CHECK_THROWS_AS(GgufFile::from_bytes(writer.bytes(), "x.gguf"), Error);
}

TEST_CASE("keys are 1 to 65,535 bytes and occur once") {
  check_refused_writer(GgufWriter().u32("", 1), ErrorKind::bad_file, {"metadata entry 1 of 1", "no text", "key"});
  check_refused_writer(GgufWriter().u32(std::string(65'536, 'k'), 1), ErrorKind::bad_file,
                       {"metadata entry", "65,536 bytes", "65,535"});
  CHECK(GgufFile::from_bytes(GgufWriter().u32(std::string(65'535, 'k'), 1).bytes(), "x").keys().size() == 1);
  check_refused_writer(GgufWriter().u32("a.b", 1).text("c", "").u32("a.b", 1), ErrorKind::bad_file,
                       {"metadata entry 3 of 3", "\"a.b\"", "before"});
}

TEST_CASE("a text longer than the rest of the file is refused") {
  for (const std::uint64_t length : {std::uint64_t{100}, std::uint64_t{1} << 40, kHuge}) {
    GgufWriter writer;
    writer.entry("name", kString, ByteString().number(length).raw("only this").bytes());
    check_refused_writer(writer, ErrorKind::bad_file, {"x.gguf", "metadata entry 1 of 1", "\"name\""});
    GgufWriter in_list;
    in_list.entry("list", kArray,
                  ByteString().number(std::uint32_t{kString}).number(std::uint64_t{1}).number(length).bytes());
    check_refused_writer(in_list, ErrorKind::bad_file, {"x.gguf", "\"list\""});
  }
  GgufWriter key;
  Bytes bytes = key.u32("k", 1).bytes();
  std::memcpy(bytes.data() + 24, &kHuge, sizeof kHuge);
  check_bytes_refused(bytes, ErrorKind::bad_file, {"metadata entry 1 of 1", "key"});
}

TEST_CASE("lists longer than the rest of the file are refused before memory is taken") {
  for (const ValueId type : {kU8, kI8, kU16, kI16, kU32, kI32, kF32, kBool, kString, kU64, kI64, kF64}) {
    for (const std::uint64_t count : {std::uint64_t{1000}, std::uint64_t{1} << 61, kHuge / 4, kHuge}) {
      GgufWriter writer;
      writer.entry("list", kArray, ByteString().number(std::uint32_t{type}).number(count).bytes());
      check_refused_writer(writer, ErrorKind::bad_file, {"x.gguf", "\"list\""});
    }
  }
}

TEST_CASE("values of no known type are refused") {
  check_refused_writer(GgufWriter().entry("k", 13, Bytes(64)), ErrorKind::bad_file, {"\"k\"", "type 13"});
  check_refused_writer(GgufWriter().entry("k", 0xffffffff, Bytes(64)), ErrorKind::bad_file, {"type 4294967295"});
  check_refused_writer(
      GgufWriter().entry("k", kArray, ByteString().number(std::uint32_t{99}).number(std::uint64_t{1}).bytes()),
      ErrorKind::bad_file, {"\"k\"", "type 99"});
  check_refused_writer(
      GgufWriter().entry("k", kArray, ByteString().number(std::uint32_t{kArray}).number(std::uint64_t{1}).bytes()),
      ErrorKind::bad_file, {"\"k\"", "array of arrays"});
  check_refused_writer(GgufWriter().number<std::uint8_t>("k", kBool, 2), ErrorKind::bad_file, {"\"k\"", "holds 2"});
  check_refused_writer(GgufWriter().numbers<std::uint8_t>("k", kBool, {1, 255}), ErrorKind::bad_file,
                       {"\"k\"", "holds 255"});
}

TEST_CASE("general.alignment is a power of two from 8 to 65,536") {
  for (const std::uint64_t alignment : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{4}, std::uint64_t{24},
                                        std::uint64_t{131'072}, std::uint64_t{1} << 63, kHuge}) {
    GgufWriter writer;
    writer.number("general.alignment", kU64, alignment);
    check_refused_writer(writer, ErrorKind::bad_file, {"x.gguf", "general.alignment", "power of two"});
  }
  check_refused_writer(GgufWriter().text("general.alignment", "32"), ErrorKind::bad_file,
                       {"general.alignment", "a text"});
  check_refused_writer(GgufWriter().number("general.alignment", kI32, -32), ErrorKind::bad_file,
                       {"general.alignment", "-32"});
}

TEST_CASE("tensor names are 1 to 255 bytes and occur once") {
  check_refused_writer(GgufWriter().f32_tensor("", {1}), ErrorKind::bad_file, {"tensor 1 of 1", "no text", "name"});
  check_refused_writer(GgufWriter().f32_tensor(std::string(256, 't'), {1}), ErrorKind::bad_file,
                       {"tensor 1 of 1", "256", "255"});
  CHECK(GgufFile::from_bytes(GgufWriter().f32_tensor(std::string(255, 't'), {1}).bytes(), "x").tensors().size() == 1);
  check_refused_writer(GgufWriter().f32_tensor("a", {1}).f32_tensor("b", {1}).f32_tensor("a", {1}), ErrorKind::bad_file,
                       {"x.gguf", "tensor \"a\"", "twice"});
}

TEST_CASE("tensors have 1 to 4 dimensions, none of them empty or absurd") {
  check_refused_writer(with_tensor(0, {}), ErrorKind::bad_file, {"\"the_tensor\"", "0 dimensions"});
  check_refused_writer(with_tensor(0, {1, 1, 1, 1, 1}), ErrorKind::bad_file, {"\"the_tensor\"", "5 dimensions"});
  check_refused_writer(with_tensor(0, {4, 0}), ErrorKind::bad_file, {"\"the_tensor\"", "has 0 as"});
  check_refused_writer(with_tensor(0, {0, 4}), ErrorKind::bad_file, {"\"the_tensor\"", "has 0 as"});
  check_refused_writer(with_tensor(0, {kHuge}), ErrorKind::bad_file, {"\"the_tensor\"", "18,446,744,073,709,551,615"});
  check_refused_writer(with_tensor(0, {(std::uint64_t{1} << 40) + 1}), ErrorKind::bad_file, {"\"the_tensor\""});
  Bytes bytes = with_tensor(0, {1}).bytes();
  const std::uint32_t dimensions = 0x80000001u;
  std::memcpy(bytes.data() + 24 + 8 + 10, &dimensions, sizeof dimensions);
  check_bytes_refused(bytes, ErrorKind::bad_file, {"\"the_tensor\"", "dimensions"});
}

TEST_CASE("sizes that wrap round 64 bits are refused") {
  const std::uint64_t k2_32 = std::uint64_t{1} << 32;
  const std::uint64_t k2_40 = std::uint64_t{1} << 40;
  // Products of 2^64 and above, 2^63, and a number of values that fits while the bytes do not.
  check_refused_writer(with_tensor(0, {k2_32, k2_32}), ErrorKind::bad_file, {"\"the_tensor\"", "63 bits"});
  check_refused_writer(with_tensor(0, {k2_40, k2_40, k2_40, k2_40}), ErrorKind::bad_file, {"63 bits"});
  check_refused_writer(with_tensor(0, {k2_32, k2_32 / 2}), ErrorKind::bad_file, {"63 bits"});
  check_refused_writer(with_tensor(0, {k2_32, k2_32 / 8}), ErrorKind::bad_file, {"more bytes", "63 bits"});
  check_refused_writer(with_tensor(0, {k2_32, k2_32 / 32}), ErrorKind::bad_file,
                       {"is damaged", "\"the_tensor\"", "no file reaches"});  // 2^61 bytes
  // Two tensors whose ends would each fit, with an offset near the top.
  check_refused_writer(with_tensor(0, {4}, 64, std::numeric_limits<std::int64_t>::max() - 31), ErrorKind::bad_file,
                       {"is damaged", "\"the_tensor\"", "no file reaches"});
  GgufWriter top = with_tensor(0, {4}, 64, 0);
  Bytes bytes = top.bytes();
  const std::uint64_t offset = kHuge - 31;
  std::memcpy(bytes.data() + top.header().size() - 8, &offset, sizeof offset);
  check_bytes_refused(bytes, ErrorKind::bad_file, {"\"the_tensor\"", "64 bits"});
  // An offset that fits, with a size that takes its end round.
  GgufWriter wide = with_tensor(0, {1 << 20}, 64, 0);
  bytes = wide.bytes();
  const std::uint64_t below_top = kHuge - 4095;
  std::memcpy(bytes.data() + wide.header().size() - 8, &below_top, sizeof below_top);
  check_bytes_refused(bytes, ErrorKind::bad_file, {"\"the_tensor\"", "64 bits"});
}

TEST_CASE("rows that are no whole blocks are refused") {
  check_refused_writer(with_tensor(2, {33}), ErrorKind::bad_file, {"\"the_tensor\"", "33", "32", "Q4_0"});
  check_refused_writer(with_tensor(12, {128, 2}), ErrorKind::bad_file, {"\"the_tensor\"", "128", "256", "Q4_K"});
}

TEST_CASE("types that are not read are refused by name, with what to take instead") {
  check_refused_writer(with_tensor(16, {256}), ErrorKind::unsupported, {"x.gguf", "\"the_tensor\"", "IQ2_XXS", "Q2_K"});
  check_refused_writer(with_tensor(39, {32}), ErrorKind::unsupported, {"\"the_tensor\"", "MXFP4", "Q4_K_M"});
  check_refused_writer(with_tensor(4, {32}), ErrorKind::unsupported, {"Q4_2", "Q4_0"});
  check_refused_writer(with_tensor(26, {32}), ErrorKind::unsupported, {"I32"});
  check_refused_writer(with_tensor(139, {32}), ErrorKind::unsupported, {"type 139", "Q4_K_M"});
  check_refused_writer(with_tensor(0xffffffff, {32}), ErrorKind::unsupported, {"type 4294967295"});
}

TEST_CASE("offsets off the alignment are refused") {
  check_refused_writer(with_tensor(0, {4}, 64, 4), ErrorKind::bad_file, {"\"the_tensor\"", "offset 4", "32"});
}

TEST_CASE("overlapping tensors are refused") {
  GgufWriter same;
  same.tensor({"a", 0, {4}, Bytes(16), 0}).tensor({"b", 0, {4}, Bytes(16), 0});
  check_refused_writer(same, ErrorKind::bad_file, {"x.gguf", "\"a\"", "\"b\"", "overlap"});
  GgufWriter partly;
  partly.tensor({"a", 0, {4}, Bytes(16), 32}).tensor({"b", 0, {16}, Bytes(64), 0});
  check_refused_writer(partly, ErrorKind::bad_file, {"\"a\"", "\"b\"", "overlap"});
}

TEST_CASE("a file cut short says by how many bytes") {
  const Bytes whole = small_model().bytes();
  for (const std::size_t missing : {std::size_t{1}, std::size_t{1000}}) {
    const Bytes cut(whole.begin(), whole.end() - static_cast<std::ptrdiff_t>(missing));
    const std::string words = missing == 1 ? "1 byte is missing" : "1,000 bytes are missing";
    check_bytes_refused(cut, ErrorKind::bad_file, {"x.gguf", "cut short", words});
  }
  // Cut between the header and the data, in the padding.
  const std::size_t header_bytes = small_model().header().size();
  check_bytes_refused(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(header_bytes)),
                      ErrorKind::bad_file, {"cut short", "missing"});
}

TEST_CASE("a header cut anywhere is refused, and says how much should follow at least") {
  const Bytes header = small_model().header();
  for (std::size_t length = 4; length < header.size(); ++length) {
    const Bytes cut(header.begin(), header.begin() + static_cast<std::ptrdiff_t>(length));
    check_bytes_refused(cut, ErrorKind::bad_file, {"x.gguf", "cut short", "at least"});
  }
}

TEST_CASE("names from the file cannot upset a terminal") {
  GgufWriter writer;
  writer.tensor({std::string("\x1b[2J\n\xff\xe2\x80\xae") + "evil", 77, {1}, Bytes(16)});
  check_refused_writer(writer, ErrorKind::unsupported, {"\"?[2J??"});
  try {
    GgufFile::from_bytes(writer.bytes(), "x.gguf");
  } catch (const Error& error) {
    for (const char* c = error.what(); *c != 0; ++c) CHECK((*c >= ' ' && *c < 0x7f));
  }
  // Broken characters: a stray continuation, a missing one, an overlong form, a surrogate, a C1 control.
  GgufWriter broken;
  broken.tensor(
      {"a\x80"
       "b\xc3(c\xc0\xaf"
       "d\xed\xa0\x80"
       "e\xc2\x9b"
       "f",
       77,
       {1},
       Bytes(16)});
  check_refused_writer(broken, ErrorKind::unsupported, {"\"a?b?(c??d???e??f\""});
  // A long key is shortened; well-formed characters of any script stay.
  GgufWriter with_key;
  with_key.entry("模型" + std::string(5000, 'k'), 99, Bytes(16));
  try {
    GgufFile::from_bytes(with_key.bytes(), "x.gguf");
    FAIL("nothing was refused");
  } catch (const Error& error) {
    const std::string_view sentence = error.what();
    CHECK(sentence.size() < 400);
    CHECK(sentence.find("模型kkk") != std::string_view::npos);
    CHECK(sentence.find("...") != std::string_view::npos);
  }
}

}  // namespace glmhost::model_files
