#include "host/daemon/memo_store.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <thread>

#include "host/daemon/sqlite.h"
#include "host/platform/paths.h"
#include "tests/unit/host/daemon/temporary_folder.h"

namespace glmhost::daemon {
namespace {

namespace fs = std::filesystem;
using Answers = std::vector<std::pair<Hash128, MemoAnswer>>;

Log::Options quiet() {
  return {.folder = {}, .to_stderr = false, .level = settings::LogLevel::error};
}

struct Fixture {
  TemporaryFolder folder;
  Log log{quiet()};
  fs::path file = folder.path() / "data" / "memo.sqlite";

  MemoStore::Options options(std::uint64_t limit = 1u << 30) const {
    return {.file = file, .limit_bytes = limit, .retry_after = std::chrono::milliseconds(0)};
  }
  bool exists(const char* name) const { return fs::exists(file.parent_path() / name); }
};

Hash128 key(std::uint64_t number) {
  return {number * 0x9e3779b97f4a7c15u, ~number};
}

MemoAnswer answer(std::uint64_t number, std::size_t bytes = 40) {
  MemoAnswer out;
  out.content = "answer " + std::to_string(number) + " ";
  out.content.resize(std::max(bytes, out.content.size()), '.');
  out.reasoning = "because " + std::to_string(number);
  out.finish_reason = "stop";
  out.prompt_tokens = static_cast<std::uint32_t>(number);
  out.generated_tokens = 7;
  return out;
}

bool put(MemoStore& store, std::uint64_t number, std::size_t bytes = 40) {
  const Answers answers{{key(number), answer(number, bytes)}};
  return store.store(answers);
}

bool has(MemoStore& store, std::uint64_t number) {
  const auto found = store.find(key(number));
  return found && found->content.starts_with("answer " + std::to_string(number) + " ");
}

std::string read_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_CASE("an answer comes back whole, also from a store opened again") {
  const Fixture fixture;
  MemoAnswer whole = answer(1);
  whole.content = std::string("nul \0 byte, 中文, \xF0\x9F\x98\x80", 24);
  whole.logprobs = {{{"a", -0.25f, -0.125f}, {"\xEF\xBF\xBD", -3.5f, std::nullopt}}, {}, {{"", 0.0f, std::nullopt}}};
  whole.tool_calls = {{"call_0", "get_weather", R"({"city":"北京"})", "complete", "", "<tool_call>..."},
                      {"call_1", "", "{}", "cut_off", "The answer ended.", ""}};
  {
    Log log(quiet());
    MemoStore store(fixture.options(), log);
    CHECK(store.problem().empty());
    CHECK_FALSE(store.find(key(1)).has_value());
    CHECK(store.store(Answers{{key(1), whole}, {key(2), MemoAnswer{}}}));
  }
  Log log(quiet());
  MemoStore store(fixture.options(), log);
  const auto found = store.find(key(1));
  REQUIRE(found.has_value());
  CHECK(found->content == whole.content);
  CHECK(found->reasoning == whole.reasoning);
  CHECK(found->finish_reason == "stop");
  CHECK(found->prompt_tokens == 1);
  CHECK(found->generated_tokens == 7);
  CHECK(found->logprobs == whole.logprobs);
  CHECK(found->tool_calls == whole.tool_calls);
  CHECK(store.find(key(2)).has_value());  // empty texts are texts
  CHECK_FALSE(store.find(key(3)).has_value());
  CHECK(store.statistics().answers == 2);
}

// As the program wrote it before answers could have calls of tools, with the checksum that it wrote.
void write_version_1(const fs::path& file) {
  fs::create_directories(file.parent_path());
  SqliteConnection connection(platform::to_utf8(file));
  connection.execute(R"(
    PRAGMA auto_vacuum = INCREMENTAL;
    CREATE TABLE answer (
      key BLOB PRIMARY KEY NOT NULL, used INTEGER NOT NULL, bytes INTEGER NOT NULL, checksum INTEGER NOT NULL,
      finish_reason BLOB NOT NULL, prompt_tokens INTEGER NOT NULL, generated_tokens INTEGER NOT NULL,
      content BLOB NOT NULL, reasoning BLOB NOT NULL, logprobs BLOB NOT NULL);
    CREATE INDEX answer_by_use ON answer (used, bytes);
    CREATE TABLE model_file (
      path BLOB PRIMARY KEY NOT NULL, bytes INTEGER NOT NULL, modified INTEGER NOT NULL, revision INTEGER NOT NULL,
      content BLOB NOT NULL, family BLOB NOT NULL);
    PRAGMA application_id = 1196182856;
    PRAGMA user_version = 1;)");
  const MemoAnswer old = answer(1);
  const auto key_bytes = key(1).bytes();
  connection.prepare("INSERT INTO answer VALUES (?1, 1, 300, ?2, ?3, 1, 7, ?4, ?5, ?6)")
      .bind(1, {reinterpret_cast<const char*>(key_bytes.data()), key_bytes.size()})
      .bind(2, std::int64_t{-4911540028647204406})
      .bind(3, old.finish_reason)
      .bind(4, old.content)
      .bind(5, old.reasoning)
      .bind(6, "")
      .run();
}

TEST_CASE("the answers of a file of version 1 are taken over") {
  Fixture fixture;
  write_version_1(fixture.file);
  MemoAnswer with_calls = answer(2);
  with_calls.tool_calls = {{"call_0", "f", "{}", "complete", "", "f"}};
  for (int opened = 0; opened < 2; ++opened) {
    MemoStore store(fixture.options(), fixture.log);
    CHECK(store.problem().empty());
    REQUIRE(has(store, 1));
    CHECK(store.find(key(1))->tool_calls.empty());
    CHECK(store.statistics().answers == std::size_t{1} + static_cast<std::size_t>(opened));
    CHECK(store.store(Answers{{key(2), with_calls}}));
    REQUIRE(store.find(key(2)).has_value());
    CHECK(store.find(key(2))->tool_calls == with_calls.tool_calls);
  }
  CHECK_FALSE(fixture.exists("memo.sqlite.version-1"));
  CHECK_FALSE(fixture.exists("memo.sqlite.damaged"));
}

#ifndef _WIN32
TEST_CASE("only this user can read the files") {
  Fixture fixture;
  fs::create_directories(fixture.file.parent_path());
  std::ofstream(fixture.file).close();
  fs::permissions(fixture.file, fs::perms::all);
  MemoStore store(fixture.options(), fixture.log);
  REQUIRE(put(store, 1));
  for (const auto& entry : fs::directory_iterator(fixture.file.parent_path())) {
    CAPTURE(entry.path());
    CHECK((entry.status().permissions() & (fs::perms::group_all | fs::perms::others_all)) == fs::perms::none);
  }
  CHECK((fs::status(fixture.file.parent_path()).permissions() & (fs::perms::group_all | fs::perms::others_all)) ==
        fs::perms::none);
}
#endif

TEST_CASE("storing an equal answer twice is no failure and costs no space") {
  Fixture fixture;
  MemoStore store(fixture.options(), fixture.log);
  CHECK(put(store, 1));
  const auto before = store.statistics();
  CHECK(put(store, 1));
  CHECK(store.statistics().bytes == before.bytes);
  CHECK(store.statistics().answers == 1);
}

TEST_CASE("the size is bounded, and what was not used for longest goes first") {
  Fixture fixture;
  constexpr std::uint64_t limit = 100'000;
  {
    MemoStore store(fixture.options(limit), fixture.log);
    for (std::uint64_t number = 0; number < 80; ++number) REQUIRE(put(store, number, 1000));
    REQUIRE(store.statistics().answers == 80);
    REQUIRE(has(store, 0));
    for (std::uint64_t number = 80; number < 120; ++number) REQUIRE(put(store, number, 1000));
    CHECK(store.statistics().bytes <= limit);
    CHECK(has(store, 0));  // used lately
    CHECK_FALSE(has(store, 1));
    CHECK(has(store, 119));
    // Larger than everything: left out, and nothing is thrown away for it.
    const auto before = store.statistics();
    CHECK(put(store, 500, 200'000));
    CHECK_FALSE(has(store, 500));
    CHECK(store.statistics().answers == before.answers);
  }
  // A lower limit takes effect at once, and the order of use has outlived the restart.
  MemoStore store(fixture.options(limit / 10), fixture.log);
  CHECK(store.statistics().bytes <= limit / 10);
  CHECK(has(store, 119));
}

TEST_CASE("a model's identity counts only for the file it was computed from") {
  Fixture fixture;
  const fs::path model = fixture.folder.path() / "model.gguf";
  const ModelIdentity identity{{1, 2}, "glm-4.6"};
  {
    MemoStore store(fixture.options(), fixture.log);
    CHECK_FALSE(store.find_identity(model, {10, 20}).has_value());
    store.store_identity(model, {10, 20}, {{9, 9}, "old"});
    store.store_identity(model, {10, 20}, identity);
  }
  MemoStore store(fixture.options(), fixture.log);
  const auto found = store.find_identity(model, {10, 20});
  REQUIRE(found.has_value());
  CHECK(found->content == identity.content);
  CHECK(found->chat_template == identity.chat_template);
  CHECK_FALSE(store.find_identity(model, {10, 21}).has_value());
  CHECK_FALSE(store.find_identity(model, {11, 20}).has_value());
  CHECK_FALSE(store.find_identity(fixture.folder.path() / "other.gguf", {10, 20}).has_value());
}

TEST_CASE("a file that is no database is set aside and begun anew") {
  Fixture fixture;
  fs::create_directories(fixture.file.parent_path());
  for (const std::string& junk :
       {std::string(5000, 'x'), std::string("SQLite format 3\0", 16) + std::string(84, '\xff'), std::string("short")}) {
    std::ofstream(fixture.file, std::ios::binary | std::ios::trunc) << junk;
    MemoStore store(fixture.options(), fixture.log);
    CHECK(store.problem().empty());
    CHECK(put(store, 1));
    CHECK(has(store, 1));
    CHECK(fixture.exists("memo.sqlite.damaged"));
    CHECK(read_file(fixture.file.parent_path() / "memo.sqlite.damaged") == junk);
  }
}

TEST_CASE("a database of another version or program is set aside, not destroyed") {
  Fixture fixture;
  fs::create_directories(fixture.file.parent_path());
  {
    SqliteConnection other(platform::to_utf8(fixture.file));
    other.execute("CREATE TABLE precious (x); PRAGMA user_version = 12");
  }
  MemoStore store(fixture.options(), fixture.log);
  CHECK(put(store, 1));
  REQUIRE(fixture.exists("memo.sqlite.version-12"));
  SqliteConnection kept(platform::to_utf8(fixture.file.parent_path() / "memo.sqlite.version-12"));
  CHECK(kept.integer("SELECT count(*) FROM precious") == 0);
}

TEST_CASE("a database with our version but other tables is set aside") {
  Fixture fixture;
  fs::create_directories(fixture.file.parent_path());
  {
    SqliteConnection other(platform::to_utf8(fixture.file));
    other.execute("CREATE TABLE answer (x); PRAGMA user_version = 1; PRAGMA application_id = 1196182856");
  }
  MemoStore store(fixture.options(), fixture.log);
  CHECK(put(store, 1));
  CHECK(fixture.exists("memo.sqlite.damaged"));
}

TEST_CASE("every damaged byte of the file gives an answer as it was stored, or none") {
  Fixture fixture;
  {
    MemoStore store(fixture.options(), fixture.log);
    for (std::uint64_t number = 0; number < 20; ++number) REQUIRE(put(store, number, 300));
  }
  const std::string sound = read_file(fixture.file);
  REQUIRE(sound.size() > 4096);
  std::size_t lost = 0;
  for (std::size_t at = 0; at < sound.size(); at += 653) {
    CAPTURE(at);
    std::string damaged = sound;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x5a);
    for (const char* suffix : {"", "-wal", "-shm"}) {
      fs::path name = fixture.file;
      name += suffix;
      fs::remove(name);
    }
    std::ofstream(fixture.file, std::ios::binary | std::ios::trunc) << damaged;
    MemoStore store(fixture.options(), fixture.log);
    for (std::uint64_t number = 0; number < 20; ++number) {
      const auto found = store.find(key(number));
      if (!found) {
        ++lost;
        continue;
      }
      CHECK(found->content == answer(number, 300).content);
      CHECK(found->reasoning == answer(number).reasoning);
      CHECK(found->prompt_tokens == number);
    }
    CHECK(put(store, 100));
    CHECK(has(store, 100));
    CHECK(put(store, 3));  // also where row 3 is the damaged one
    CHECK(has(store, 3));
  }
  CHECK(lost > 0);
}

TEST_CASE("a file cut short at any length is no failure") {
  Fixture fixture;
  {
    MemoStore store(fixture.options(), fixture.log);
    for (std::uint64_t number = 0; number < 20; ++number) REQUIRE(put(store, number, 300));
  }
  const std::string sound = read_file(fixture.file);
  for (std::size_t size = 0; size < sound.size(); size += 2003) {
    CAPTURE(size);
    std::ofstream(fixture.file, std::ios::binary | std::ios::trunc) << sound.substr(0, size);
    MemoStore store(fixture.options(), fixture.log);
    for (std::uint64_t number = 0; number < 20; ++number) {
      if (const auto found = store.find(key(number))) CHECK(found->content == answer(number, 300).content);
    }
    CHECK(put(store, 100));
    CHECK(has(store, 100));
  }
}

TEST_CASE("a file deleted under a running store is begun anew") {
  Fixture fixture;
  MemoStore store(fixture.options(), fixture.log);
  REQUIRE(put(store, 1));
  fs::remove_all(fixture.file.parent_path());
  CHECK(put(store, 2));
  CHECK(has(store, 2));
  CHECK_FALSE(has(store, 1));
  CHECK(fs::exists(fixture.file));
}

TEST_CASE("a folder that cannot be made means no memo and a sentence, until it can") {
  Fixture fixture;
  std::ofstream(fixture.file.parent_path()) << "a file where the folder should be";
  MemoStore store(fixture.options(), fixture.log);
  CHECK_FALSE(store.problem().empty());
  CHECK_FALSE(put(store, 1));
  CHECK_FALSE(has(store, 1));
  CHECK(store.problem().find("not kept") != std::string::npos);
  CHECK(store.statistics().answers == 0);
  fs::remove(fixture.file.parent_path());
  CHECK(put(store, 1));
  CHECK(has(store, 1));
  CHECK(store.problem().empty());
}

TEST_CASE("a disk that refused is left alone for a while") {
  Fixture fixture;
  std::ofstream(fixture.file.parent_path()) << "x";
  MemoStore::Options options = fixture.options();
  options.retry_after = std::chrono::hours(1);
  MemoStore store(options, fixture.log);
  fs::remove(fixture.file.parent_path());
  CHECK_FALSE(put(store, 1));
  CHECK_FALSE(store.problem().empty());
}

TEST_CASE("many threads find and store at once") {
  Fixture fixture;
  MemoStore store(fixture.options(60'000), fixture.log);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::uint64_t i = 0; i < 50; ++i) {
        const std::uint64_t number = thread * 1000 + i;
        if (!put(store, number, 200) || !has(store, number)) ++wrong;
        has(store, (thread + 1) % 4 * 1000 + i);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(store.statistics().bytes <= 60'000);
}

TEST_CASE("damage met by many threads at once costs one file, not the new one too") {
  Fixture fixture;
  {
    MemoStore store(fixture.options(), fixture.log);
    for (std::uint64_t number = 0; number < 200; ++number) REQUIRE(put(store, number, 300));
  }
  // All pages but the first: the file opens, and every lookup meets damage.
  std::string damaged = read_file(fixture.file);
  for (std::size_t at = 4096; at < damaged.size(); ++at) damaged[at] = '\x7f';
  std::ofstream(fixture.file, std::ios::binary | std::ios::trunc) << damaged;
  MemoStore store(fixture.options(), fixture.log);
  std::vector<std::thread> threads;
  std::atomic<int> kept{0};
  for (std::uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::uint64_t i = 0; i < 20; ++i) has(store, i);
      if (put(store, 5000 + thread)) ++kept;
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(kept == 4);
  for (std::uint64_t thread = 0; thread < 4; ++thread) CHECK(has(store, 5000 + thread));
  CHECK(fixture.exists("memo.sqlite.damaged"));
}

}  // namespace
}  // namespace glmhost::daemon
