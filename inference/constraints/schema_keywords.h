// The keywords of one schema, read into shapes: what it allows, or what it forbids.
#pragma once

#include "inference/constraints/schema_shapes.h"

namespace glmhost::constraints {

class SchemaKeywords {
 public:
  SchemaKeywords(SchemaReader& reader, const SchemaJson& json) : reader_(reader), json_(json) {}

  Shapes expand(Literal::Kind kind);

 private:
  Shapes allowed();
  Shapes forbidden();
  Shapes constant() const;
  Shapes not_constant() const;

  // Of single keywords.
  Shape plain_keywords();
  void read_type(Shape& shape) const;
  Shapes enumerated() const;
  void read_numbers(Shape& shape) const;
  void read_texts(Shape& shape);
  void read_arrays(Shape& shape) const;
  void read_objects(Shape& shape);
  Shapes exactly_one(const SchemaJson& list);
  bool all_constants(const SchemaJson& list) const;
  Shapes dependent_schemas(const SchemaJson& map, bool negated);
  void refuse_unsupported();

  void forbid_type(Shapes& all) const;
  void forbid_numbers(Shapes& all) const;
  void forbid_texts(Shapes& all);
  void forbid_arrays(Shapes& all) const;
  void forbid_objects(Shapes& all);
  void forbid_applicators(Shapes& all);

  Shapes of(const SchemaJson& schema, bool negated = false);
  const SchemaJson* find(const char* keyword) const;
  const SchemaJson* find(const char* keyword, const char* kind, bool (SchemaJson::*is_kind)() const noexcept) const;
  std::optional<std::uint64_t> count(const char* keyword) const;
  std::optional<Decimal> number(const char* keyword) const;
  const SchemaJson* referred() const;
  [[noreturn]] void refuse(const std::string& what) const;
  [[noreturn]] void unsupported(const std::string& keyword, const std::string& why) const;

  SchemaReader& reader_;
  const SchemaJson& json_;
};

}  // namespace glmhost::constraints
