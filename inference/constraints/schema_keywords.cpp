// What a schema allows.
#include "inference/constraints/schema_keywords.h"

#include <algorithm>
#include <array>

#include "inference/constraints/formats.h"
#include "inference/constraints/shape_parts.h"

namespace glmhost::constraints {
namespace {

std::optional<std::uint8_t> named_type(const std::string& name) {
  if (name == "null") return kNull;
  if (name == "boolean") return kTrue | kFalse;
  if (name == "number" || name == "integer") return kNumber;
  if (name == "string") return kString;
  if (name == "array") return kArray;
  if (name == "object") return kObject;
  return std::nullopt;
}

// Remarks: they say nothing about what is valid.
constexpr std::array<std::string_view, 9> kRemarks = {"title",    "description", "$comment",
                                                      "examples", "default",     "deprecated",
                                                      "readOnly", "writeOnly",   "enumDescription"};

}  // namespace

const SchemaJson* SchemaKeywords::find(const char* keyword) const {
  const auto place = json_.find(keyword);
  return place == json_.end() ? nullptr : &*place;
}

const SchemaJson* SchemaKeywords::find(const char* keyword, const char* kind,
                                       bool (SchemaJson::*is_kind)() const noexcept) const {
  const SchemaJson* value = find(keyword);
  if (value != nullptr && !(value->*is_kind)()) refuse("`" + std::string(keyword) + "` must be " + kind);
  return value;
}

void SchemaKeywords::refuse(const std::string& what) const {
  throw Error(ErrorKind::bad_argument, "In the schema at " + reader_.document_.path_of(json_) + ", " + what + ".");
}

void SchemaKeywords::unsupported(const std::string& keyword, const std::string& why) const {
  throw UnsupportedKeyword(keyword, "The schema keyword `" + keyword + "` at " + reader_.document_.path_of(json_) +
                                        " is not supported" + why + ".");
}

std::optional<std::uint64_t> SchemaKeywords::count(const char* keyword) const {
  const SchemaJson* value = find(keyword);
  if (value == nullptr) return std::nullopt;
  if (value->is_number_unsigned()) return value->get<std::uint64_t>();
  if (value->is_number_float()) {
    const double number = value->get<double>();
    if (number >= 0 && number <= 9e15 && number == static_cast<double>(static_cast<std::uint64_t>(number))) {
      return static_cast<std::uint64_t>(number);
    }
  }
  refuse("`" + std::string(keyword) + "` must be a whole number that is not negative");
}

std::optional<Decimal> SchemaKeywords::number(const char* keyword) const {
  const SchemaJson* value = find(keyword);
  if (value == nullptr) return std::nullopt;
  const auto decimal = value->is_number() ? Decimal::parse(value->dump()) : std::nullopt;
  if (!decimal) refuse("`" + std::string(keyword) + "` must be a finite number");
  return decimal;
}

Shapes SchemaKeywords::of(const SchemaJson& schema, bool negated) {
  return reader_.literal_shapes({&schema, negated ? Literal::Kind::not_schema : Literal::Kind::schema});
}

const SchemaJson* SchemaKeywords::referred() const {
  const SchemaJson* reference = find("$ref", "a string", &SchemaJson::is_string);
  if (reference == nullptr) return nullptr;
  return &reader_.document_.resolve(json_, "$ref", reference->get<std::string>());
}

Shapes SchemaKeywords::expand(Literal::Kind kind) {
  if (kind == Literal::Kind::constant) return constant();
  if (kind == Literal::Kind::not_constant) return not_constant();
  const bool negated = kind == Literal::Kind::not_schema;
  if (json_.is_boolean()) return json_.get<bool>() != negated ? Shapes{Shape()} : Shapes();
  if (!json_.is_object()) refuse("there must be a schema: an object, true or false");
  refuse_unsupported();
  return negated ? forbidden() : allowed();
}

void SchemaKeywords::refuse_unsupported() {
  if (reader_.document_.reference_stands_alone() && json_.contains("$ref")) return;
  for (const char* keyword : {"$dynamicRef", "$recursiveRef"}) {
    if (json_.contains(keyword)) unsupported(keyword, "; use `$ref`");
  }
  if (const SchemaJson* unique = find("uniqueItems", "true or false", &SchemaJson::is_boolean)) {
    const auto most = count("maxItems");
    if (unique->get<bool>() && !(most && *most <= 1)) unsupported("uniqueItems", "");
  }
  for (const char* keyword : {"unevaluatedItems", "unevaluatedProperties"}) {
    const SchemaJson* value = find(keyword);
    if (value == nullptr || *value == true || (value->is_object() && value->empty())) continue;
    // Alone it means what additionalProperties and items mean.
    for (const char* other : {"$ref", "allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas", "contains"}) {
      if (json_.contains(other)) unsupported(keyword, " together with `" + std::string(other) + "`");
    }
  }
}

Shapes SchemaKeywords::allowed() {
  const SchemaJson* reference = referred();
  if (reference != nullptr && reader_.document_.reference_stands_alone()) return of(*reference);
  Shapes all = {plain_keywords()};
  const auto narrow = [&](const Shapes& more) {
    Shapes tidy;
    add_alternatives(tidy, product(all, more));
    all = std::move(tidy);
  };
  if (json_.contains("enum")) narrow(enumerated());
  if (const SchemaJson* value = find("const")) narrow(of_values({value}));
  if (reference != nullptr) narrow(of(*reference));
  if (const SchemaJson* list = find("allOf", "a list of schemas", &SchemaJson::is_array)) {
    for (const SchemaJson& part : *list) narrow(of(part));
  }
  if (const SchemaJson* list = find("anyOf", "a list of schemas", &SchemaJson::is_array)) {
    if (list->empty()) refuse("`anyOf` must not be empty");
    Shapes any;
    if (all_constants(*list)) {
      std::vector<const SchemaJson*> values;
      for (const SchemaJson& part : *list) {
        if (part.contains("const")) values.push_back(&part["const"]);
        if (part.contains("enum")) {
          for (const SchemaJson& value : part["enum"]) values.push_back(&value);
        }
      }
      any = of_values(values);
    } else {
      for (const SchemaJson& part : *list) add_alternatives(any, of(part));
    }
    narrow(any);
  }
  if (const SchemaJson* list = find("oneOf", "a list of schemas", &SchemaJson::is_array)) {
    if (list->empty()) refuse("`oneOf` must not be empty");
    narrow(exactly_one(*list));
  }
  if (const SchemaJson* other = find("not")) narrow(of(*other, true));
  if (const SchemaJson* condition = find("if"); condition != nullptr && (find("then") || find("else"))) {
    Shapes either;
    add_alternatives(either, find("then") ? product(of(*condition), of(*find("then"))) : of(*condition));
    add_alternatives(either, find("else") ? product(of(*condition, true), of(*find("else"))) : of(*condition, true));
    narrow(either);
  }
  for (const char* keyword : {"dependentSchemas", "dependencies"}) {
    if (const SchemaJson* map = find(keyword, "an object", &SchemaJson::is_object)) {
      for (const auto& [name, value] : map->items()) {
        if (value.is_array()) continue;  // see read_objects
        Shapes either = {without_property(kAllTypes, name)};
        const Shapes held = product({object_with(name)}, of(value));
        either.insert(either.end(), held.begin(), held.end());
        narrow(either);
      }
    }
  }
  return all;
}

Shape SchemaKeywords::plain_keywords() {
  Shape shape;
  read_type(shape);
  read_numbers(shape);
  read_texts(shape);
  read_arrays(shape);
  read_objects(shape);
  return shape;
}

void SchemaKeywords::read_type(Shape& shape) const {
  const SchemaJson* type = find("type");
  if (type == nullptr) return;
  shape.types = 0;
  bool whole = false, any_number = false;
  const auto add = [&](const SchemaJson& name) {
    if (name.is_string() && name == "any") {  // draft 3
      shape.types = kAllTypes;
      any_number = true;
      return;
    }
    const auto bits = name.is_string() ? named_type(name.get<std::string>()) : std::nullopt;
    if (!bits) refuse("`type` names a type that does not exist: " + name.dump().substr(0, 60));
    shape.types |= *bits;
    whole = whole || name == "integer";
    any_number = any_number || name == "number";
  };
  if (type->is_array()) {
    for (const SchemaJson& name : *type) add(name);
  } else {
    add(*type);
  }
  if (whole && !any_number) shape.numbers.integer = true;
}

Shapes SchemaKeywords::enumerated() const {
  const SchemaJson* list = find("enum", "a list of values", &SchemaJson::is_array);
  if (list->empty()) {
    throw Error(ErrorKind::bad_argument, "The schema contradicts itself: `enum` at " +
                                             reader_.document_.path_of(json_) + " is empty, so no value is allowed.");
  }
  std::vector<const SchemaJson*> values;
  for (const SchemaJson& value : *list) values.push_back(&value);
  return of_values(values);
}

void SchemaKeywords::read_numbers(Shape& shape) const {
  struct Side {
    const char* keyword;
    const char* exclusive;
    std::uint8_t beyond;
  };
  for (const Side& side : {Side{"minimum", "exclusiveMinimum", kGreater}, Side{"maximum", "exclusiveMaximum", kLess}}) {
    const SchemaJson* exclusive = find(side.exclusive);
    const bool draft_4 = exclusive != nullptr && exclusive->is_boolean();
    if (const auto value = number(side.keyword)) {
      const bool open = draft_4 && exclusive->get<bool>();
      const std::uint8_t allowed = open ? side.beyond : static_cast<std::uint8_t>(side.beyond | kEqual);
      shape.numbers.bounds.push_back({*value, allowed});
    }
    if (exclusive != nullptr && !draft_4) shape.numbers.bounds.push_back({*number(side.exclusive), side.beyond});
  }
  if (const auto value = number("multipleOf")) {
    if (value->zero() || value->negative()) refuse("`multipleOf` must be greater than 0");
    shape.numbers.multiples.push_back({*value, false});
  }
}

void SchemaKeywords::read_texts(Shape& shape) {
  if (const auto value = count("minLength")) shape.least_length = *value;
  if (const auto value = count("maxLength")) shape.most_length = *value;
  if (const SchemaJson* pattern = find("pattern", "a string", &SchemaJson::is_string)) {
    shape.texts.push_back(reader_.pattern(pattern->get<std::string>()));
  }
  if (const SchemaJson* format = find("format", "a string", &SchemaJson::is_string);
      format != nullptr && reader_.assert_formats_) {
    const std::string name = format->get<std::string>();
    const FormatSupport support = format_support(name);
    if (support == FormatSupport::unsupported) unsupported("format", " with the value `" + name + "`");
    if (support == FormatSupport::supported) shape.texts.push_back(reader_.format(name));
  }
}

void SchemaKeywords::read_arrays(Shape& shape) const {
  if (const auto value = count("minItems")) shape.least_items = *value;
  if (const auto value = count("maxItems")) shape.most_items = *value;
  const SchemaJson* prefix = find("prefixItems", "a list of schemas", &SchemaJson::is_array);
  const SchemaJson* items = find("items");
  if (items != nullptr && items->is_array()) {  // before 2020-12
    prefix = items;
    items = find("additionalItems");
  }
  if (prefix != nullptr) {
    for (const SchemaJson& part : *prefix) shape.prefix.push_back(schema_term(part));
  }
  if (items == nullptr) items = find("unevaluatedItems");
  if (items != nullptr) shape.items = schema_term(*items);
  if (const SchemaJson* contains = find("contains")) {
    Shape::Contains wanted;
    wanted.term = schema_term(*contains);
    wanted.least = static_cast<std::uint32_t>(std::min<std::uint64_t>(count("minContains").value_or(1), 0xFFFFFFFE));
    if (const auto most = count("maxContains")) {
      wanted.most = static_cast<std::uint32_t>(std::min<std::uint64_t>(*most, 0xFFFFFFFE));
    }
    if (wanted.least > 0 || wanted.most != 0xFFFFFFFF) shape.contains.push_back(std::move(wanted));
  }
}

void SchemaKeywords::read_objects(Shape& shape) {
  Shape::Properties group;
  if (const SchemaJson* map = find("properties", "an object", &SchemaJson::is_object)) {
    for (const auto& [name, value] : map->items()) group.named.emplace_back(name, schema_term(value));
  }
  if (const SchemaJson* map = find("patternProperties", "an object", &SchemaJson::is_object)) {
    for (const auto& [pattern, value] : map->items()) {
      reader_.pattern(pattern);  // refuses what is no pattern
      group.patterns.push_back({pattern, schema_term(value)});
    }
  }
  const SchemaJson* additional = find("additionalProperties");
  if (additional == nullptr) additional = find("unevaluatedProperties");
  if (additional != nullptr) group.additional = schema_term(*additional);
  if (!group.named.empty() || !group.patterns.empty() || additional != nullptr) {
    shape.properties.push_back(std::move(group));
  }
  if (const SchemaJson* list = find("required", "a list of names", &SchemaJson::is_array)) {
    for (const SchemaJson& name : *list) {
      if (!name.is_string()) refuse("`required` must be a list of names");
      const std::string text = name.get<std::string>();
      if (std::ranges::find(shape.required, text) == shape.required.end()) shape.required.push_back(text);
    }
  }
  if (const auto value = count("minProperties")) shape.least_properties = *value;
  if (const auto value = count("maxProperties")) shape.most_properties = *value;
  if (const SchemaJson* names = find("propertyNames")) shape.names.push_back(schema_term(*names));
  for (const char* keyword : {"dependentRequired", "dependencies"}) {
    const SchemaJson* map = find(keyword, "an object", &SchemaJson::is_object);
    if (map == nullptr) continue;
    for (const auto& [name, list] : map->items()) {
      if (!list.is_array()) continue;
      for (const SchemaJson& dependent : list) {
        if (!dependent.is_string()) refuse("`" + std::string(keyword) + "` must have lists of names");
        shape.dependents.emplace_back(name, dependent.get<std::string>());
      }
    }
  }
}

bool SchemaKeywords::all_constants(const SchemaJson& list) const {
  return std::ranges::all_of(list, [](const SchemaJson& part) {
    if (!part.is_object() || part.contains("const") == part.contains("enum")) return false;
    if (part.contains("enum") && !part["enum"].is_array()) return false;
    for (const auto& [keyword, value] : part.items()) {
      if (keyword != "const" && keyword != "enum" && std::ranges::find(kRemarks, keyword) == kRemarks.end())
        return false;
    }
    return true;
  });
}

// oneOf: branches that have values in common are kept apart by forbidding the others; those that have none, which is
// the rule, are alternatives as they are.
Shapes SchemaKeywords::exactly_one(const SchemaJson& list) {
  std::vector<Shapes> branches;
  for (const SchemaJson& part : list) branches.push_back(of(part));
  Shapes all;
  for (std::size_t i = 0; i < branches.size(); ++i) {
    Shapes branch = branches[i];
    for (std::size_t j = 0; j < branches.size(); ++j) {
      if (i == j) continue;
      const Shapes common = product(branches[i], branches[j]);
      const bool apart =
          std::ranges::all_of(common, [&](const Shape& shape) { return reader_.certainly_empty(shape, 4); });
      if (!apart) branch = product(branch, of(list[j], true));
    }
    add_alternatives(all, branch);
  }
  return all;
}

Shapes SchemaKeywords::constant() const {
  return of_values({&json_});
}

}  // namespace glmhost::constraints
