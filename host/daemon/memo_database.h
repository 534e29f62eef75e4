// The two connections of the memo store: one that writes, one that reads beside it. Used by memo_store.cpp alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "host/daemon/memo_store.h"
#include "host/daemon/sqlite.h"

namespace glmhost::daemon {

// The file is sound, but of another program or another version of this one.
struct ForeignDatabase {
  std::int64_t version = 0;
};

// Opens the file, or makes it with its tables. Throws SqliteError, ForeignDatabase, and std::runtime_error when the
// file or its folder cannot be made.
class MemoWriter {
 public:
  MemoWriter(const std::filesystem::path& file, std::uint64_t limit_bytes);

  struct Change {
    std::vector<Hash128> damaged;  // rows to take out
    std::vector<Hash128> used;     // rows that were read since the last change
    std::span<const std::pair<Hash128, MemoAnswer>> answers;
  };
  void apply(const Change& change);  // one transaction: all or nothing

  void store_identity(const std::string& path, const FileStamp& stamp, const ModelIdentity& identity);

  const MemoStore::Statistics& statistics() const { return statistics_; }

 private:
  void insert(const Hash128& key, const MemoAnswer& answer);
  void evict();

  std::uint64_t limit_bytes_;
  SqliteConnection connection_;
  std::int64_t next_use_ = 1;
  MemoStore::Statistics statistics_;
  std::optional<SqliteStatement> insert_, touch_, find_bytes_, erase_, oldest_, store_identity_;
};

class MemoReader {
 public:
  explicit MemoReader(const std::filesystem::path& file);  // after a MemoWriter has opened it

  struct Found {
    std::optional<MemoAnswer> answer;
    bool damaged = false;  // there is a row, but its checksum is wrong
  };
  Found find(const Hash128& key);
  std::optional<ModelIdentity> find_identity(const std::string& path, const FileStamp& stamp);

 private:
  SqliteConnection connection_;
  SqliteStatement find_, find_identity_;
};

}  // namespace glmhost::daemon
