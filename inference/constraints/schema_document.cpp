#include "inference/constraints/schema_document.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "inference/constraints/web_address.h"

namespace glmhost::constraints {
namespace {

constexpr std::size_t kMostBytes = 16u << 20;
constexpr int kMostDepth = 500;

// Keywords whose value is a schema, a list of schemas, or an object of schemas.
constexpr std::array<std::string_view, 12> kSchemas = {"additionalItems",
                                                       "additionalProperties",
                                                       "contains",
                                                       "contentSchema",
                                                       "else",
                                                       "if",
                                                       "items",
                                                       "not",
                                                       "then",
                                                       "unevaluatedProperties",
                                                       "propertyNames",
                                                       "unevaluatedItems"};
constexpr std::array<std::string_view, 5> kLists = {"allOf", "anyOf", "oneOf", "prefixItems", "items"};
constexpr std::array<std::string_view, 6> kMaps = {"$defs",      "definitions",       "dependencies",
                                                   "properties", "patternProperties", "dependentSchemas"};

int depth_of(std::string_view text) {
  int depth = 0, deepest = 0;
  bool inside_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inside_string) {
      if (c == '\\') ++i;
      if (c == '"') inside_string = false;
    } else if (c == '"') {
      inside_string = true;
    } else if (c == '{' || c == '[') {
      deepest = std::max(deepest, ++depth);
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return deepest;
}

}  // namespace

SchemaDocument::SchemaDocument(std::string_view text) {
  if (text.size() > kMostBytes) throw Error(ErrorKind::bad_argument, "The schema is larger than 16 MiB.");
  if (depth_of(text) > kMostDepth) {
    throw Error(ErrorKind::bad_argument, "The schema is nested more than " + std::to_string(kMostDepth) + " deep.");
  }
  try {
    root_ = SchemaJson::parse(text);
  } catch (const nlohmann::json::exception& error) {
    std::string why = error.what();
    if (const std::size_t bracket = why.find("] "); bracket != std::string::npos) why.erase(0, bracket + 2);
    throw Error(ErrorKind::bad_argument, "The schema is not valid JSON: " + why + ".");
  }
  if (!root_.is_object() && !root_.is_boolean()) {
    throw Error(ErrorKind::bad_argument, "The schema must be a JSON object, or true or false.");
  }
  if (root_.is_object() && root_.contains("$schema") && root_["$schema"].is_string()) {
    const std::string dialect = root_["$schema"].get<std::string>();
    for (const std::string_view draft : {"draft-03", "draft-04", "draft-06", "draft-07"}) {
      legacy_ = legacy_ || dialect.find(draft) != std::string::npos;
    }
    if (dialect.find("json-schema.org/") == std::string::npos) {
      throw UnsupportedKeyword("$schema", "The schema's `$schema` names a dialect that is not known: `" +
                                              dialect.substr(0, 100) + "`. Those of json-schema.org are.");
    }
  }
  resources_[""] = &root_;
  index(root_, "", 0);
}

void SchemaDocument::index(const SchemaJson& schema, const std::string& outer_base, int depth) {
  if (!schema.is_object() || depth > kMostDepth) return;
  std::string base = outer_base;
  const auto text_of = [&](const char* keyword) {
    const auto place = schema.find(keyword);
    return place != schema.end() && place->is_string() ? place->get<std::string>() : std::string();
  };
  const bool hidden = legacy_ && schema.contains("$ref");  // then $id does not count either
  if (const std::string id = text_of("$id"); !id.empty() && !hidden) {
    base = resolve_address(outer_base, id);
    resources_.emplace(base, &schema);
    const std::size_t hash = id.find('#');
    if (hash != std::string::npos && hash + 1 < id.size()) anchors_.emplace(base + id.substr(hash), &schema);
  }
  if (const std::string id = text_of("id"); legacy_ && !id.empty()) {
    // Draft 4. References into the document itself keep their meaning, so its base address does not matter.
    const std::size_t hash = id.find('#');
    if (hash == 0) {
      anchors_.emplace(base + id, &schema);
    } else {
      resources_.emplace(resolve_address(outer_base, id), &schema);
    }
  }
  for (const char* keyword : {"$anchor", "$dynamicAnchor"}) {
    if (const std::string anchor = text_of(keyword); !anchor.empty()) anchors_.emplace(base + "#" + anchor, &schema);
  }
  bases_[&schema] = base;
  for (const auto& [keyword, value] : schema.items()) {
    const auto is_one_of = [&word = keyword](const auto& keywords) {
      return std::ranges::find(keywords, word) != keywords.end();
    };
    if (value.is_object() && is_one_of(kSchemas)) {
      index(value, base, depth + 1);
    } else if (value.is_array() && is_one_of(kLists)) {
      for (const SchemaJson& part : value) index(part, base, depth + 1);
    } else if (value.is_object() && is_one_of(kMaps)) {
      for (const SchemaJson& part : value) index(part, base, depth + 1);
    }
  }
}

const SchemaJson* SchemaDocument::walk_pointer(const SchemaJson& from, std::string_view pointer) const {
  const SchemaJson* place = &from;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);  // the slash
    const std::size_t end = std::min(pointer.find('/'), pointer.size());
    std::string name(pointer.substr(0, end));
    pointer.remove_prefix(end);
    for (const auto& [written, meant] : {std::pair("~1", "/"), std::pair("~0", "~")}) {
      for (std::size_t at = name.find(written); at != std::string::npos; at = name.find(written, at + 1)) {
        name.replace(at, 2, meant);
      }
    }
    if (place->is_object()) {
      const auto found = place->find(name);
      if (found == place->end()) return nullptr;
      place = &*found;
    } else if (place->is_array()) {
      std::size_t number = 0;
      const auto [stop, error] = std::from_chars(name.data(), name.data() + name.size(), number);
      if (error != std::errc() || stop != name.data() + name.size() || number >= place->size()) return nullptr;
      place = &(*place)[number];
    } else {
      return nullptr;
    }
  }
  return place;
}

const SchemaJson& SchemaDocument::resolve(const SchemaJson& from, std::string_view keyword,
                                          const std::string& reference) const {
  const auto known_base = bases_.find(&from);
  const std::string base = known_base == bases_.end() ? std::string() : known_base->second;
  const std::size_t hash = std::min(reference.find('#'), reference.size());
  const std::string address = hash == 0 ? base : resolve_address(base, reference.substr(0, hash));
  const std::string fragment = decode_percent(reference.substr(std::min(hash + 1, reference.size())));
  const auto not_there = [&]() -> const SchemaJson& {
    throw Error(ErrorKind::bad_argument, "The schema has nothing at `" + reference + "`, which a `" +
                                             std::string(keyword) + "` at " + path_of(from) + " names.");
  };
  const auto resource = resources_.find(address);
  if (resource == resources_.end()) {
    if (const auto anchor = anchors_.find(address + "#" + fragment); anchor != anchors_.end()) return *anchor->second;
    throw UnsupportedKeyword(std::string(keyword), "The `" + std::string(keyword) + "` to `" + reference + "` at " +
                                                       path_of(from) +
                                                       " names another document. Put that schema into `$defs` and "
                                                       "refer to it there.");
  }
  if (fragment.empty()) return *resource->second;
  if (fragment.starts_with('/')) {
    const SchemaJson* found = walk_pointer(*resource->second, fragment);
    return found == nullptr ? not_there() : *found;
  }
  const auto anchor = anchors_.find(address + "#" + fragment);
  return anchor == anchors_.end() ? not_there() : *anchor->second;
}

std::string SchemaDocument::path_of(const SchemaJson& part) const {
  // Depth first; only for messages.
  struct Step {
    const SchemaJson* json;
    std::string path;
  };
  std::vector<Step> work = {{&root_, "#"}};
  while (!work.empty()) {
    const Step step = std::move(work.back());
    work.pop_back();
    if (step.json == &part) return step.path;
    if (!step.json->is_structured()) continue;
    for (const auto& [name, value] : step.json->items()) work.push_back({&value, step.path + "/" + name});
  }
  return "#";
}

}  // namespace glmhost::constraints
