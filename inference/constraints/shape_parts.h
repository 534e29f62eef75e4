// Shapes from which keywords are read, and lists of alternatives of them. Internal to the reading of schemas.
#pragma once

#include "inference/constraints/schema_shapes.h"

namespace glmhost::constraints {

Term nothing_term();
Term schema_term(const SchemaJson& json, bool negated = false);
Shape of_types(std::uint8_t types);
// Objects with, or without, a property.
Shape object_with(const std::string& name);
Shape without_property(std::uint8_t types, const std::string& name);
Shape number_against(const Decimal& value, std::uint8_t allowed);
DfaPointer complement(const Dfa& dfa);
std::uint8_t type_of(const SchemaJson& value);
// Alternatives without a type in common are one shape: what is said of one type says nothing of another.
void add_alternative(Shapes& all, Shape shape);
void add_alternatives(Shapes& all, const Shapes& more);
Shapes of_values(const std::vector<const SchemaJson*>& values);

}  // namespace glmhost::constraints
