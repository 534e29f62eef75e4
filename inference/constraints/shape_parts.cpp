#include "inference/constraints/shape_parts.h"

#include <algorithm>

namespace glmhost::constraints {
namespace {

const SchemaJson& nothing() {
  static const SchemaJson json = false;
  return json;
}

}  // namespace

Term nothing_term() {
  return Term({&nothing(), Literal::Kind::schema});
}

Term schema_term(const SchemaJson& json, bool negated) {
  return Term({&json, negated ? Literal::Kind::not_schema : Literal::Kind::schema});
}

Shape of_types(std::uint8_t types) {
  Shape shape;
  shape.types = types;
  return shape;
}

Shape object_with(const std::string& name) {
  Shape shape = of_types(kObject);
  shape.required.push_back(name);
  return shape;
}

Shape without_property(std::uint8_t types, const std::string& name) {
  Shape shape = of_types(types);
  shape.properties.push_back({{{name, nothing_term()}}, {}, {}});
  return shape;
}

Shape number_against(const Decimal& value, std::uint8_t allowed) {
  Shape shape = of_types(kNumber);
  shape.numbers.bounds.push_back({value, allowed});
  return shape;
}

DfaPointer complement(const Dfa& dfa) {
  return difference(any_text(), dfa);
}

std::uint8_t type_of(const SchemaJson& value) {
  switch (value.type()) {
    case SchemaJson::value_t::null:
      return kNull;
    case SchemaJson::value_t::boolean:
      return value.get<bool>() ? kTrue : kFalse;
    case SchemaJson::value_t::string:
      return kString;
    case SchemaJson::value_t::array:
      return kArray;
    case SchemaJson::value_t::object:
      return kObject;
    default:
      return kNumber;
  }
}

// Alternatives without a type in common are one shape: what is said of one type says nothing of another.
void add_alternative(Shapes& all, Shape shape) {
  if (shape.types == 0) return;
  for (Shape& known : all) {
    if ((known.types & shape.types) != 0) continue;
    known.types |= shape.types;
    if ((shape.types & kNumber) != 0) {
      known.numbers = std::move(shape.numbers);
      known.numerals = std::move(shape.numerals);
    }
    if ((shape.types & kString) != 0) {
      known.texts = std::move(shape.texts);
      known.least_length = shape.least_length;
      known.most_length = shape.most_length;
    }
    if ((shape.types & kArray) != 0) {
      known.prefix = std::move(shape.prefix);
      known.items = std::move(shape.items);
      known.least_items = shape.least_items;
      known.most_items = shape.most_items;
      known.contains = std::move(shape.contains);
    }
    if ((shape.types & kObject) != 0) {
      known.properties = std::move(shape.properties);
      known.names = std::move(shape.names);
      known.required = std::move(shape.required);
      known.dependents = std::move(shape.dependents);
      known.least_properties = shape.least_properties;
      known.most_properties = shape.most_properties;
    }
    return;
  }
  all.push_back(std::move(shape));
}

void add_alternatives(Shapes& all, const Shapes& more) {
  for (const Shape& shape : more) add_alternative(all, shape);
}

Shapes of_values(const std::vector<const SchemaJson*>& values) {
  Shapes all;
  Shape scalars = of_types(0);
  std::vector<std::string> texts;
  std::vector<Decimal> numbers;
  for (const SchemaJson* value : values) {
    if (value->is_structured()) continue;
    scalars.types |= type_of(*value);
    if (value->is_string()) texts.push_back(value->get<std::string>());
    if (value->is_number()) {
      if (const auto number = Decimal::parse(value->dump())) numbers.push_back(*number);
    }
  }
  if (!texts.empty()) scalars.texts.push_back(literals(std::move(texts)));
  if (!numbers.empty()) scalars.numerals.push_back(number_values_dfa(numbers));
  add_alternative(all, std::move(scalars));
  for (const SchemaJson* value : values) {
    if (value->is_array()) {
      Shape shape = of_types(kArray);
      for (const SchemaJson& item : *value) shape.prefix.push_back(Term({&item, Literal::Kind::constant}));
      shape.items = nothing_term();
      shape.least_items = shape.most_items = value->size();
      add_alternative(all, std::move(shape));
    } else if (value->is_object()) {
      Shape shape = of_types(kObject);
      Shape::Properties group;
      for (const auto& [name, member] : value->items()) {
        group.named.emplace_back(name, Term({&member, Literal::Kind::constant}));
        shape.required.push_back(name);
      }
      group.additional = nothing_term();
      shape.properties.push_back(std::move(group));
      add_alternative(all, std::move(shape));
    }
  }
  return all;
}

}  // namespace glmhost::constraints
