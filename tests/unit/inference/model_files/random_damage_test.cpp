// Thousands of damaged copies of sound models: each opens or is refused by Error, and takes no more memory than its
// size justifies.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>

#include "tests/unit/inference/model_files/allocation_meter.h"
#include "tests/unit/inference/model_files/refusal.h"

namespace glmhost::model_files {
namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t limit) {
  return static_cast<std::size_t>(random() % limit);
}

void flip_bytes(Random& random, Bytes& bytes, std::size_t reach) {
  for (std::size_t i = 1 + below(random, 4); i > 0; --i) bytes[below(random, reach)] = static_cast<std::byte>(random());
}

// A number in the header becomes a boundary value.
void set_number(Random& random, Bytes& bytes, std::size_t reach) {
  constexpr std::array<std::uint64_t, 10> kValues = {0,
                                                     1,
                                                     0x7f,
                                                     0xffff,
                                                     0x7fffffff,
                                                     0xffffffff,
                                                     std::uint64_t{1} << 32,
                                                     std::uint64_t{1} << 61,
                                                     ~std::uint64_t{0} >> 1,
                                                     ~std::uint64_t{0}};
  const std::uint64_t value = kValues[below(random, kValues.size())];
  const std::size_t size = std::size_t{1} << below(random, 4);
  std::memcpy(bytes.data() + below(random, reach - 8), &value, size);
}

void resize_inside(Random& random, Bytes& bytes, std::size_t reach) {
  const auto at = bytes.begin() + static_cast<std::ptrdiff_t>(below(random, reach));
  const std::size_t count = 1 + below(random, 64);
  if (random() % 2 == 0) {
    bytes.insert(at, count, static_cast<std::byte>(random()));
  } else {
    bytes.erase(
        at, at + static_cast<std::ptrdiff_t>(std::min<std::size_t>(count, static_cast<std::size_t>(bytes.end() - at))));
  }
}

void truncate(Random& random, Bytes& bytes, std::size_t reach) {
  bytes.resize(below(random, reach));
}

Bytes damage(Random& random, Bytes bytes, std::size_t header_bytes) {
  const std::size_t reach = random() % 4 == 0 ? bytes.size() : header_bytes;  // mostly where the structure is
  switch (random() % 4) {
    case 0:
      flip_bytes(random, bytes, reach);
      break;
    case 1:
      set_number(random, bytes, reach);
      break;
    case 2:
      resize_inside(random, bytes, reach);
      break;
    default:
      truncate(random, bytes, reach);
  }
  return bytes;
}

// Uses everything that an opened file offers.
void use(const GgufFile& file) {
  for (const std::string& key : file.keys()) REQUIRE(file.find(key));
  for (const TensorInfo& tensor : file.tensors()) {
    REQUIRE(file.find_tensor(tensor.name) == &tensor);
    const std::int64_t columns = std::min<std::int64_t>(tensor.columns(), 256);
    Bytes blocks(static_cast<std::size_t>(row_bytes(tensor.type, columns)));
    std::vector<float> values(static_cast<std::size_t>(columns));
    file.read(tensor, tensor.bytes - blocks.size(), blocks);
    dequantize(tensor.type, blocks, values);
  }
}

struct Outcome {
  int opened = 0;
  int refused = 0;
};

Outcome open_damaged_copies(const Bytes& sound, std::size_t header_bytes, int copies) {
  Random random(2026);
  Outcome outcome;
  for (int i = 0; i < copies; ++i) {
    INFO("copy " << i);
    Bytes bytes = damage(random, sound, header_bytes);
    // A byte in the file becomes at most 8 in memory (u8 in a list of u64); the window and the sorting are small.
    const std::size_t most = 8 * bytes.size() + 512 * 1024;
    reset_largest_allocation();
    try {
      use(GgufFile::from_bytes(std::move(bytes), "x.gguf"));
      ++outcome.opened;
    } catch (const Error& error) {
      const std::string_view sentence = error.what();
      REQUIRE((error.kind() == ErrorKind::bad_file || error.kind() == ErrorKind::unsupported));
      REQUIRE(sentence.find("x.gguf") != std::string_view::npos);
      REQUIRE(sentence.ends_with('.'));
      ++outcome.refused;
    }
    REQUIRE(largest_allocation() <= most);
  }
  return outcome;
}

}  // namespace

TEST_CASE("damaged copies of a small model open or are refused") {
  const GgufWriter model = small_model();
  const Outcome outcome = open_damaged_copies(model.bytes(), model.header().size(), 3000);
  CHECK(outcome.opened > 100);  // damage in texts and weights is no damage to the structure
  CHECK(outcome.refused > 1000);
}

TEST_CASE("damaged copies of shared models open or are refused") {
  const std::filesystem::path folder = std::filesystem::path(GLMHOST_SHARED_DATA) / "vectors" / "models";
  if (!std::filesystem::exists(folder)) {
    MESSAGE("skipped: " << folder.string() << " is not there");
    return;
  }
  for (const char* name : {"glm4-Q4_K", "llama-a"}) {
    INFO(name);
    const Bytes sound = read_file(folder / (std::string(name) + ".gguf"));
    const GgufFile file = GgufFile::from_bytes(sound, name);
    const auto first = std::ranges::min(file.tensors(), {}, &TensorInfo::offset).offset;
    const Outcome outcome = open_damaged_copies(sound, static_cast<std::size_t>(first), 2000);
    CHECK(outcome.opened > 100);
    CHECK(outcome.refused > 500);
  }
}

TEST_CASE("damaged copies on disk open or are refused") {
  const TemporaryFolder folder;
  const GgufWriter model = small_model();
  Random random(7);
  int refused = 0;
  for (int i = 0; i < 200; ++i) {
    const auto path = folder.write("x.gguf", damage(random, model.bytes(), model.header().size()));
    try {
      use(GgufFile::open(path));
    } catch (const Error&) {
      ++refused;
    }
  }
  CHECK(refused > 50);
}

}  // namespace glmhost::model_files
