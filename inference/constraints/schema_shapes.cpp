#include "inference/constraints/schema_shapes.h"

#include <algorithm>

#include "inference/constraints/formats.h"
#include "inference/constraints/regex.h"
#include "inference/constraints/schema_keywords.h"

namespace glmhost::constraints {
namespace {

constexpr std::size_t kMostShapes = 2000;
constexpr std::size_t kMostCountedStates = 200'000;
constexpr int kMostDepth = 300;

template <typename Value>
void append_new(std::vector<Value>& list, const std::vector<Value>& more) {
  for (const Value& value : more) {
    if (std::ranges::find(list, value) == list.end()) list.push_back(value);
  }
}

}  // namespace

void Term::add(const Term& other) {
  literals_.insert(literals_.end(), other.literals_.begin(), other.literals_.end());
  std::ranges::sort(literals_);
  literals_.erase(std::unique(literals_.begin(), literals_.end()), literals_.end());
}

void Shape::merge(const Shape& other) {
  types &= other.types;
  numbers.add(other.numbers);
  append_new(numerals, other.numerals);
  append_new(texts, other.texts);
  least_length = std::max(least_length, other.least_length);
  most_length = std::min(most_length, other.most_length);
  const std::size_t slots = std::max(prefix.size(), other.prefix.size());
  for (std::size_t i = 0; i < slots; ++i) {
    if (i == prefix.size()) prefix.push_back(items);
    prefix[i].add(i < other.prefix.size() ? other.prefix[i] : other.items);
  }
  items.add(other.items);
  least_items = std::max(least_items, other.least_items);
  most_items = std::min(most_items, other.most_items);
  append_new(contains, other.contains);
  properties.insert(properties.end(), other.properties.begin(), other.properties.end());
  append_new(names, other.names);
  append_new(required, other.required);
  append_new(dependents, other.dependents);
  least_properties = std::max(least_properties, other.least_properties);
  most_properties = std::min(most_properties, other.most_properties);
}

Shapes product(const Shapes& left, const Shapes& right) {
  Shapes all;
  for (const Shape& one : left) {
    for (const Shape& other : right) {
      if ((one.types & other.types) == 0) continue;
      if (all.size() >= kMostShapes) {
        throw Error(ErrorKind::bad_argument,
                    "The schema has too many combinations of alternatives (anyOf, oneOf, if): "
                    "more than " +
                        std::to_string(kMostShapes) + " hold at one place.");
      }
      all.push_back(one);
      all.back().merge(other);
    }
  }
  return all;
}

Shapes SchemaReader::shapes(const Term& term) {
  Shapes all = {Shape()};
  for (const Literal& literal : term.literals()) all = product(all, literal_shapes(literal));
  return all;
}

const Shapes& SchemaReader::literal_shapes(const Literal& literal) {
  if (const auto known = known_.find(literal); known != known_.end()) return known->second;
  if (!open_.insert(literal).second || depth_ > kMostDepth) {
    throw Error(ErrorKind::bad_argument, "The schema at " + document_.path_of(*literal.json) +
                                             " refers to itself without coming to a part of the value: nothing says "
                                             "what the value is.");
  }
  ++depth_;
  Shapes made = SchemaKeywords(*this, *literal.json).expand(literal.kind);
  --depth_;
  open_.erase(literal);
  return known_[literal] = std::move(made);
}

DfaPointer SchemaReader::pattern(const std::string& source) {
  DfaPointer& known = patterns_[source];
  if (!known) known = regex_dfa(source, Match::anywhere);
  return known;
}

DfaPointer SchemaReader::format(const std::string& name) {
  DfaPointer& known = formats_[name];
  if (!known) known = format_dfa(name);
  return known;
}

Term SchemaReader::property_term(const Shape& shape, const std::string& name) {
  Term term;
  for (const Shape::Properties& group : shape.properties) {
    bool evaluated = false;
    for (const auto& [named, value] : group.named) {
      if (named != name) continue;
      evaluated = true;
      term.add(value);
    }
    for (const Shape::PatternProperty& property : group.patterns) {
      if (!pattern(property.pattern)->matches(name)) continue;
      evaluated = true;
      term.add(property.term);
    }
    if (!evaluated) term.add(group.additional);
  }
  return term;
}

DfaPointer SchemaReader::string_values(const Term& term) {
  DfaPointer all;
  for (const Shape& shape : shapes(term)) {
    if ((shape.types & kString) == 0) continue;
    const DfaPointer one = text_dfa(shape);
    all = all ? combine(*all, *one,
                        [](std::uint32_t l, std::uint32_t r) { return l != kNoLabel || r != kNoLabel ? 0 : kNoLabel; })
              : one;
  }
  return all ? all : std::make_shared<const Dfa>(std::vector<std::vector<ByteEdge>>{}, std::vector<std::uint32_t>{}, 0);
}

bool SchemaReader::certainly_empty(const Term& term, int levels) {
  if (levels == 0) return false;
  for (const Literal& literal : term.literals()) {
    if (open_.contains(literal)) return false;
  }
  const Shapes alternatives = shapes(term);
  return std::ranges::all_of(alternatives, [&](const Shape& shape) { return certainly_empty(shape, levels); });
}

bool SchemaReader::certainly_empty(const Shape& shape, int levels) {
  if ((shape.types & (kNull | kFalse | kTrue)) != 0) return false;
  if ((shape.types & kNumber) != 0) {
    const bool trivial = shape.numbers.unconstrained() && shape.numerals.empty();
    if (trivial || !numeral_dfa(shape)->empty()) return false;
  }
  if ((shape.types & kString) != 0) {
    if (shape.texts.empty()) {
      if (shape.least_length <= shape.most_length) return false;
    } else if (!text_dfa(shape)->empty()) {
      return false;
    }
  }
  if ((shape.types & kArray) != 0) {
    bool empty = shape.least_items > shape.most_items;
    for (std::uint64_t i = 0; i < shape.least_items && !empty; ++i) {
      const bool in_prefix = i < shape.prefix.size();
      empty = certainly_empty(in_prefix ? shape.prefix[i] : shape.items, levels - 1);
      if (!in_prefix) break;
    }
    for (const Shape::Contains& contains : shape.contains) {
      if (contains.least == 0) continue;
      Term hit = contains.term;
      if (shape.prefix.empty()) hit.add(shape.items);
      empty = empty || contains.least > contains.most || contains.least > shape.most_items ||
              certainly_empty(hit, levels - 1);
    }
    if (!empty) return false;
  }
  if ((shape.types & kObject) != 0) {
    bool empty = shape.least_properties > shape.most_properties || shape.required.size() > shape.most_properties;
    for (const std::string& name : shape.required) {
      empty = empty || certainly_empty(property_term(shape, name), levels - 1);
    }
    if (!empty) return false;
  }
  return true;
}

DfaPointer limit_lengths(const DfaPointer& dfa, std::uint64_t least, std::uint64_t most) {
  const Lengths lengths = character_lengths(*dfa);
  if (lengths.shortest >= least && lengths.longest && *lengths.longest <= most) return dfa;
  if (lengths.shortest >= least && most == ~0ull) return dfa;
  using State = std::pair<DfaState, std::uint64_t>;
  const bool bounded = most != ~0ull;
  const std::uint64_t cap = bounded ? most : least;
  if (dfa->empty()) return dfa;
  return explore(
      State{dfa->start(), 0},
      [&](const State& state, std::vector<ImplicitEdge<State>>& edges) {
        for (const ByteEdge& edge : dfa->edges(state.first)) {
          const bool begins = edge.low < 0x80 || edge.low >= 0xC0;
          std::uint64_t count = state.second + (begins ? 1 : 0);
          if (count > cap) {
            if (bounded) continue;
            count = cap;
          }
          edges.push_back({edge.low, edge.high, {edge.target, count}});
        }
        return state.second >= least ? dfa->label(state.first) : kNoLabel;
      },
      kMostCountedStates,
      "`minLength` and `maxLength` together with a `pattern` or `format` need too large an automaton: write the length "
      "into the pattern, as in ^[a-z]{1,40}$.");
}

DfaPointer text_dfa(const Shape& shape) {
  DfaPointer all;
  for (const DfaPointer& text : shape.texts) all = all ? intersection(*all, *text) : text;
  if (!all) all = DfaPointer(std::shared_ptr<void>(), &any_text());
  if (shape.least_length == 0 && shape.most_length == ~0ull) return all;
  return limit_lengths(all, shape.least_length, shape.most_length);
}

DfaPointer numeral_dfa(const Shape& shape) {
  DfaPointer all = number_dfa(shape.numbers);
  for (const DfaPointer& numerals : shape.numerals) all = intersection(*all, *numerals);
  return all;
}

}  // namespace glmhost::constraints
