// Rendered prompts against what the vendors' own templates render (tests/data/templates/README.md).
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "inference/chat/template.h"
#include "inference/error.h"

namespace {

using glmhost::chat::Json;

Json read_json(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE_MESSAGE(in.good(), path.string());
  return Json::parse(in);
}

// What the case renders to, or the error's sentence.
std::string rendered(const std::string& family, Json request, const Json& now) {
  request["now"] = now;
  try {
    return glmhost::chat::render(*glmhost::chat::find_family(family), glmhost::chat::RenderRequest::from_json(request))
        .text();
  } catch (const glmhost::Error& error) {
    CHECK(error.kind() == glmhost::ErrorKind::bad_argument);
    return error.what();
  }
}

int check_file(const std::string& family, const std::filesystem::path& path) {
  const Json file = read_json(path);
  int cases = 0;
  for (const Json& request : file["cases"]) {
    const char* expected = request.contains("error") ? "error" : "rendered";
    CHECK_MESSAGE(rendered(family, request, file["now"]) == request[expected].get<std::string>(), family, " ",
                  request["name"].get<std::string>());
    ++cases;
  }
  return cases;
}

}  // namespace

TEST_CASE("every family renders the kept cases as the vendor's template does") {
  const std::filesystem::path folder = std::filesystem::path(GLMHOST_TEST_DATA) / "templates";
  int cases = 0;
  for (const char* family : {"glm-4-9b-chat", "glm-edge", "glm-z1", "glm-4.6", "glm-4.7-flash", "glm-5.2", "smollm2",
                             "gemma-3", "llama-3.1", "llama-3.2"}) {
    cases += check_file(family, folder / (std::string(family) + ".json"));
  }
  CHECK(cases == 356);
}

TEST_CASE("corners of the templates render as the vendor's template does") {
  const Json file = read_json(std::filesystem::path(GLMHOST_TEST_DATA) / "templates" / "corners.json");
  CHECK(file["cases"].size() == 113);
  for (const Json& request : file["cases"]) {
    const std::string family = request["family"].get<std::string>();
    const char* expected = request.contains("error") ? "error" : "rendered";
    CHECK_MESSAGE(rendered(family, request, file["now"]) == request[expected].get<std::string>(), family, " ",
                  request["name"].get<std::string>());
  }
}

TEST_CASE("every family renders all reference cases, tools included") {
  const std::filesystem::path folder = std::filesystem::path(GLMHOST_SHARED_DATA) / "vectors" / "templates";
  if (!std::filesystem::exists(folder)) {
    MESSAGE("skipped: no reference data beside the repository");
    return;
  }
  int cases = 0;
  for (const char* family : {"glm-4-9b-chat", "glm-edge", "glm-z1", "glm-4.6", "glm-4.7-flash", "glm-5.2", "smollm2",
                             "gemma-3", "llama-3.1", "llama-3.2"}) {
    cases += check_file(family, folder / family / "cases.json");
  }
  CHECK(cases == 516);
}
