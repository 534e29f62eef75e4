#include "host/model_store/model_store.h"

#include <doctest/doctest.h>

#include "host/model_store/pull.h"
#include "tests/unit/host/model_store/temporary_folder.h"

using namespace glmhost::model_store;
namespace fs = std::filesystem;

namespace {
bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}
}  // namespace

TEST_CASE("the store lists whole models by name") {
  const TemporaryFolder folder;
  folder.write("store/smollm2-135m.gguf", "1234");
  folder.write("store/glm-4-9b-0414@q4_k_m.gguf", "12");
  folder.write("store/big@q8_0-00001-of-00002.gguf", "123");
  folder.write("store/big@q8_0-00002-of-00002.gguf", "4567");
  folder.write("store/half-00001-of-00002.gguf", "123");  // the other shard is missing
  folder.write("store/.incoming/x.gguf.part", "123");     // a download under way
  folder.write("store/notes.txt", "123");
  folder.write("store/Mein Modell ü 模型.GGUF", "12345");
  fs::create_directory(folder / "store/folder.gguf");
  const ModelStore store(folder / "store");

  const auto models = store.list();
  REQUIRE(models.size() == 4);
  CHECK(models[0].name == "Mein Modell ü 模型");
  CHECK(models[1].name == "big:q8_0");
  CHECK(models[1].bytes == 7);
  CHECK(models[1].path.filename() == "big@q8_0-00001-of-00002.gguf");
  CHECK(models[2].name == "glm-4-9b-0414:q4_k_m");
  CHECK(models[3].name == "smollm2-135m");
  CHECK(models[3].bytes == 4);
}

TEST_CASE("what stands after -m is a name or a path") {
  const TemporaryFolder folder;
  const fs::path only = folder.write("store/glm-4-9b-0414@q8_0.gguf", "12");
  folder.write("store/smollm2-135m.gguf", "1234");
  const fs::path outside = folder.write("else where/模型 x.gguf", "123");
  const ModelStore store(folder / "store");

  CHECK(store.resolve("").name == "smollm2-135m");
  CHECK(store.resolve("SmolLM2-135M").name == "smollm2-135m");
  CHECK(store.resolve("smollm2-135m:q4_1").name == "smollm2-135m");
  CHECK(store.resolve("glm-4-9b-0414").path == only);
  CHECK(store.resolve("glm-4-9b-0414:q8_0").path == only);
  const StoredModel by_path = store.resolve(glmhost::platform::to_utf8(outside));
  CHECK(by_path.path == outside);
  CHECK(by_path.name == glmhost::platform::to_utf8(outside));
  CHECK(by_path.bytes == 3);
}

TEST_CASE("without a name: the usual model, else the only one, else a question") {
  const TemporaryFolder folder;
  const ModelStore store(folder / "store");
  const auto sentence = [&] {
    try {
      return store.resolve("").name;
    } catch (const NoSuchModel& error) {
      return std::string(error.what());
    }
  };
  CHECK(contains(sentence(), "glm pull smollm2-135m"));
  folder.write("store/glm-4-9b-0414@q8_0.gguf", "12");
  CHECK(sentence() == "glm-4-9b-0414:q8_0");
  folder.write("store/another.gguf", "12");
  CHECK(sentence() ==
        "There are several models, so say which one with -m or as default_model in config.toml: `another`, "
        "`glm-4-9b-0414:q8_0`.");
  folder.write("store/smollm2-135m.gguf", "1234");
  CHECK(sentence() == "smollm2-135m");
}

TEST_CASE("a file without the usual ending is taken by its path") {
  const TemporaryFolder folder;
  const fs::path file = folder.write("weights.bin", "123");
  CHECK(ModelStore(folder / "store").resolve(glmhost::platform::to_utf8(file)).path == file);
}

TEST_CASE("among several quantisations the catalogue's choice wins, else the person says which") {
  const TemporaryFolder folder;
  folder.write("store/glm-4-9b-0414@q8_0.gguf", "12");
  folder.write("store/glm-4-9b-0414@q4_k_m.gguf", "12");
  folder.write("store/mine@q8_0.gguf", "12");
  folder.write("store/mine@q4_0.gguf", "12");
  const ModelStore store(folder / "store");
  CHECK(store.resolve("glm-4-9b-0414").name == "glm-4-9b-0414:q4_k_m");
  const std::string sentence = sentence_of([&] { store.resolve("mine"); });
  CHECK(contains(sentence, "`mine:q4_0`, `mine:q8_0`"));
}

TEST_CASE("any shard stands for its model") {
  const TemporaryFolder folder;
  const fs::path first = folder.write("big-00001-of-00002.gguf", "123");
  const fs::path second = folder.write("big-00002-of-00002.gguf", "45");
  const StoredModel model = ModelStore(folder / "store").resolve(glmhost::platform::to_utf8(second));
  CHECK(model.path == first);
  CHECK(model.bytes == 5);
}

TEST_CASE("what is not there is answered with what to do") {
  const TemporaryFolder folder;
  folder.write("store/smollm2-135m.gguf", "1234");
  folder.write("models/a.gguf", "1");
  fs::create_directory(folder / "empty");
  const ModelStore store(folder / "store");
  const auto sentence = [&](const std::string& name) { return sentence_of([&] { store.resolve(name); }); };
  const auto path = [&](std::string_view name) { return glmhost::platform::to_utf8(folder / name); };

  CHECK(contains(sentence("smolm2-135m"), "Did you mean `smollm2-135m`?"));
  CHECK(contains(sentence("glm-4-9b-0414"), "Bring it with `glm pull glm-4-9b-0414`"));
  CHECK(contains(sentence("nothing-like-it"), "glm models"));
  CHECK(contains(sentence(path("models")), "is a folder. Give a .gguf file in it: a.gguf."));
  CHECK(contains(sentence(path("empty")), "this folder has none"));
  CHECK(contains(sentence(path("models/b.gguf")), "There is no file"));
  CHECK(contains(sentence(path("nowhere/b.gguf")), "does not exist either"));
  CHECK(contains(sentence("b.gguf"), "There is no file `b.gguf`"));
  CHECK(contains(sentence(std::string("a\0b", 3)), "zero byte"));
  CHECK_THROWS_AS(store.resolve("x"), NoSuchModel);
}

TEST_CASE("a store that cannot be made is empty, and a pull says how to choose another folder") {
  const TemporaryFolder folder;
  const fs::path file = folder.write("file", "1");
  const fs::path model = folder.write("model.gguf", "1");
  const ModelStore store(file / "store");
  CHECK(store.list().empty());
  CHECK(store.resolve(glmhost::platform::to_utf8(model)).path == model);
  PullRequest request;
  request.source = glmhost::platform::to_utf8(model);
  const std::string sentence = sentence_of([&] { pull(store, request, {}); });
  CHECK(contains(sentence, "cannot be made"));
  CHECK(contains(sentence, "GLM_HOST_MODELS_FOLDER"));
}
