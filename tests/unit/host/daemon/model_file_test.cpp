#include "host/daemon/model_file.h"

#include <doctest/doctest.h>

#include <fstream>

#include "inference/error.h"
#include "tests/unit/host/daemon/temporary_folder.h"

namespace glmhost::daemon {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

TEST_CASE("the hash is that of the content, over all shards") {
  const TemporaryFolder folder;
  // XXH3_128bits of "" and "abc", from `xxhsum -H2`.
  write(folder.path() / "empty.gguf", "");
  CHECK(hash_content(folder.path() / "empty.gguf").hex() == "99aa06d3014798d86001c324468d497f");
  write(folder.path() / "one.gguf", "abc");
  CHECK(hash_content(folder.path() / "one.gguf").hex() == "06b05ab6733a618578af5f94892f3950");
  for (int shard = 1; shard <= 3; ++shard) {
    write(folder.path() / ("m-0000" + std::to_string(shard) + "-of-00003.gguf"), std::string(1, "abc"[shard - 1]));
  }
  const fs::path first = folder.path() / "m-00001-of-00003.gguf";
  CHECK(shards_of(first).size() == 3);
  CHECK(hash_content(first).hex() == "06b05ab6733a618578af5f94892f3950");
  CHECK(stamp_of(first).bytes == 3);

  const std::string large(5'000'000, 'x');
  write(folder.path() / "large.gguf", large);
  double last = 0;
  bool rising = true;
  const Hash128 hash = hash_content(folder.path() / "large.gguf", [&](double fraction) {
    rising = rising && fraction >= last;
    last = fraction;
  });
  CHECK(rising);
  CHECK(last == 1);
  std::string changed = large;
  changed.back() = 'y';
  write(folder.path() / "large.gguf", changed);
  CHECK(hash_content(folder.path() / "large.gguf") != hash);
}

TEST_CASE("the stamp changes with size and time, and a missing shard is named") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "m.gguf";
  write(file, "abc");
  const FileStamp stamp = stamp_of(file);
  CHECK(stamp == stamp_of(file));
  fs::last_write_time(file, fs::last_write_time(file) + std::chrono::seconds(1));
  CHECK(stamp != stamp_of(file));
  write(folder.path() / "s-00001-of-00002.gguf", "x");
  try {
    stamp_of(folder.path() / "s-00001-of-00002.gguf");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::not_found);
    CHECK(std::string(error.what()).find("s-00002-of-00002.gguf") != std::string::npos);
  }
}

TEST_CASE("hashing can be cancelled") {
  const TemporaryFolder folder;
  write(folder.path() / "m.gguf", "abc");
  const std::atomic<bool> cancel{true};
  CHECK_THROWS_AS(hash_content(folder.path() / "m.gguf", {}, &cancel), Error);
}

}  // namespace
}  // namespace glmhost::daemon
