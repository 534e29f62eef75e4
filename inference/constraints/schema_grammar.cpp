#include "inference/constraints/schema_grammar.h"

#include <algorithm>
#include <deque>
#include <map>
#include <unordered_map>

#include "inference/constraints/expression.h"
#include "inference/constraints/regex.h"
#include "inference/constraints/schema_shapes.h"

namespace glmhost::constraints {
namespace {

constexpr std::size_t kMostRules = 50'000;
constexpr std::uint32_t kMostWhiteSpace = 128;

std::uint32_t capped(std::uint64_t value) {
  return value >= kNone ? kNone : static_cast<std::uint32_t>(value);
}

class SchemaGrammar {
 public:
  SchemaGrammar(const SchemaDocument& document, const Spec& spec, std::shared_ptr<Grammar> grammar)
      : spec_(spec), reader_(document, spec.assert_formats), grammar_(std::move(grammar)) {
    using WhiteSpace = Spec::WhiteSpace;
    const bool any = spec.white_space == WhiteSpace::any;
    const auto mark = [&](bool before, const char* text, const char* after) {
      std::vector<Expression> parts;
      if (any && before) parts.push_back(white_space());
      parts.push_back(Expression::of_text(text));
      if (any && after != nullptr) parts.push_back(white_space());
      if (!any && after != nullptr) parts.push_back(Expression::of_text(after));
      return grammar_->add_bytes(to_dfa(Expression::sequence(std::move(parts)), Match::whole, "JSON"));
    };
    open_object_ = mark(false, "{", "");
    close_empty_object_ = mark(false, "}", nullptr);
    close_object_ = mark(true, "}", nullptr);
    open_array_ = mark(false, "[", "");
    close_empty_array_ = mark(false, "]", nullptr);
    close_array_ = mark(true, "]", nullptr);
    colon_ = mark(true, ":", " ");
    comma_ = mark(true, ",", " ");
    end_ = grammar_->add_node();
    grammar_->nodes[end_].accepts = true;
  }

  RuleId build_raw(std::string_view never) {
    const std::string what = "The text that must not come";
    without_marker_ = difference(any_text(), *to_dfa(Expression::of_text(never), Match::anywhere, what));
    const RuleId root = grammar_->add_rule(std::string(kSchemaRule));
    const Shapes shapes = reader_.shapes(Term({&reader_.document().root(), Literal::Kind::schema}));
    std::uint8_t types = 0;
    for (const Shape& shape : shapes) {
      if (!reader_.certainly_empty(shape, 3)) types |= shape.types;
    }
    const DfaPointer readable = readable_as(types);
    for (Shape shape : shapes) {
      if ((shape.types & kString) != 0) add_raw_text(root, shape, readable);
      shape.types &= static_cast<std::uint8_t>(~kString);
      add_shape(root, shape);
    }
    add_waiting();
    return root;
  }

  RuleId build() {
    const RuleId root = grammar_->add_rule(std::string(kSchemaRule));
    const RuleId value = rule_of(Term({&reader_.document().root(), Literal::Kind::schema}));
    const NodeId start = grammar_->rules[root].start;
    if (spec_.white_space == Spec::WhiteSpace::any) {
      const DfaPointer space =
          to_dfa(Expression::repetition(space_character(), 1, kMostWhiteSpace), Match::whole, "JSON");
      const TerminalId terminal = grammar_->add_bytes(space);
      const NodeId before = grammar_->add_node();
      const NodeId after = grammar_->add_node();
      link(start, Edge::Kind::terminal, terminal, before);
      link(start, Edge::Kind::call, value, after);
      link(before, Edge::Kind::call, value, after);
      grammar_->nodes[after].accepts = true;
      link(after, Edge::Kind::terminal, terminal, end_);
    } else {
      link(start, Edge::Kind::call, value, end_);
    }
    add_waiting();
    return root;
  }

 private:
  void add_waiting() {
    while (!waiting_.empty()) {
      const auto [term, rule] = std::move(waiting_.front());
      waiting_.pop_front();
      for (const Shape& shape : reader_.shapes(term)) add_shape(rule, shape);
    }
  }

  // Texts that read as JSON of one of the types (or as a quoted text, where there are other types than texts).
  static DfaPointer readable_as(std::uint8_t types) {
    if ((types & ~kString) == 0) return nullptr;
    const Expression space = Expression::repetition(space_character(), 0, kUnbounded);
    const Expression rest =
        Expression::repetition(Expression::of_characters(CodePointSet({{0, 0x10FFFF}})), 0, kUnbounded);
    std::vector<Expression> readings;
    const auto whole = [&](Expression value) {
      readings.push_back(Expression::sequence({space, std::move(value), space}));
    };
    const auto begun = [&](const char* mark) {
      readings.push_back(Expression::sequence({space, Expression::of_text(mark), rest}));
    };
    begun("\"");
    if ((types & kNull) != 0) whole(Expression::of_text("null"));
    if ((types & (kFalse | kTrue)) != 0) {
      whole(Expression::of_text("false"));
      whole(Expression::of_text("true"));
    }
    if ((types & kNumber) != 0) whole(parse_regex("-?[0-9]+(\\.[0-9]+)?([eE][-+]?[0-9]+)?"));
    if ((types & kArray) != 0) begun("[");
    if ((types & kObject) != 0) begun("{");
    return to_dfa(Expression::alternation(std::move(readings)), Match::whole, "JSON");
  }

  void add_raw_text(RuleId rule, const Shape& shape, const DfaPointer& readable) {
    DfaPointer text = text_dfa(avoiding(shape));
    if (readable) text = difference(*text, *readable);
    if (text->empty()) return;
    const NodeId start = grammar_->rules[rule].start;
    if (text->accepts(text->start())) grammar_->nodes[start].accepts = true;
    if (text->has_edges(text->start())) link(start, Edge::Kind::terminal, grammar_->add_bytes(text), end_);
  }

  // With what no text may contain.
  Shape avoiding(Shape shape) const {
    if (without_marker_) shape.texts.push_back(without_marker_);
    return shape;
  }

  static Expression space_character() {
    return Expression::of_characters(CodePointSet({{'\t', '\n'}, {'\r', '\r'}, {' ', ' '}}));
  }
  static Expression white_space() { return Expression::repetition(space_character(), 0, kMostWhiteSpace); }

  void link(NodeId from, Edge::Kind kind, std::uint32_t what, NodeId target) {
    grammar_->nodes[from].edges.push_back({kind, what, target});
  }

  RuleId rule_of(const Term& term) {
    const auto [known, fresh] = rules_.try_emplace(term, 0);
    if (fresh) {
      if (rules_.size() > kMostRules) {
        throw Error(ErrorKind::bad_argument, "The schema is too large: it describes more than " +
                                                 std::to_string(kMostRules) + " sorts of values.");
      }
      known->second = grammar_->add_rule("");
      waiting_.emplace_back(term, known->second);
    }
    return known->second;
  }

  void add_shape(RuleId rule, const Shape& shape) {
    const NodeId start = grammar_->rules[rule].start;
    add_words(start, shape);
    if ((shape.types & kString) != 0) link(start, Edge::Kind::terminal, string_terminal(shape), end_);
    if ((shape.types & kArray) != 0) add_array(start, shape);
    if ((shape.types & kObject) != 0) add_object(start, shape);
  }

  void add_words(NodeId start, const Shape& shape) {
    std::vector<std::string> words;
    if ((shape.types & kNull) != 0) words.emplace_back("null");
    if ((shape.types & kFalse) != 0) words.emplace_back("false");
    if ((shape.types & kTrue) != 0) words.emplace_back("true");
    if (!words.empty()) {
      TerminalId& terminal = words_.try_emplace(shape.types & (kNull | kFalse | kTrue), kNone).first->second;
      if (terminal == kNone) terminal = grammar_->add_bytes(literals(std::move(words)));
      link(start, Edge::Kind::terminal, terminal, end_);
    }
    if ((shape.types & kNumber) != 0) {
      const bool simple = shape.numbers.bounds.empty() && shape.numbers.multiples.empty() && shape.numerals.empty();
      TerminalId terminal = kNone;
      if (simple) {
        TerminalId& known =
            numbers_.try_emplace(shape.numbers.integer ? (*shape.numbers.integer ? 1 : 2) : 0, kNone).first->second;
        if (known == kNone) known = grammar_->add_bytes(numerals(shape));
        terminal = known;
      } else {
        terminal = grammar_->add_bytes(numerals(shape));
      }
      link(start, Edge::Kind::terminal, terminal, end_);
    }
  }

  TerminalId string_terminal(const Shape& of_schema) {
    const Shape shape = avoiding(of_schema);
    const auto key = std::tuple(shape.texts, shape.least_length, shape.most_length);
    TerminalId& known = strings_.try_emplace(key, kNone).first->second;
    if (known != kNone) return known;
    Terminal terminal;
    terminal.kind = Terminal::Kind::string;
    if (shape.texts.empty()) {
      terminal.free_text = true;
      terminal.dfa = DfaPointer(std::shared_ptr<void>(), &any_text());
      terminal.least = capped(shape.least_length);
      terminal.most = capped(shape.most_length);
      if (shape.least_length > shape.most_length) terminal.dfa = empty();
    } else {
      terminal.dfa = text_dfa(shape);
      terminal.one_spelling = usual();
    }
    return known = grammar_->add_terminal(std::move(terminal));
  }

  DfaPointer numerals(const Shape& shape) const {
    const DfaPointer all = numeral_dfa(shape);
    if (!usual() || all->empty()) return all;
    const DfaPointer short_ones = intersection(*all, *usual_numerals(shape.numbers.integer == true));
    return short_ones->empty() ? all : short_ones;
  }

  bool usual() const { return spec_.white_space == Spec::WhiteSpace::usual; }

  static DfaPointer empty() {
    return std::make_shared<const Dfa>(std::vector<std::vector<ByteEdge>>{}, std::vector<std::uint32_t>{}, 0);
  }

  void add_array(NodeId start, const Shape& shape) {
    if (shape.contains.size() > 1) {
      throw UnsupportedKeyword("contains", "Several `contains` for one array are not supported.");
    }
    ArrayForm form;
    form.least = capped(shape.least_items);
    form.most = capped(shape.most_items);
    if (shape.least_items > shape.most_items || form.least == kNone) return;
    form.open = open_array_;
    form.close_empty = close_empty_array_;
    form.close = close_array_;
    form.comma = comma_;
    const auto add_slot = [&](const Term& term) {
      auto& slot = form.slots.emplace_back();
      if (shape.contains.empty()) {
        slot.push_back({rule_of(term), 0});
        return;
      }
      const Shape::Contains& contains = shape.contains[0];
      Term hit = term, miss = term;
      hit.add(contains.term);
      // With an upper bound it matters that what does not count is no hit.
      if (contains.most != kNone) miss.add(opposite(contains.term));
      slot.push_back({rule_of(hit), 1});
      slot.push_back({rule_of(miss), 0});
    };
    const std::size_t in_reach = std::min<std::uint64_t>(shape.prefix.size(), shape.most_items);
    for (std::size_t i = 0; i < in_reach; ++i) add_slot(shape.prefix[i]);
    add_slot(shape.items);
    for (const Shape::Contains& contains : shape.contains) form.contains.push_back({contains.least, contains.most});
    grammar_->add_array(std::move(form), start);
  }

  static Term opposite(const Term& term) {
    const Literal literal = term.literals()[0];  // of the keyword `contains`: exactly one
    return Term(
        {literal.json, literal.kind == Literal::Kind::schema ? Literal::Kind::not_schema : Literal::Kind::schema});
  }

  // The names and terms of one object shape.
  struct Members {
    std::vector<std::string> declared;  // in the order of the schema
    std::vector<std::unordered_map<std::string, Term>> groups;
  };

  Members members_of(const Shape& shape) {
    Members members;
    std::unordered_map<std::string, bool> seen;
    const auto declare = [&](const std::string& name) {
      if (seen.try_emplace(name, true).second) members.declared.push_back(name);
    };
    for (const Shape::Properties& group : shape.properties) {
      auto& map = members.groups.emplace_back();
      for (const auto& [name, term] : group.named) {
        declare(name);
        map[name].add(term);
      }
    }
    for (const std::string& name : shape.required) declare(name);
    for (const auto& [name, dependent] : shape.dependents) {
      declare(name);
      declare(dependent);
    }
    return members;
  }

  Term member_term(const Shape& shape, const Members& members, const std::string& name) {
    Term term;
    for (std::size_t i = 0; i < shape.properties.size(); ++i) {
      const Shape::Properties& group = shape.properties[i];
      bool evaluated = false;
      if (const auto named = members.groups[i].find(name); named != members.groups[i].end()) {
        term.add(named->second);
        evaluated = true;
      }
      for (const Shape::PatternProperty& property : group.patterns) {
        if (!reader_.pattern(property.pattern)->matches(name)) continue;
        term.add(property.term);
        evaluated = true;
      }
      if (!evaluated) term.add(group.additional);
    }
    return term;
  }

  static bool is_false(const Term& term) {
    return std::ranges::any_of(term.literals(), [](const Literal& literal) {
      return literal.kind == Literal::Kind::schema && literal.json->is_boolean() && !literal.json->get<bool>();
    });
  }

  void add_object(NodeId start, const Shape& shape) {
    if (shape.least_properties > shape.most_properties) return;
    const Members members = members_of(shape);
    const auto allowed_names = names_dfa(shape);
    std::vector<std::string> sorted = members.declared;
    std::ranges::sort(sorted);
    std::unordered_map<std::string, std::uint32_t> labels;
    for (std::uint32_t i = 0; i < sorted.size(); ++i) labels[sorted[i]] = i;

    ObjectForm form;
    form.least = capped(shape.least_properties);
    form.most = capped(shape.most_properties);
    if (form.least == kNone) return;
    form.order = spec_.order == Spec::PropertyOrder::declared ? ObjectForm::Order::declared : ObjectForm::Order::any;
    form.properties.resize(sorted.size());
    form.names = std::make_shared<const KeyTrie>(sorted);
    for (std::uint32_t position = 0; position < members.declared.size(); ++position) {
      const std::string& name = members.declared[position];
      ObjectForm::Property& property = form.properties[labels.at(name)];
      property.position = position;
      const Term term = member_term(shape, members, name);
      if (!is_false(term) && (!allowed_names || allowed_names->matches(name))) property.rule = rule_of(term);
    }
    for (const std::string& name : shape.required) form.properties[labels.at(name)].required = true;
    for (const auto& [name, dependent] : shape.dependents) {
      form.properties[labels.at(name)].dependents.push_back(labels.at(dependent));
    }
    form.open = open_object_;
    form.close_empty = close_empty_object_;
    form.close = close_object_;
    form.colon = colon_;
    form.comma = comma_;
    form.key = key_terminal(shape, form, sorted, allowed_names);
    grammar_->add_object(std::move(form), start);
  }

  // propertyNames; null when there are none.
  DfaPointer names_dfa(const Shape& shape) {
    DfaPointer all;
    for (const Term& term : shape.names) {
      const DfaPointer one = reader_.string_values(term);
      all = all ? intersection(*all, *one) : one;
    }
    if (without_marker_) all = all ? intersection(*all, *without_marker_) : without_marker_;
    return all;
  }

  // For names that are no known property, by the patterns that they match.
  TerminalId key_terminal(const Shape& shape, ObjectForm& form, const std::vector<std::string>& known,
                          const DfaPointer& allowed_names) {
    Terminal terminal;
    terminal.kind = Terminal::Kind::key;
    terminal.one_spelling = usual();
    std::vector<std::string> patterns;
    for (const Shape::Properties& group : shape.properties) {
      for (const auto& property : group.patterns) {
        if (std::ranges::find(patterns, property.pattern) == patterns.end()) patterns.push_back(property.pattern);
      }
    }
    const auto term_of = [&](const std::vector<bool>& matched) {
      Term term;
      for (const Shape::Properties& group : shape.properties) {
        bool evaluated = false;
        for (const auto& property : group.patterns) {
          const auto index = static_cast<std::size_t>(std::ranges::find(patterns, property.pattern) - patterns.begin());
          if (!matched[index]) continue;
          term.add(property.term);
          evaluated = true;
        }
        if (!evaluated) term.add(group.additional);
      }
      return term;
    };
    if (patterns.empty() && !allowed_names) {
      const Term term = term_of({});
      if (!is_false(term)) {
        terminal.free_text = true;
        terminal.one_spelling = false;
        terminal.dfa = DfaPointer(std::shared_ptr<void>(), &any_text());
        form.others.push_back(rule_of(term));
      }
      return grammar_->add_terminal(std::move(terminal));
    }
    // Labels: which patterns match.
    std::vector<std::vector<bool>> sets = {std::vector<bool>(patterns.size(), false)};
    DfaPointer all(std::shared_ptr<void>(), &any_text());
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      std::map<std::vector<bool>, std::uint32_t> numbers;
      std::vector<std::vector<bool>> next;
      all = combine(*all, *reader_.pattern(patterns[i]), [&](std::uint32_t before, std::uint32_t matches) {
        if (before == kNoLabel) return kNoLabel;
        std::vector<bool> set = sets[before];
        set[i] = matches != kNoLabel;
        const auto [place, fresh] = numbers.try_emplace(set, static_cast<std::uint32_t>(next.size()));
        if (fresh) next.push_back(set);
        return place->second;
      });
      sets = std::move(next);
    }
    if (allowed_names) all = intersection(*all, *allowed_names);
    if (!known.empty()) all = difference(*all, *literals(known));
    bool some_forbidden = false;
    for (const auto& set : sets) {
      const Term term = term_of(set);
      form.others.push_back(is_false(term) ? kNone : rule_of(term));
      some_forbidden = some_forbidden || form.others.back() == kNone;
    }
    if (some_forbidden) {
      all = combine(*all, *empty(), [&](std::uint32_t label, std::uint32_t) {
        return label != kNoLabel && form.others[label] != kNone ? label : kNoLabel;
      });
    }
    if (all->empty()) {
      form.others.clear();
    } else {
      terminal.dfa = all;
    }
    return grammar_->add_terminal(std::move(terminal));
  }

  const Spec& spec_;
  SchemaReader reader_;
  std::shared_ptr<Grammar> grammar_;
  std::map<Term, RuleId> rules_;
  std::deque<std::pair<Term, RuleId>> waiting_;
  DfaPointer without_marker_;  // raw values: what every text is one of
  std::map<int, TerminalId> words_, numbers_;
  std::map<std::tuple<std::vector<DfaPointer>, std::uint64_t, std::uint64_t>, TerminalId> strings_;
  TerminalId open_object_, close_empty_object_, close_object_, open_array_, close_empty_array_, close_array_, colon_,
      comma_;
  NodeId end_;
};

}  // namespace

RuleId add_schema(const std::shared_ptr<Grammar>& grammar, const Spec& spec) {
  const SchemaDocument document(spec.text);
  return SchemaGrammar(document, spec, grammar).build();
}

RuleId add_raw_schema(const std::shared_ptr<Grammar>& grammar, const Spec& spec, std::string_view never) {
  const SchemaDocument document(spec.text);
  return SchemaGrammar(document, spec, grammar).build_raw(never);
}

std::shared_ptr<Grammar> schema_grammar(const Spec& spec) {
  auto grammar = std::make_shared<Grammar>();
  grammar->root = add_schema(grammar, spec);
  return grammar;
}

}  // namespace glmhost::constraints
