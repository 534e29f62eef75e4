// What a schema forbids: the shapes of the values that it does not allow.
#include <algorithm>

#include "inference/constraints/schema_keywords.h"
#include "inference/constraints/shape_parts.h"

namespace glmhost::constraints {

Shapes SchemaKeywords::not_constant() const {
  const std::uint8_t type = type_of(json_);
  Shapes all = {of_types(static_cast<std::uint8_t>(kAllTypes & ~type))};
  if (json_.is_string()) {
    Shape shape = of_types(kString);
    shape.texts.push_back(complement(*literals({json_.get<std::string>()})));
    add_alternative(all, std::move(shape));
  } else if (json_.is_number()) {
    add_alternative(all, number_against(*Decimal::parse(json_.dump()), kLess | kGreater));
  } else if (json_.is_array()) {
    Shape shorter = of_types(kArray), longer = of_types(kArray);
    if (!json_.empty()) {
      shorter.most_items = json_.size() - 1;
      all.push_back(shorter);
    }
    longer.least_items = json_.size() + 1;
    all.push_back(longer);
    for (std::size_t i = 0; i < json_.size(); ++i) {
      Shape differs = of_types(kArray);
      differs.prefix.resize(i + 1);
      differs.prefix[i] = Term({&json_[i], Literal::Kind::not_constant});
      differs.least_items = differs.most_items = json_.size();
      all.push_back(std::move(differs));
    }
  } else if (json_.is_object()) {
    Shape more = of_types(kObject);
    more.least_properties = json_.size() + 1;
    all.push_back(more);
    for (const auto& [name, value] : json_.items()) {
      all.push_back(without_property(kObject, name));
      Shape differs = object_with(name);
      differs.properties.push_back({{{name, Term({&value, Literal::Kind::not_constant})}}, {}, {}});
      all.push_back(std::move(differs));
    }
  }
  return all;
}

// What a schema forbids: whatever breaks one of its keywords.
Shapes SchemaKeywords::forbidden() {
  if (const SchemaJson* reference = referred()) {
    if (reader_.document_.reference_stands_alone()) return of(*reference, true);
  }
  Shapes all;
  forbid_type(all);
  forbid_numbers(all);
  forbid_texts(all);
  forbid_arrays(all);
  forbid_objects(all);
  forbid_applicators(all);
  return all;
}

void SchemaKeywords::forbid_type(Shapes& all) const {
  if (find("type") != nullptr) {
    Shape allowed_types;
    read_type(allowed_types);
    Shape others = of_types(static_cast<std::uint8_t>(kAllTypes & ~allowed_types.types));
    add_alternative(all, std::move(others));
    if (allowed_types.numbers.integer) {
      Shape broken = of_types(kNumber);
      broken.numbers.integer = false;
      add_alternative(all, std::move(broken));
    }
  }
  std::vector<const SchemaJson*> values;
  if (const SchemaJson* value = find("const")) {
    add_alternatives(all, reader_.literal_shapes({value, Literal::Kind::not_constant}));
  }
  if (const SchemaJson* list = find("enum", "a list of values", &SchemaJson::is_array)) {
    Shapes none = {Shape()};
    std::vector<std::string> texts;
    for (const SchemaJson& value : *list) {
      if (value.is_string()) {
        texts.push_back(value.get<std::string>());
        continue;
      }
      none = product(none, reader_.literal_shapes({&value, Literal::Kind::not_constant}));
    }
    if (!texts.empty()) {
      Shape not_those;
      not_those.texts.push_back(complement(*literals(std::move(texts))));
      none = product(none, {not_those});
    }
    add_alternatives(all, none);
  }
}

void SchemaKeywords::forbid_numbers(Shapes& all) const {
  Shape held;
  read_numbers(held);
  for (const NumberSet::Bound& bound : held.numbers.bounds) {
    add_alternative(all, number_against(bound.value, static_cast<std::uint8_t>(7 & ~bound.allowed)));
  }
  for (const NumberSet::Multiple& multiple : held.numbers.multiples) {
    Shape shape = of_types(kNumber);
    shape.numbers.multiples.push_back({multiple.of, true});
    add_alternative(all, std::move(shape));
  }
}

void SchemaKeywords::forbid_texts(Shapes& all) {
  Shape held;
  read_texts(held);
  if (held.least_length > 0) {
    Shape shorter = of_types(kString);
    shorter.most_length = held.least_length - 1;
    add_alternative(all, std::move(shorter));
  }
  if (held.most_length != ~0ull) {
    Shape longer = of_types(kString);
    longer.least_length = held.most_length + 1;
    add_alternative(all, std::move(longer));
  }
  for (const DfaPointer& text : held.texts) {
    Shape other = of_types(kString);
    other.texts.push_back(complement(*text));
    add_alternative(all, std::move(other));
  }
}

void SchemaKeywords::forbid_arrays(Shapes& all) const {
  Shape held;
  read_arrays(held);
  if (held.least_items > 0) {
    Shape shorter = of_types(kArray);
    shorter.most_items = held.least_items - 1;
    add_alternative(all, std::move(shorter));
  }
  if (held.most_items != ~0ull) {
    Shape longer = of_types(kArray);
    longer.least_items = held.most_items + 1;
    add_alternative(all, std::move(longer));
  }
  const auto negated = [](const Term& term) {
    const Literal literal = term.literals()[0];  // terms of keywords have exactly one
    return Term({literal.json, Literal::Kind::not_schema});
  };
  for (std::size_t i = 0; i < held.prefix.size(); ++i) {
    Shape differs = of_types(kArray);
    differs.prefix.resize(i + 1);
    differs.prefix[i] = negated(held.prefix[i]);
    differs.least_items = i + 1;
    add_alternative(all, std::move(differs));
  }
  if (!held.items.literals().empty()) {
    Shape differs = of_types(kArray);
    if (held.prefix.empty()) {
      differs.contains.push_back({negated(held.items), 1, 0xFFFFFFFF});
    } else if (*held.items.literals()[0].json == false) {
      differs.least_items = held.prefix.size() + 1;
    } else {
      unsupported("not", " over `items` together with `prefixItems`");
    }
    add_alternative(all, std::move(differs));
  }
  for (const Shape::Contains& contains : held.contains) {
    if (contains.least == 1) {
      Shape none = of_types(kArray);
      none.items = negated(contains.term);
      add_alternative(all, std::move(none));
    } else if (contains.least > 1) {
      Shape fewer = of_types(kArray);
      fewer.contains.push_back({contains.term, 0, contains.least - 1});
      add_alternative(all, std::move(fewer));
    }
    if (contains.most != 0xFFFFFFFF) {
      Shape more = of_types(kArray);
      more.contains.push_back({contains.term, contains.most + 1, 0xFFFFFFFF});
      add_alternative(all, std::move(more));
    }
  }
}

void SchemaKeywords::forbid_objects(Shapes& all) {
  Shape held;
  read_objects(held);
  for (const Shape::Properties& group : held.properties) {
    for (const auto& [name, term] : group.named) {
      Shape differs = object_with(name);
      differs.properties.push_back({{{name, Term({term.literals()[0].json, Literal::Kind::not_schema})}}, {}, {}});
      add_alternative(all, std::move(differs));
    }
    for (const Shape::PatternProperty& property : group.patterns) {
      if (*property.term.literals()[0].json == true) continue;
      unsupported("not", " over `patternProperties`");
    }
    if (!group.additional.literals().empty()) {
      const SchemaJson& schema = *group.additional.literals()[0].json;
      if (schema != true && !(schema.is_object() && schema.empty())) unsupported("not", " over `additionalProperties`");
    }
  }
  for (const std::string& name : held.required) add_alternative(all, without_property(kObject, name));
  if (held.least_properties > 0) {
    Shape fewer = of_types(kObject);
    fewer.most_properties = held.least_properties - 1;
    add_alternative(all, std::move(fewer));
  }
  if (held.most_properties != ~0ull) {
    Shape more = of_types(kObject);
    more.least_properties = held.most_properties + 1;
    add_alternative(all, std::move(more));
  }
  if (!held.names.empty()) unsupported("not", " over `propertyNames`");
  for (const auto& [name, dependent] : held.dependents) {
    Shape broken = object_with(name);
    broken.merge(without_property(kObject, dependent));
    add_alternative(all, std::move(broken));
  }
}

void SchemaKeywords::forbid_applicators(Shapes& all) {
  if (const SchemaJson* unique = find("uniqueItems"); unique != nullptr && *unique == true) {
    unsupported("not", " over `uniqueItems`");
  }
  if (const SchemaJson* reference = referred()) add_alternatives(all, of(*reference, true));
  if (const SchemaJson* list = find("allOf", "a list of schemas", &SchemaJson::is_array)) {
    for (const SchemaJson& part : *list) add_alternatives(all, of(part, true));
  }
  if (const SchemaJson* list = find("anyOf", "a list of schemas", &SchemaJson::is_array)) {
    Shapes none = {Shape()};
    for (const SchemaJson& part : *list) none = product(none, of(part, true));
    add_alternatives(all, none);
  }
  if (const SchemaJson* list = find("oneOf", "a list of schemas", &SchemaJson::is_array)) {
    Shapes none = {Shape()};
    for (const SchemaJson& part : *list) none = product(none, of(part, true));
    add_alternatives(all, none);
    for (std::size_t i = 0; i < list->size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) add_alternatives(all, product(of((*list)[i]), of((*list)[j])));
    }
  }
  if (const SchemaJson* other = find("not")) add_alternatives(all, of(*other));
  if (const SchemaJson* condition = find("if")) {
    if (find("then")) add_alternatives(all, product(of(*condition), of(*find("then"), true)));
    if (find("else")) add_alternatives(all, product(of(*condition, true), of(*find("else"), true)));
  }
  for (const char* keyword : {"dependentSchemas", "dependencies"}) {
    const SchemaJson* map = find(keyword, "an object", &SchemaJson::is_object);
    if (map == nullptr) continue;
    for (const auto& [name, value] : map->items()) {
      if (!value.is_array()) add_alternatives(all, product({object_with(name)}, of(value, true)));
    }
  }
}

}  // namespace glmhost::constraints
