#include "host/model_store/pull.h"

#include <doctest/doctest.h>

#include <stdexcept>

#include "host/model_store/sha256.h"
#include "host/platform/file_lock.h"
#include "tests/unit/host/model_store/temporary_folder.h"

using namespace glmhost::model_store;
namespace fs = std::filesystem;

namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string utf8(const fs::path& path) {
  return glmhost::platform::to_utf8(path);
}

std::string digest_of(std::string_view bytes) {
  Sha256 digest;
  digest.update(bytes);
  return digest.finish();
}

// Whether anything but locks is left of a pull.
bool incoming_is_clean(const fs::path& store) {
  for (const auto& entry : fs::directory_iterator(store / ".incoming")) {
    if (entry.path().extension() != ".lock") return false;
  }
  return true;
}

}  // namespace

TEST_CASE("a local file is copied into the store") {
  const TemporaryFolder folder;
  const std::string bytes(5'000'000, 'm');
  const fs::path source = folder.write("else where/My-Model.Q4_1.gguf", bytes);
  const ModelStore store(folder / "store");

  PullRequest request;
  request.source = utf8(source);
  fs::path checked;
  request.check = [&](const fs::path& file) { checked = file; };
  std::uint64_t last = 0;
  PullMonitor monitor;
  monitor.progress = [&](const PullProgress& progress) {
    CHECK(progress.total == bytes.size());
    CHECK(progress.done >= last);
    last = progress.done;
  };
  const PullResult result = pull(store, request, monitor);
  CHECK_FALSE(result.was_there);
  CHECK(result.model.name == "my-model:q4_1");
  CHECK(result.model.path == folder / "store/my-model@q4_1.gguf");
  CHECK(read_bytes(result.model.path) == bytes);
  CHECK(fs::exists(source));
  CHECK(checked.filename() == "my-model@q4_1.gguf");
  CHECK(last == bytes.size());
  CHECK(incoming_is_clean(store.folder()));

  // Again: nothing to do. Another file of the same name: refused, unless it may replace.
  CHECK(pull(store, request, {}).was_there);
  folder.write("else where/My-Model.Q4_1.gguf", std::string(5'000'000, 'n'));
  CHECK(contains(sentence_of([&] { pull(store, request, {}); }), "--replace"));
  CHECK(read_bytes(result.model.path) == bytes);
  request.replace = true;
  CHECK_FALSE(pull(store, request, {}).was_there);
  CHECK(read_bytes(result.model.path) == std::string(5'000'000, 'n'));
}

TEST_CASE("all shards of a model are copied") {
  const TemporaryFolder folder;
  folder.write("big-00001-of-00003.gguf", "one");
  folder.write("big-00002-of-00003.gguf", "second");
  const fs::path last = folder.write("big-00003-of-00003.gguf", "third");
  const ModelStore store(folder / "store");
  PullRequest request;
  request.source = utf8(last);
  request.name = "huge:q8_0";
  const PullResult result = pull(store, request, {});
  CHECK(result.model.name == "huge:q8_0");
  CHECK(result.model.bytes == 14);
  CHECK(read_bytes(folder / "store/huge@q8_0-00002-of-00003.gguf") == "second");

  fs::remove(folder / "big-00002-of-00003.gguf");
  CHECK(contains(sentence_of([&] { pull(store, request, {}); }), "is missing"));
}

TEST_CASE("a model that replaces a split one leaves no shards behind") {
  const TemporaryFolder folder;
  folder.write("store/m-00001-of-00002.gguf", "one");
  folder.write("store/m-00002-of-00002.gguf", "two");
  const ModelStore store(folder / "store");
  PullRequest request;
  request.source = utf8(folder.write("new.gguf", "whole"));
  request.name = "m";
  CHECK(contains(sentence_of([&] { pull(store, request, {}); }), "--replace"));
  request.replace = true;
  CHECK(pull(store, request, {}).model.path == folder / "store/m.gguf");
  CHECK(store.list().size() == 1);
  CHECK_FALSE(fs::exists(folder / "store/m-00002-of-00002.gguf"));
}

TEST_CASE("a name that is taken does not pass for another model") {
  const TemporaryFolder folder;
  folder.write("store/mine.gguf", "something else");
  const ModelStore store(folder / "store");
  PullRequest request;
  request.source = "glm-4-9b-0414";
  request.name = "mine";
  CHECK(contains(sentence_of([&] { pull(store, request, {}); }), "--replace"));
}

TEST_CASE("a file that fails the caller's check or its digest never gets into the store") {
  const TemporaryFolder folder;
  const fs::path source = folder.write("model.gguf", "this is no model");
  const ModelStore store(folder / "store");
  PullRequest request;
  request.source = utf8(source);
  std::vector<fs::path> checked;
  request.check = [&](const fs::path& file) {
    checked.push_back(file);
    throw std::runtime_error("This is no model.");
  };
  CHECK(sentence_of([&] { pull(store, request, {}); }) == "This is no model.");
  CHECK(checked == std::vector<fs::path>{source});  // before it was copied
  CHECK(store.list().empty());

  request.check = [&](const fs::path& file) {
    if (file != source) throw std::runtime_error("The copy is no model.");
  };
  CHECK(sentence_of([&] { pull(store, request, {}); }) == "The copy is no model.");
  CHECK(store.list().empty());
  CHECK(incoming_is_clean(store.folder()));

  request.check = nullptr;
  request.sha256 = std::string(64, '0');
  const std::string sentence = sentence_of([&] { pull(store, request, {}); });
  CHECK(contains(sentence, digest_of("this is no model")));
  CHECK(store.list().empty());
  CHECK(incoming_is_clean(store.folder()));

  request.sha256 = digest_of("this is no model");
  CHECK(pull(store, request, {}).model.name == "model");
}

TEST_CASE("a cancelled pull leaves the store as it was") {
  const TemporaryFolder folder;
  const fs::path source = folder.write("model.gguf", std::string(20'000'000, 'm'));
  const ModelStore store(folder / "store");
  std::atomic<bool> cancel = false;
  PullMonitor monitor;
  monitor.cancel = &cancel;
  monitor.progress = [&](const PullProgress& progress) { cancel = progress.done > 0; };
  PullRequest request;
  request.source = utf8(source);
  CHECK_THROWS_AS(pull(store, request, monitor), PullCancelled);
  CHECK(store.list().empty());
  cancel = false;
  monitor.progress = nullptr;
  CHECK(pull(store, request, monitor).model.bytes == 20'000'000);
}

TEST_CASE("two pulls of one model do not disturb each other") {
  const TemporaryFolder folder;
  const fs::path source = folder.write("model.gguf", "m");
  const ModelStore store(folder / "store");
  fs::create_directories(store.folder() / ".incoming");
  const auto lock = glmhost::platform::FileLock::try_acquire(store.folder() / ".incoming/model.lock");
  REQUIRE(lock);
  PullRequest request;
  request.source = utf8(source);
  CHECK(contains(sentence_of([&] { pull(store, request, {}); }), "Another `glm pull`"));
}

TEST_CASE("a source that cannot be used is answered with what to do") {
  const TemporaryFolder folder;
  const ModelStore store(folder / "store");
  const auto sentence = [&](const std::string& source, const std::string& name = "", const std::string& sha256 = "") {
    PullRequest request;
    request.source = source;
    request.name = name;
    request.sha256 = sha256;
    return sentence_of([&] { pull(store, request, {}); });
  };
  folder.write("工程.gguf", "x");
  folder.write("a.gguf", "x");
  CHECK(contains(sentence(utf8(folder / "absent.gguf")), "There is no file"));
  CHECK(contains(sentence(utf8(folder.path())), "is a folder"));
  CHECK(contains(sentence(utf8(folder / "工程.gguf")), "--name"));
  CHECK(contains(sentence(utf8(folder / "a.gguf"), "../../x"), "cannot be a model's name"));
  CHECK(contains(sentence(utf8(folder / "a.gguf"), "", "12"), "64 hexadecimal digits"));
  CHECK(contains(sentence("http://example.org/x.gguf"), "only https://"));
  CHECK(contains(sentence("glm-4-9b-414"), "Did you mean `glm-4-9b-0414`?"));
  CHECK(contains(sentence("glm-4-9b-0414:q1"), "q4_k_m"));
}
