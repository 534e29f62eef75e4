// Segments that no writer of ours has made.
#include "host/ranges/segment.h"

#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "host/ranges/writer.h"

using namespace glmhost::ranges;

namespace {

// A segment's bytes where they can be changed.
class Copy {
 public:
  explicit Copy(const Segment& segment) : words_((segment.bytes() + 63) / 64 * 8 + 8) {
    const SharedMemory memory = SharedMemory::open(segment.name());
    size_ = segment.bytes();
    std::memcpy(data(), memory.data(), size_);
  }
  std::byte* data() {
    const auto address = reinterpret_cast<std::uintptr_t>(words_.data());
    return reinterpret_cast<std::byte*>((address + 63) / 64 * 64);
  }
  Header& header() { return *reinterpret_cast<Header*>(data()); }
  ColumnEntry& entry(std::size_t i) { return reinterpret_cast<ColumnEntry*>(data() + header().columns_offset)[i]; }
  std::size_t size() const { return size_; }
  Segment open() { return Segment::over({data(), size_}, nullptr); }
  void cut(std::size_t size) { size_ = size; }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t size_ = 0;
};

Segment example() {
  Writer writer(70, 5);
  for (int i = 0; i < 70; ++i) {
    writer.column(0).add_number(i);
    writer.column(1).add_text(std::string_view(i % 2 == 0 ? "even" : "ungerade é"));
    writer.column(2).add_boolean(i % 3 == 0);
    if (i % 2 == 0) writer.column(3).add_text(std::string_view("mixed"));
    if (i % 2 == 1) writer.column(3).add_error(2);
  }
  const std::vector<std::uint32_t> codes(70, 1);
  const std::vector<std::string_view> texts = {"a", "b"};
  writer.column(4).set_dictionary(codes, nullptr, texts);
  writer.set_name(1, "parity");
  return writer.seal();
}

}  // namespace

TEST_CASE("each thing that is wrong is said") {
  const Segment segment = example();
  const auto refused = [&](const auto& change) {
    Copy copy(segment);
    change(copy);
    CHECK_THROWS_AS(copy.open(), RangeError);
  };
  CHECK(Copy(segment).open().column(1).text(0) == "even");
  refused([](Copy& copy) { copy.header().magic[0] = 'X'; });
  refused([](Copy& copy) { copy.header().version = 2; });
  refused([](Copy& copy) { copy.header().state = 0; });
  refused([](Copy& copy) { copy.header().rows = 1'000'000; });
  refused([](Copy& copy) { copy.header().rows = ~std::uint64_t{0}; });
  refused([](Copy& copy) { copy.header().columns = 16'385; });
  refused([](Copy& copy) { copy.header().columns = 1000; });
  refused([](Copy& copy) { copy.header().total_size = copy.size() + 1; });
  refused([](Copy& copy) { copy.header().columns_offset = ~std::uint64_t{63}; });
  refused([](Copy& copy) { copy.header().names_offset = ~std::uint64_t{0}; });
  refused([](Copy& copy) { copy.entry(0).kind = 6; });
  refused([](Copy& copy) { copy.entry(0).number_tag = 5; });
  refused([](Copy& copy) { copy.entry(0).data_offset += 8; });
  refused([](Copy& copy) { copy.entry(0).data_offset = copy.size() / 64 * 64; });
  refused([](Copy& copy) { copy.entry(0).data_offset = 0; });
  refused([](Copy& copy) { copy.entry(0).valid_offset = 64'000'000; });
  refused([](Copy& copy) { copy.entry(1).name_size = 100; });
  refused([](Copy& copy) { copy.entry(3).tags_offset = 0; });
  refused([](Copy& copy) { copy.entry(4).text_count = 1; });
  refused([](Copy& copy) { copy.entry(4).text_count = ~std::uint64_t{0}; });
  refused([](Copy& copy) { reinterpret_cast<TextRef*>(copy.data() + copy.entry(1).data_offset)[3] = ~TextRef{0}; });
  // The second byte of é ends one text and begins none.
  refused([](Copy& copy) {
    TextRef& ref = reinterpret_cast<TextRef*>(copy.data() + copy.entry(1).data_offset)[1];
    ref = text_ref(text_offset(ref), text_size(ref) - 1);
  });
  refused([](Copy& copy) { reinterpret_cast<std::uint8_t*>(copy.data() + copy.entry(2).data_offset)[3] = 2; });
  refused([](Copy& copy) { reinterpret_cast<std::uint8_t*>(copy.data() + copy.entry(3).tags_offset)[3] = 8; });
  refused([](Copy& copy) { reinterpret_cast<double*>(copy.data() + copy.entry(3).data_offset)[1] = 14; });
  refused([](Copy& copy) { reinterpret_cast<std::uint32_t*>(copy.data() + copy.entry(4).data_offset)[69] = 2; });
  refused([](Copy& copy) { copy.cut(100); });
}

TEST_CASE("a dictionary that claims to be distinct is not believed") {
  Copy copy(example());
  TextRef* const texts = reinterpret_cast<TextRef*>(copy.data() + copy.entry(4).texts_offset);
  texts[0] = texts[1];
  CHECK_FALSE(copy.open().column(4).is_distinct());
}

TEST_CASE("damaged bytes are refused or read, never more") {
  const Segment segment = example();
  std::mt19937 random(3);
  std::size_t refused = 0, read = 0;
  for (int round = 0; round < 5000; ++round) {
    Copy copy(segment);
    for (unsigned i = 0; i < 1 + random() % 3; ++i) {
      // The head more often than the cells.
      const std::size_t place = random() % (random() % 2 == 0 ? 512 : copy.size());
      copy.data()[place] = static_cast<std::byte>(random());
    }
    try {
      const Segment opened = copy.open();
      for (std::uint64_t c = 0; c < opened.width(); ++c) {
        for (std::uint64_t row = 0; row < opened.rows(); ++row) {
          if (opened.column(c).tag(row) == CellTag::text) read += opened.column(c).text(row).size();
        }
      }
    } catch (const RangeError&) {
      ++refused;
    }
  }
  CHECK(refused > 500);
  CHECK(read > 0);
}
