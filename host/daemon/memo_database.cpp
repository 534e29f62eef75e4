#include "host/daemon/memo_database.h"

#include <xxhash.h>

#include <nlohmann/json.hpp>
#include <system_error>

#include "host/platform/paths.h"
#include "host/platform/private_file.h"

namespace glmhost::daemon {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::int64_t kSchemaVersion = 2;
constexpr std::int64_t kApplicationId = 0x474c4d48;  // "GLMH"
constexpr std::uint64_t kRowOverhead = 160;          // key, index, counters, page slack: measured on short answers

// Version 1 had no column for the calls of tools: no answer had any.
constexpr const char* kFromVersion1 = R"(
  ALTER TABLE answer ADD COLUMN tool_calls BLOB NOT NULL DEFAULT x'';
  PRAGMA user_version = 2;
)";
// `used` is a count, not a time: the order of use survives a clock that jumps.
constexpr const char* kSchema = R"(
  CREATE TABLE answer (
    key BLOB PRIMARY KEY NOT NULL,
    used INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    finish_reason BLOB NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    generated_tokens INTEGER NOT NULL,
    content BLOB NOT NULL,
    reasoning BLOB NOT NULL,
    logprobs BLOB NOT NULL,
    tool_calls BLOB NOT NULL DEFAULT x''
  );
  CREATE INDEX answer_by_use ON answer (used, bytes);
  CREATE TABLE model_file (
    path BLOB PRIMARY KEY NOT NULL,
    bytes INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    content BLOB NOT NULL,
    family BLOB NOT NULL
  );
  PRAGMA application_id = 1196182856;
  PRAGMA user_version = 2;
)";

std::string_view view(const std::array<unsigned char, 16>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string pack(const std::vector<std::vector<protocol::TokenProbability>>& logprobs) {
  if (logprobs.empty()) return {};
  json tokens = json::array();
  for (const auto& choices : logprobs) {
    json row = json::array();
    for (const protocol::TokenProbability& choice : choices) {
      json& entry = row.emplace_back(json::array({choice.text, choice.logprob}));
      if (choice.constrained_logprob) entry.push_back(*choice.constrained_logprob);
    }
    tokens.push_back(std::move(row));
  }
  std::string packed;
  json::to_msgpack(tokens, packed);
  return packed;
}

std::vector<std::vector<protocol::TokenProbability>> unpack(const std::string& packed) {
  std::vector<std::vector<protocol::TokenProbability>> logprobs;
  if (packed.empty()) return logprobs;
  for (const json& row : json::from_msgpack(packed)) {
    auto& choices = logprobs.emplace_back();
    for (const json& entry : row) {
      protocol::TokenProbability& choice = choices.emplace_back();
      choice.text = entry.at(0).get<std::string>();
      choice.logprob = entry.at(1).get<float>();
      if (entry.size() > 2) choice.constrained_logprob = entry.at(2).get<float>();
    }
  }
  return logprobs;
}

std::string pack(const std::vector<protocol::ToolCall>& calls) {
  if (calls.empty()) return {};
  json list = json::array();
  for (const protocol::ToolCall& call : calls) {
    list.push_back(json::array({call.id, call.name, call.arguments, call.status, call.problem, call.source}));
  }
  std::string packed;
  json::to_msgpack(list, packed);
  return packed;
}

std::vector<protocol::ToolCall> unpack_calls(const std::string& packed) {
  std::vector<protocol::ToolCall> calls;
  if (packed.empty()) return calls;
  for (const json& call : json::from_msgpack(packed)) {
    calls.push_back({call.at(0), call.at(1), call.at(2), call.at(3), call.at(4), call.at(5)});
  }
  return calls;
}

// SQLite keeps no checksums of its own: a flipped bit in a text would be handed out as an answer.
std::int64_t checksum(const Hash128& key, const MemoAnswer& answer, const std::string& packed_logprobs,
                      const std::string& packed_calls) {
  std::string numbers;
  for (const std::uint64_t value : {std::uint64_t{answer.prompt_tokens}, std::uint64_t{answer.generated_tokens},
                                    std::uint64_t{answer.content.size()}, std::uint64_t{answer.reasoning.size()},
                                    std::uint64_t{answer.finish_reason.size()}}) {
    numbers += std::to_string(value) + ' ';
  }
  XXH64_hash_t hash = XXH3_64bits(key.bytes().data(), 16);
  for (const std::string* part :
       {&std::as_const(numbers), &answer.content, &answer.reasoning, &answer.finish_reason, &packed_logprobs}) {
    hash = XXH3_64bits_withSeed(part->data(), part->size(), hash);
  }
  if (!packed_calls.empty()) hash = XXH3_64bits_withSeed(packed_calls.data(), packed_calls.size(), hash);
  return static_cast<std::int64_t>(hash);
}

void make_file(const fs::path& file) {
  if (file.has_parent_path()) platform::make_private_folder(file.parent_path());
  if (!fs::exists(file)) {
    platform::write_private_file(file, "");  // SQLite gives the files beside it the same mode
    return;
  }
  std::error_code ignored;  // on a read-only disk the mode stays, and opening it for writing fails with its own words
  fs::permissions(file, fs::perms::group_all | fs::perms::others_all, fs::perm_options::remove, ignored);
}

SqliteConnection open_for_writing(const fs::path& file) {
  make_file(file);
  SqliteConnection connection(platform::to_utf8(file));
  const std::int64_t version = connection.integer("PRAGMA user_version");
  const std::int64_t tables = connection.integer("SELECT count(*) FROM sqlite_schema");
  if (tables == 0) {
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL");
  } else if (version < 1 || version > kSchemaVersion || connection.integer("PRAGMA application_id") != kApplicationId) {
    throw ForeignDatabase{version};
  }
  connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 16777216");
  if (tables == 0 || version == 1) {
    connection.execute("BEGIN IMMEDIATE");
    connection.execute(tables == 0 ? kSchema : kFromVersion1);
    connection.execute("COMMIT");
  }
  return connection;
}

}  // namespace

MemoWriter::MemoWriter(const fs::path& file, std::uint64_t limit_bytes)
    : limit_bytes_(limit_bytes), connection_(open_for_writing(file)) {
  insert_ = connection_.prepare(
      "INSERT INTO answer (key, used, bytes, checksum, finish_reason, prompt_tokens, generated_tokens, content, "
      "reasoning, logprobs, tool_calls) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)");
  touch_ = connection_.prepare("UPDATE answer SET used = ?2 WHERE key = ?1");
  find_bytes_ = connection_.prepare("SELECT bytes FROM answer WHERE key = ?1");
  erase_ = connection_.prepare("DELETE FROM answer WHERE key = ?1");
  oldest_ = connection_.prepare("SELECT key, bytes FROM answer ORDER BY used LIMIT 1");
  store_identity_ = connection_.prepare(
      "INSERT INTO model_file (path, bytes, modified, revision, content, family) VALUES (?1, ?2, ?3, ?4, ?5, ?6) "
      "ON CONFLICT (path) DO UPDATE SET bytes = ?2, modified = ?3, revision = ?4, content = ?5, family = ?6");
  next_use_ = connection_.integer("SELECT max(used) FROM answer") + 1;
  statistics_.bytes = static_cast<std::uint64_t>(connection_.integer("SELECT sum(bytes) FROM answer"));
  statistics_.answers = static_cast<std::uint64_t>(connection_.integer("SELECT count(*) FROM answer"));
  if (statistics_.bytes > limit_bytes_) {  // the limit was lowered
    apply({});
    connection_.execute("PRAGMA incremental_vacuum");
  }
}

void MemoWriter::apply(const Change& change) {
  const MemoStore::Statistics before = statistics_;
  connection_.execute("BEGIN IMMEDIATE");
  try {
    for (const Hash128& key : change.damaged) {
      const auto bytes = key.bytes();
      const bool there = find_bytes_->bind(1, view(bytes)).step();
      if (there) {
        statistics_.bytes -= static_cast<std::uint64_t>(find_bytes_->integer(0));
        --statistics_.answers;
      }
      find_bytes_->reset();
      erase_->bind(1, view(bytes)).run();
    }
    for (const Hash128& key : change.used) {
      const auto bytes = key.bytes();
      touch_->bind(1, view(bytes)).bind(2, next_use_++).run();
    }
    for (const auto& [key, answer] : change.answers) insert(key, answer);
    if (statistics_.bytes > limit_bytes_) evict();
    connection_.execute("COMMIT");
  } catch (...) {
    statistics_ = before;
    try {
      connection_.execute("ROLLBACK");
    } catch (const SqliteError&) {
      // A full disk may have ended the transaction already.
    }
    throw;
  }
}

void MemoWriter::insert(const Hash128& key, const MemoAnswer& answer) {
  const auto key_bytes = key.bytes();
  const std::string logprobs = pack(answer.logprobs);
  const std::string calls = pack(answer.tool_calls);
  const std::uint64_t bytes = kRowOverhead + answer.content.size() + answer.reasoning.size() +
                              answer.finish_reason.size() + logprobs.size() + calls.size();
  if (bytes > limit_bytes_) return;
  const bool there = find_bytes_->bind(1, view(key_bytes)).step();
  find_bytes_->reset();
  if (there) {  // equal keys have equal answers
    touch_->bind(1, view(key_bytes)).bind(2, next_use_++).run();
    return;
  }
  insert_->bind(1, view(key_bytes)).bind(2, next_use_++).bind(3, static_cast<std::int64_t>(bytes));
  insert_->bind(4, checksum(key, answer, logprobs, calls)).bind(5, answer.finish_reason);
  insert_->bind(6, std::int64_t{answer.prompt_tokens}).bind(7, std::int64_t{answer.generated_tokens});
  insert_->bind(8, answer.content).bind(9, answer.reasoning).bind(10, logprobs).bind(11, calls).run();
  statistics_.bytes += bytes;
  ++statistics_.answers;
}

// Makes a tenth of the limit free at once, so that a full store does not evict at every answer.
void MemoWriter::evict() {
  while (statistics_.bytes > limit_bytes_ - limit_bytes_ / 10) {
    if (!oldest_->step()) break;
    const std::string key = oldest_->bytes(0);
    const auto bytes = static_cast<std::uint64_t>(oldest_->integer(1));
    oldest_->reset();
    erase_->bind(1, std::string_view(key)).run();
    statistics_.bytes -= std::min(bytes, statistics_.bytes);
    --statistics_.answers;
  }
  oldest_->reset();
}

void MemoWriter::store_identity(const std::string& path, const FileStamp& stamp, const ModelIdentity& identity) {
  const auto content = identity.content.bytes();
  store_identity_->bind(1, path).bind(2, static_cast<std::int64_t>(stamp.bytes)).bind(3, stamp.modified);
  store_identity_->bind(4, std::int64_t{kAnswerRevision}).bind(5, view(content)).bind(6, identity.chat_template).run();
}

MemoReader::MemoReader(const fs::path& file)
    : connection_(platform::to_utf8(file)),
      find_(connection_.prepare("SELECT checksum, finish_reason, prompt_tokens, generated_tokens, content, reasoning, "
                                "logprobs, tool_calls FROM answer WHERE key = ?1")),
      find_identity_(connection_.prepare("SELECT content, family FROM model_file WHERE path = ?1 AND bytes = ?2 AND "
                                         "modified = ?3 AND revision = ?4")) {}

MemoReader::Found MemoReader::find(const Hash128& key) {
  const auto key_bytes = key.bytes();
  if (!find_.bind(1, view(key_bytes)).step()) {
    find_.reset();
    return {};
  }
  MemoAnswer answer;
  const std::int64_t expected = find_.integer(0);
  answer.finish_reason = find_.bytes(1);
  answer.prompt_tokens = static_cast<std::uint32_t>(find_.integer(2));
  answer.generated_tokens = static_cast<std::uint32_t>(find_.integer(3));
  answer.content = find_.bytes(4);
  answer.reasoning = find_.bytes(5);
  const std::string logprobs = find_.bytes(6);
  const std::string calls = find_.bytes(7);
  find_.reset();
  if (checksum(key, answer, logprobs, calls) != expected) return {std::nullopt, true};
  answer.logprobs = unpack(logprobs);
  answer.tool_calls = unpack_calls(calls);
  return {std::move(answer), false};
}

std::optional<ModelIdentity> MemoReader::find_identity(const std::string& path, const FileStamp& stamp) {
  find_identity_.bind(1, path).bind(2, static_cast<std::int64_t>(stamp.bytes)).bind(3, stamp.modified);
  std::optional<ModelIdentity> identity;
  if (find_identity_.bind(4, std::int64_t{kAnswerRevision}).step()) {
    identity = ModelIdentity{Hash128::from_bytes(find_identity_.bytes(0)), find_identity_.bytes(1)};
  }
  find_identity_.reset();
  return identity;
}

}  // namespace glmhost::daemon
