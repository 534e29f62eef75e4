#include "host/daemon/model_file.h"

#include <xxhash.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <new>
#include <string>

#include "host/platform/paths.h"
#include "inference/error.h"
#include "inference/model_files/shard_name.h"

namespace glmhost::daemon {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlockBytes = 1u << 20;

struct FreeState {
  void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};

}  // namespace

std::vector<fs::path> shards_of(const fs::path& first) {
  const std::optional<model_files::ShardName> name = model_files::parse_shard_name(first);
  if (!name) return {first};
  std::vector<fs::path> shards;
  for (int number = 1; number <= name->count; ++number) shards.push_back(name->sibling(number));
  return shards;
}

FileStamp stamp_of(const fs::path& first) {
  FileStamp stamp;
  for (const fs::path& shard : shards_of(first)) {
    std::error_code failure;
    const std::uintmax_t bytes = fs::file_size(shard, failure);
    const fs::file_time_type modified = failure ? fs::file_time_type{} : fs::last_write_time(shard, failure);
    if (failure) {
      const bool missing = failure == std::errc::no_such_file_or_directory;
      throw Error(missing ? ErrorKind::not_found : ErrorKind::io,
                  "The model file " + platform::to_utf8(shard) +
                      (missing ? " is not there." : " cannot be read: " + failure.message() + "."));
    }
    stamp.bytes += bytes;
    stamp.modified = std::max<std::int64_t>(stamp.modified, modified.time_since_epoch().count());
  }
  return stamp;
}

Hash128 hash_content(const fs::path& first, const std::function<void(double)>& progress,
                     const std::atomic<bool>* cancel) {
  const std::unique_ptr<XXH3_state_t, FreeState> state(XXH3_createState());
  if (!state) throw std::bad_alloc();
  XXH3_128bits_reset(state.get());
  const double total = static_cast<double>(std::max<std::uint64_t>(stamp_of(first).bytes, 1));
  std::vector<char> block(kBlockBytes);
  std::uint64_t done = 0;
  for (const fs::path& shard : shards_of(first)) {
    std::ifstream in;
    in.rdbuf()->pubsetbuf(nullptr, 0);  // whole blocks need no second buffer
    in.open(shard, std::ios::binary);
    do {
      if (cancel != nullptr && cancel->load(std::memory_order_relaxed)) {
        throw Error(ErrorKind::cancelled, "Loading the model was cancelled.");
      }
      in.read(block.data(), static_cast<std::streamsize>(block.size()));
      XXH3_128bits_update(state.get(), block.data(), static_cast<std::size_t>(in.gcount()));
      done += static_cast<std::uint64_t>(in.gcount());
      if (progress) progress(static_cast<double>(done) / total);
    } while (in);
    if (!in.eof()) {
      throw Error(ErrorKind::io, "The model file " + platform::to_utf8(shard) + " cannot be read to its end.");
    }
  }
  const XXH128_hash_t hash = XXH3_128bits_digest(state.get());
  return {hash.high64, hash.low64};
}

}  // namespace glmhost::daemon
