// What a JSON Schema allows, in a form that grammars can be made of.
//
// A Term is what must hold for one value: some schemas, some that must not hold, some constants. Its shapes are
// alternatives: a value satisfies the term when it satisfies one of them. In a shape every keyword has been merged with
// its like (allOf, $ref, anyOf, oneOf, not, if are gone), and parts of the value are terms again, looked into only when
// they are needed: that is how recursive schemas stay finite.
#pragma once

#include <compare>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "inference/constraints/dfa.h"
#include "inference/constraints/numbers.h"
#include "inference/constraints/schema_document.h"

namespace glmhost::constraints {

struct Literal {
  enum class Kind { schema, not_schema, constant, not_constant };
  const SchemaJson* json;
  Kind kind;
  auto operator<=>(const Literal&) const = default;
};

// All literals hold. Sorted and distinct; empty: anything.
class Term {
 public:
  Term() = default;
  explicit Term(Literal literal) : literals_{literal} {}
  void add(const Term& other);
  const std::vector<Literal>& literals() const { return literals_; }
  auto operator<=>(const Term&) const = default;

 private:
  std::vector<Literal> literals_;
};

enum ValueType : std::uint8_t {
  kNull = 1,
  kFalse = 2,
  kTrue = 4,
  kNumber = 8,
  kString = 16,
  kArray = 32,
  kObject = 64,
  kAllTypes = 127,
};

struct Shape {
  struct Contains {
    Term term;
    std::uint32_t least = 1;
    std::uint32_t most = 0xFFFFFFFF;
    bool operator==(const Contains&) const = default;
  };
  struct PatternProperty {
    std::string pattern;
    Term term;
  };
  // properties, patternProperties and additionalProperties of one schema: they belong together.
  struct Properties {
    std::vector<std::pair<std::string, Term>> named;
    std::vector<PatternProperty> patterns;
    Term additional;
  };

  std::uint8_t types = kAllTypes;

  NumberSet numbers;
  std::vector<DfaPointer> numerals;  // enumerated numbers: all must hold

  std::vector<DfaPointer> texts;  // all must hold
  std::uint64_t least_length = 0;
  std::uint64_t most_length = ~0ull;

  std::vector<Term> prefix;
  Term items;
  std::uint64_t least_items = 0;
  std::uint64_t most_items = ~0ull;
  std::vector<Contains> contains;

  std::vector<Properties> properties;
  std::vector<Term> names;  // propertyNames
  std::vector<std::string> required;
  std::vector<std::pair<std::string, std::string>> dependents;  // the first needs the second
  std::uint64_t least_properties = 0;
  std::uint64_t most_properties = ~0ull;

  void merge(const Shape& other);
};

using Shapes = std::vector<Shape>;

class SchemaReader {
 public:
  // DOCUMENT must outlive the reader.
  SchemaReader(const SchemaDocument& document, bool assert_formats)
      : document_(document), assert_formats_(assert_formats) {}

  // Throws Error(bad_argument) for keywords with values of a wrong kind and for references that go in a circle without
  // coming to a part of the value; UnsupportedKeyword.
  Shapes shapes(const Term& term);

  // Whether the term certainly has no value. Looks a few levels deep; false when it cannot tell.
  bool certainly_empty(const Term& term, int levels = 3);
  bool certainly_empty(const Shape& shape, int levels);

  // What the value of property NAME must satisfy.
  Term property_term(const Shape& shape, const std::string& name);
  // Of a pattern, over names.
  DfaPointer pattern(const std::string& source);
  DfaPointer format(const std::string& name);
  // The strings among a term's values; null for all strings.
  DfaPointer string_values(const Term& term);

  const SchemaDocument& document() const { return document_; }

 private:
  friend class SchemaKeywords;

  const Shapes& literal_shapes(const Literal& literal);

  const SchemaDocument& document_;
  bool assert_formats_;
  std::map<Literal, Shapes> known_;
  std::set<Literal> open_;  // being expanded: meeting one again is a circle
  std::map<std::string, DfaPointer> patterns_, formats_;
  int depth_ = 0;
};

// The content automaton of a string shape (with its lengths); any_text() when anything goes.
DfaPointer text_dfa(const Shape& shape);

// Members of DFA of so many characters.
DfaPointer limit_lengths(const DfaPointer& dfa, std::uint64_t least, std::uint64_t most);

// The numerals of a number shape.
DfaPointer numeral_dfa(const Shape& shape);

// Both, in every combination that may have a value. Throws Error(bad_argument) when there are more than 2,000.
Shapes product(const Shapes& left, const Shapes& right);

}  // namespace glmhost::constraints
