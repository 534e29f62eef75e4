#include "host/daemon/memo_store.h"

#include <mutex>

#include "host/daemon/memo_database.h"
#include "host/platform/paths.h"

namespace glmhost::daemon {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Reads that wait to be written down as uses; more than this in one go and some lose their place in the order.
constexpr std::size_t kMostUses = 4096;

fs::path with_suffix(const fs::path& file, std::string_view suffix) {
  fs::path name = file;
  name += suffix;
  return name;
}

}  // namespace

struct MemoStore::State {
  State(const Options& store_options, Log& daemon_log) : options(store_options), log(daemon_log) {}

  Options options;
  Log& log;

  std::mutex write_mutex;  // before read_mutex when both are taken
  std::unique_ptr<MemoWriter> writer;
  Clock::time_point retry_at{};

  std::mutex read_mutex;
  std::unique_ptr<MemoReader> reader;
  std::uint64_t generation = 0;  // of the open file
  std::vector<Hash128> used, damaged;

  mutable std::mutex problem_mutex;
  std::string problem;

  std::string shown_file() const { return platform::to_utf8(options.file); }

  void tell(const std::string& reason) {
    const std::string sentence = "Answers are not kept in " + shown_file() + " at the moment: " + reason;
    retry_at = Clock::now() + options.retry_after;
    const std::lock_guard lock(problem_mutex);
    if (problem != sentence) log.warning(sentence);
    problem = sentence;
  }

  void all_is_well() {
    const std::lock_guard lock(problem_mutex);
    if (!problem.empty()) log.info("Answers are kept again.");
    problem.clear();
  }

  // The members below are called with write_mutex held.

  void close() {
    writer.reset();
    const std::lock_guard lock(read_mutex);
    reader.reset();
    ++generation;
  }

  // The file goes out of the way, so that the next open begins anew. One of each kind is kept: enough to look at what
  // happened, and no more disk space.
  void set_aside(std::string_view suffix, const std::string& reason) {
    close();
    const fs::path aside = with_suffix(options.file, suffix);
    std::error_code failure;
    fs::rename(options.file, aside, failure);
    std::error_code ignored;
    fs::rename(with_suffix(options.file, "-wal"), with_suffix(aside, "-wal"), ignored);
    fs::remove(with_suffix(options.file, "-shm"), ignored);
    log.warning("The memo store " + shown_file() + " " + reason +
                (failure ? "; it cannot be set aside: " + failure.message() + "."
                         : "; it was set aside as " + platform::to_utf8(aside.filename()) + " and begun anew."));
  }

  void open() {
    for (int attempt = 0; writer == nullptr; ++attempt) {
      try {
        auto opened = std::make_unique<MemoWriter>(options.file, options.limit_bytes);
        auto reading = std::make_unique<MemoReader>(options.file);
        writer = std::move(opened);
        const std::lock_guard lock(read_mutex);
        reader = std::move(reading);
        ++generation;
      } catch (const ForeignDatabase& foreign) {
        if (attempt > 0) throw std::runtime_error("it is of another version and cannot be replaced.");
        set_aside(".version-" + std::to_string(foreign.version), "was made by another program or version");
      } catch (const SqliteError& error) {
        // A statement that does not compile means that the tables are not those that the version promises.
        if ((!error.file_is_damaged() && error.code() != SQLITE_ERROR) || attempt > 0) throw;
        set_aside(".damaged", "is damaged");
      }
    }
  }

  // Runs `change` with an open writer, on a fresh file when the old one proves damaged. False, and told, when the disk
  // does not let it.
  template <class Change>
  bool write(const Change& change) {
    const std::lock_guard lock(write_mutex);
    if (Clock::now() < retry_at) return false;
    try {
      std::error_code ignored;
      // Whoever deletes the file to clear it expects a new one, not answers written to a file without a name.
      if (writer != nullptr && !fs::exists(options.file, ignored)) close();
      open();
      try {
        change(*writer);
      } catch (const SqliteError& error) {
        if (!error.file_is_damaged()) throw;
        set_aside(".damaged", "is damaged");
        open();
        change(*writer);
      }
      all_is_well();
      return true;
    } catch (const SqliteError& error) {
      writer.reset();  // reading may go on
      const std::string why = error.what();
      if (error.code() == SQLITE_FULL) {
        tell("the disk is full.");
      } else if (error.code() == SQLITE_READONLY || error.code() == SQLITE_CANTOPEN) {
        tell("it cannot be written (" + why + ").");
      } else {
        tell("SQLite reports \"" + why + "\".");
      }
    } catch (const std::runtime_error& error) {
      writer.reset();
      tell(error.what());
    }
    return false;
  }

  // Runs `query` with the reader; what it returns for a store that cannot be read is empty.
  template <class Query>
  auto read(const Query& query) -> decltype(query(std::declval<MemoReader&>())) {
    std::uint64_t read_generation = 0;
    try {
      const std::lock_guard lock(read_mutex);
      if (reader == nullptr) return {};
      read_generation = generation;
      return query(*reader);
    } catch (const SqliteError& error) {
      if (!error.file_is_damaged()) return {};
    }
    const std::lock_guard lock(write_mutex);
    if (generation == read_generation) set_aside(".damaged", "is damaged");  // else another thread did so
    return {};
  }
};

MemoStore::MemoStore(const Options& options, Log& log) : state_(std::make_unique<State>(options, log)) {
  state_->write([](MemoWriter&) {});
}

MemoStore::~MemoStore() {
  // The order of use since the last answer is written down; losing it would be no harm.
  std::vector<Hash128> used, damaged;
  {
    const std::lock_guard lock(state_->read_mutex);
    used.swap(state_->used);
    damaged.swap(state_->damaged);
  }
  if (used.empty() && damaged.empty()) return;
  state_->write([&](MemoWriter& writer) { writer.apply({damaged, used, {}}); });
}

std::optional<MemoAnswer> MemoStore::find(const Hash128& key) {
  return state_->read([&](MemoReader& reader) {
    MemoReader::Found found = reader.find(key);
    if (found.damaged) state_->damaged.push_back(key);
    if (found.answer && state_->used.size() < kMostUses) state_->used.push_back(key);
    return std::move(found.answer);
  });
}

bool MemoStore::store(std::span<const std::pair<Hash128, MemoAnswer>> answers) {
  MemoWriter::Change change;
  {
    const std::lock_guard lock(state_->read_mutex);
    change.used.swap(state_->used);
    change.damaged.swap(state_->damaged);
  }
  change.answers = answers;
  return state_->write([&](MemoWriter& writer) { writer.apply(change); });
}

std::optional<ModelIdentity> MemoStore::find_identity(const fs::path& model, const FileStamp& stamp) {
  return state_->read([&](MemoReader& reader) { return reader.find_identity(platform::to_utf8(model), stamp); });
}

void MemoStore::store_identity(const fs::path& model, const FileStamp& stamp, const ModelIdentity& identity) {
  state_->write([&](MemoWriter& writer) { writer.store_identity(platform::to_utf8(model), stamp, identity); });
}

std::string MemoStore::problem() const {
  const std::lock_guard lock(state_->problem_mutex);
  return state_->problem;
}

MemoStore::Statistics MemoStore::statistics() {
  const std::lock_guard lock(state_->write_mutex);
  return state_->writer == nullptr ? Statistics{} : state_->writer->statistics();
}

}  // namespace glmhost::daemon
