// A JSON Schema as a document: its subschemas, their base addresses, and what $ref means in it.
//
// Thread rules: immutable after construction.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>

#include "inference/error.h"

namespace glmhost::constraints {

using SchemaJson = nlohmann::ordered_json;

// A keyword that is sound but not supported.
class UnsupportedKeyword : public Error {
 public:
  UnsupportedKeyword(std::string keyword, const std::string& sentence)
      : Error(ErrorKind::unsupported, sentence), keyword_(std::move(keyword)) {}
  const std::string& keyword() const { return keyword_; }

 private:
  std::string keyword_;
};

class SchemaDocument {
 public:
  // Throws Error(bad_argument): not JSON (line and column), not a schema, nested more than 500 deep, larger than 16
  // MiB.
  explicit SchemaDocument(std::string_view text);
  SchemaDocument(const SchemaDocument&) = delete;
  SchemaDocument& operator=(const SchemaDocument&) = delete;

  const SchemaJson& root() const { return root_; }
  // Drafts 3 to 7: what stands beside $ref does not count.
  bool reference_stands_alone() const { return legacy_; }

  // What REFERENCE, written in FROM, names. Throws Error(bad_argument) for what is not there,
  // UnsupportedKeyword("$ref") for another document.
  const SchemaJson& resolve(const SchemaJson& from, std::string_view keyword, const std::string& reference) const;

  // Where a part stands, as in "#/properties/name".
  std::string path_of(const SchemaJson& part) const;

 private:
  void index(const SchemaJson& schema, const std::string& base, int depth);
  const SchemaJson* walk_pointer(const SchemaJson& from, std::string_view pointer) const;

  SchemaJson root_;
  bool legacy_ = false;
  std::unordered_map<const SchemaJson*, std::string> bases_;
  std::map<std::string, const SchemaJson*, std::less<>> resources_;  // by address, without fragment
  std::map<std::string, const SchemaJson*, std::less<>> anchors_;    // by address#anchor
};

}  // namespace glmhost::constraints
