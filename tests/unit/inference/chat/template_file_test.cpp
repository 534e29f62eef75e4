// The vendors' own template files, run by the interpreter on the reference cases.
#include "inference/chat/template_file.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "inference/error.h"

namespace {

using namespace glmhost::chat;
using glmhost::tokenizer::Markers;
using glmhost::tokenizer::TextPart;

const std::filesystem::path kVectors = std::filesystem::path(GLMHOST_SHARED_DATA) / "vectors" / "templates";

std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE_MESSAGE(in.good(), path.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

SpecialTokens special_of(const Json& file) {
  SpecialTokens special;
  for (const auto& [name, token] : file["special"].items()) special.emplace_back(name, token.get<std::string>());
  return special;
}

std::string rendered(const glmhost::jinja::Template& source, Json request, const Json& file) {
  request["now"] = file["now"];
  try {
    return render(source, RenderRequest::for_template(request), special_of(file)).text();
  } catch (const glmhost::Error& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("the vendors' templates render all reference cases, tools included") {
  if (!std::filesystem::exists(kVectors)) {
    MESSAGE("skipped: no reference data beside the repository");
    return;
  }
  int cases = 0;
  for (const auto& folder : std::filesystem::directory_iterator(kVectors)) {
    if (!std::filesystem::exists(folder.path() / "cases.json")) continue;
    const Json file = Json::parse(read_text(folder.path() / "cases.json"));
    for (const Json& name : file["files"]) {
      const glmhost::jinja::Template source(read_text(kVectors / "files" / name.get<std::string>()));
      for (const Json& request : file["cases"]) {
        const char* expected = request.contains("error") ? "error" : "rendered";
        CHECK_MESSAGE(rendered(source, request, file) == request[expected].get<std::string>(), name.get<std::string>(),
                      " ", request["name"].get<std::string>());
        ++cases;
      }
    }
  }
  CHECK(cases == 762);
}
