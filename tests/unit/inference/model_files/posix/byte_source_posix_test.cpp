// Files that only POSIX systems can have, and files that change while they are open.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tests/unit/inference/model_files/allocation_meter.h"
#include "tests/unit/inference/model_files/refusal.h"

namespace glmhost::model_files {
namespace {

// Root may read everything: such a test runs as the user nobody.
class WithoutRoot {
 public:
  WithoutRoot() {
    if (was_root_) REQUIRE(::seteuid(65534) == 0);
  }
  ~WithoutRoot() {
    if (was_root_) CHECK(::seteuid(0) == 0);
  }
  WithoutRoot(const WithoutRoot&) = delete;
  WithoutRoot& operator=(const WithoutRoot&) = delete;

 private:
  bool was_root_ = ::geteuid() == 0;
};

// A file of the given size that takes no space on disk. False when the file system cannot do that.
bool make_sparse(const std::filesystem::path& path, std::uintmax_t size) {
  std::error_code error;
  std::filesystem::resize_file(path, size, error);
  return !error;
}

}  // namespace

TEST_CASE("a pipe and a device are refused at once") {
  const TemporaryFolder folder;
  const auto pipe = folder.path() / "pipe.gguf";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  check_refused([&] { GgufFile::open(pipe); }, ErrorKind::bad_file, {"pipe.gguf", "not a regular file", "save it"});
  check_refused([&] { GgufFile::open("/dev/zero"); }, ErrorKind::bad_file, {"/dev/zero", "not a regular file"});
}

TEST_CASE("a file without permission says so") {
  const TemporaryFolder folder;
  const auto path = folder.write("secret.gguf", small_model().bytes());
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  std::filesystem::permissions(path, std::filesystem::perms::none);
  const WithoutRoot as_nobody;
  check_refused([&] { GgufFile::open(path); }, ErrorKind::io, {"secret.gguf", "may not read", "permissions"});
}

TEST_CASE("links are followed; a link to nothing and a circle of links are refused") {
  const TemporaryFolder folder;
  const auto model = folder.write("model.gguf", small_model().bytes());
  std::filesystem::create_symlink(model, folder.path() / "link.gguf");
  CHECK(GgufFile::open(folder.path() / "link.gguf").tensors().size() == 5);
  std::filesystem::create_symlink(folder.path() / "gone", folder.path() / "dangling.gguf");
  check_refused([&] { GgufFile::open(folder.path() / "dangling.gguf"); }, ErrorKind::not_found, {"dangling.gguf"});
  std::filesystem::create_symlink(folder.path() / "b.gguf", folder.path() / "a.gguf");
  std::filesystem::create_symlink(folder.path() / "a.gguf", folder.path() / "b.gguf");
  check_refused([&] { GgufFile::open(folder.path() / "a.gguf"); }, ErrorKind::io, {"a.gguf", "symbolic"});
}

TEST_CASE("a file that shrinks while it is open is refused, not a crash") {
  const TemporaryFolder folder;
  const Bytes bytes = small_model().bytes();
  const auto path = folder.write("shrinking.gguf", bytes);
  const GgufFile file = GgufFile::open(path);
  std::filesystem::resize_file(path, bytes.size() - 10);
  const TensorInfo& last = file.tensors().back();
  Bytes out(last.bytes);
  check_refused([&] { file.read(last, 0, out); }, ErrorKind::bad_file, {"shrinking.gguf", "became shorter"});
  CHECK_NOTHROW(file.read(last, 0, std::span(out).first(last.bytes - 10)));
  std::filesystem::resize_file(path, 0);
  check_refused([&] { file.read(last, 0, std::span(out).first(1)); }, ErrorKind::bad_file, {"became shorter"});
}

TEST_CASE("a file that is replaced or removed while it is open goes on reading the old one") {
  const TemporaryFolder folder;
  const auto path = folder.write("model.gguf", small_model().bytes());
  const GgufFile file = GgufFile::open(path);
  std::filesystem::remove(path);
  folder.write("model.gguf", "something else");
  float value = 0;
  file.read(file.tensors()[0], 0, std::as_writable_bytes(std::span(&value, 1)));
  CHECK(value == 1.0f);
}

TEST_CASE("a huge sparse file cannot make the reader take memory") {
  const TemporaryFolder folder;
  GgufWriter writer;
  writer.entry("list", kArray, ByteString().number(std::uint32_t{kString}).number(std::uint64_t{1} << 36).bytes());
  const auto texts = folder.write("texts.gguf", writer.bytes());
  GgufWriter small_numbers;
  small_numbers.entry("list", kArray, ByteString().number(std::uint32_t{kU8}).number(std::uint64_t{1} << 39).bytes());
  const auto numbers = folder.write("numbers.gguf", small_numbers.bytes());
  GgufWriter one_text;
  one_text.entry("text", kString, ByteString().number(std::uint64_t{1} << 39).bytes());
  const auto text = folder.write("text.gguf", one_text.bytes());
  for (const auto& path : {texts, numbers, text}) {
    if (!make_sparse(path, std::uintmax_t{1} << 40)) {
      MESSAGE("skipped: no sparse file of 1 TB can be made here");
      return;
    }
    reset_largest_allocation();
    check_refused([&] { GgufFile::open(path); }, ErrorKind::bad_file, {"512 MB", "memory"});
    CHECK(largest_allocation() < (1 << 20));
  }
}

TEST_CASE("tensors beyond 4 GB are read from the right place") {
  const TemporaryFolder folder;
  GgufWriter writer;
  const std::uint64_t far = std::uint64_t{5} << 30;
  writer.tensor({"near", 0, {1}, ByteString().number(1.0f).bytes(), 0});
  writer.tensor({"far", 0, {1}, {}, static_cast<std::int64_t>(far)});
  const auto path = folder.write("large.gguf", writer.bytes());
  const std::uint64_t data_start = (writer.header().size() + 31) / 32 * 32;
  if (!make_sparse(path, data_start + far)) {
    MESSAGE("skipped: no sparse file of 5 GB can be made here");
    return;
  }
  const float value = 42;
  FILE* out = std::fopen(path.c_str(), "ab");
  REQUIRE(out);
  CHECK(std::fwrite(&value, sizeof value, 1, out) == 1);
  std::fclose(out);
  const GgufFile file = GgufFile::open(path);
  float read = 0;
  file.read(*file.find_tensor("far"), 0, std::as_writable_bytes(std::span(&read, 1)));
  CHECK(read == 42.0f);
  check_refused(
      [&] {
        std::filesystem::resize_file(path, data_start + far);
        GgufFile::open(path);
      },
      ErrorKind::bad_file, {"cut short", "4 bytes are missing"});
}

}  // namespace glmhost::model_files
