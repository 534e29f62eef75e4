// A model's file on disk, as the daemon recognises it: cheaply by size and time, surely by its content.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <vector>

#include "host/daemon/memo_key.h"

namespace glmhost::daemon {

// Differs as soon as a shard was written again.
struct FileStamp {
  std::uint64_t bytes = 0;  // of all shards
  // Of the youngest, in the file clock's ticks: negative for today, as that clock counts from the year 2174.
  std::int64_t modified = std::numeric_limits<std::int64_t>::min();
  auto operator<=>(const FileStamp&) const = default;
};

std::vector<std::filesystem::path> shards_of(const std::filesystem::path& first);

// Throws Error: not_found (names the shard), io.
FileStamp stamp_of(const std::filesystem::path& first);

// XXH3-128 of the content of all shards in order. Reads everything: gigabytes a second from memory, the disk's speed
// otherwise. progress is called with 0..1; cancel is polled. Throws Error: io, cancelled.
Hash128 hash_content(const std::filesystem::path& first, const std::function<void(double)>& progress = {},
                     const std::atomic<bool>* cancel = nullptr);

}  // namespace glmhost::daemon
