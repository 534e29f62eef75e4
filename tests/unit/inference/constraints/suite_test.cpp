// The JSON-Schema-Test-Suite, draft 2020-12: what it calls valid is taken token by token, what it calls invalid is not.
//
// The suite is other people's data beside the project; without it these tests are skipped and schema_test.cpp holds.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "inference/constraints/schema_document.h"
#include "walk.h"

namespace glmhost::constraints::testing {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

struct Counts {
  int valid = 0, invalid = 0, refused_schemas = 0, refused_cases = 0, otherwise = 0;
  std::vector<std::string> wrong;
  std::map<std::string, int> unsupported;
  std::map<std::string, int> refused;  // contradictions and the like
};

// Cases that come out differently on purpose.
const std::set<std::string> kOtherwise = {
    // Numbers beyond 2^64 reach this test with an exponent, in which integers and bounded numbers are not written.
    "bignum", "float-overflow",
    // 9007199254740992.0 the same.
    "const: float and integers are equal up to 64-bit representation limits",
    // Leap seconds with an offset are not told from wrong ones, and so refused.
    "time: valid leap second", "date-time: a valid date-time with a leap second, with minus offset",
    // Names of other scripts (xn--) are refused: which of them are valid would need IDNA's tables.
    "hostname: xn--"};

bool otherwise(const std::string& file, const std::string& group, const std::string& test, const std::string& data) {
  return kOtherwise.contains(file) || kOtherwise.contains(file + ": " + group) ||
         std::ranges::any_of(kOtherwise,
                             [&](const std::string& one) { return (file + ": " + test).starts_with(one); }) ||
         (file == "hostname" && data.find("xn--") != std::string::npos);
}

void run_file(const fs::path& path, bool formats, Counts& counts) {
  std::ifstream file(path);
  for (const Json& group : Json::parse(file)) {
    Spec spec = schema(group["schema"].dump());
    spec.assert_formats = formats;
    const std::string name = path.stem().string() + ": " + group["description"].get<std::string>();
    std::shared_ptr<const Constraint> constraint;
    bool contradiction = false;
    try {
      constraint = compiled(spec);
    } catch (const UnsupportedKeyword& error) {
      ++counts.unsupported[error.keyword()];
    } catch (const Error& error) {
      contradiction = std::string(error.what()).starts_with("The schema contradicts itself");
      if (!contradiction) ++counts.refused[name + ": " + error.what()];
    }
    if (!constraint && !contradiction) {
      ++counts.refused_schemas;
      counts.refused_cases += static_cast<int>(group["tests"].size());
      continue;
    }
    for (const Json& test : group["tests"]) {
      const bool valid = test["valid"].get<bool>();
      ++(valid ? counts.valid : counts.invalid);
      for (const std::uint32_t seed : {0u, 7u}) {
        const bool taken = constraint && takes(constraint, test["data"].dump(), seed);
        if (taken == valid) continue;
        if (otherwise(path.stem().string(), group["description"], test["description"], test["data"].dump())) {
          ++counts.otherwise;
          break;
        }
        counts.wrong.push_back(name + ": " + test["description"].get<std::string>() +
                               (valid ? " [valid] " : " [invalid] ") + test["data"].dump().substr(0, 80));
        break;
      }
    }
  }
}

void report(const Counts& counts) {
  std::string text = std::to_string(counts.valid) + " valid and " + std::to_string(counts.invalid) +
                     " invalid cases; " + std::to_string(counts.refused_schemas) + " schemas with " +
                     std::to_string(counts.refused_cases) + " cases refused, " + std::to_string(counts.otherwise) +
                     " cases otherwise on purpose:";
  for (const auto& [keyword, count] : counts.unsupported) text += " " + keyword + " (" + std::to_string(count) + ")";
  for (const auto& [what, count] : counts.refused) text += "\n  refused: " + what;
  for (const std::string& wrong : counts.wrong) text += "\n  wrong: " + wrong;
  MESSAGE(text);
}

const fs::path kSuite = fs::path(GLMHOST_SHARED_DATA) / "vectors/json-schema/suite/tests/draft2020-12";

TEST_CASE("the JSON-Schema-Test-Suite, required part") {
  if (!fs::exists(kSuite)) {
    MESSAGE("skipped: the JSON-Schema-Test-Suite is not there");
    return;
  }
  Counts counts;
  for (const auto& entry : fs::directory_iterator(kSuite)) {
    // The suite's `format` is a remark here, and an assertion in its optional part.
    if (entry.path().extension() == ".json") run_file(entry.path(), false, counts);
  }
  report(counts);
  CHECK(counts.wrong.empty());
  CHECK(counts.refused.empty());
}

TEST_CASE("the JSON-Schema-Test-Suite, formats") {
  if (!fs::exists(kSuite)) return;
  Counts counts;
  for (const auto& entry : fs::directory_iterator(kSuite / "optional/format")) {
    run_file(entry.path(), true, counts);
  }
  report(counts);
  CHECK(counts.wrong.empty());
}

TEST_CASE("the JSON-Schema-Test-Suite, optional part") {
  if (!fs::exists(kSuite)) return;
  Counts counts;
  for (const auto& entry : fs::directory_iterator(kSuite / "optional")) {
    if (entry.path().extension() == ".json") run_file(entry.path(), false, counts);
  }
  report(counts);
  CHECK(counts.wrong.empty());
}

}  // namespace
}  // namespace glmhost::constraints::testing
