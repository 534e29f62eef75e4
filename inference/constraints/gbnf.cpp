#include "inference/constraints/gbnf.h"

#include <algorithm>
#include <map>
#include <optional>

#include "inference/constraints/gbnf_parser.h"
#include "inference/constraints/schema_grammar.h"
#include "inference/error.h"

namespace glmhost::constraints {
namespace {

constexpr std::size_t kMostInlined = 50'000;  // parts of one automaton's expression
constexpr std::size_t kMostNodes = 2'000'000;

// Whatever does not recurse becomes one automaton, as long as that stays small; the rest becomes rules.
class GbnfGrammar {
 public:
  GbnfGrammar(const std::vector<GbnfRule>& rules, const Spec& spec)
      : rules_(rules), spec_(spec), grammar_(std::make_shared<Grammar>()), regular_(rules.size(), false) {}

  std::shared_ptr<Grammar> build() {
    find_regular();
    for (const GbnfRule& rule : rules_) grammar_->add_rule(rule.name);
    std::vector<bool> built(rules_.size(), false);
    wanted_ = {0};
    while (!wanted_.empty()) {
      const std::uint32_t rule = wanted_.back();
      wanted_.pop_back();
      if (built[rule]) continue;
      built[rule] = true;
      const NodeId end = add(rules_[rule].expression, grammar_->rules[rule].start);
      grammar_->nodes[end].accepts = true;
    }
    // Rules that nothing uses have no text; nobody calls them.
    return grammar_;
  }

 private:
  template <typename Use>
  static void each_reference(const Expression& expression, Use&& use) {
    if (expression.kind == Expression::Kind::rule) use(expression.rule);
    for (const Expression& part : expression.parts) each_reference(part, use);
  }

  // A rule is regular when no way from it leads into a circle or to a schema.
  void find_regular() {
    std::vector<std::vector<std::uint32_t>> references(rules_.size());
    for (std::size_t i = 0; i < rules_.size(); ++i) {
      each_reference(rules_[i].expression, [&](std::uint32_t rule) { references[i].push_back(rule); });
    }
    // Kahn's order from the leaves: what is never taken lies on a circle or leads to one.
    std::vector<std::size_t> left(rules_.size());
    std::vector<std::vector<std::uint32_t>> users(rules_.size());
    std::vector<std::uint32_t> work;
    for (std::uint32_t i = 0; i < rules_.size(); ++i) {
      left[i] = references[i].size();
      for (const std::uint32_t rule : references[i]) users[rule].push_back(i);
      if (left[i] == 0) work.push_back(i);
    }
    sizes_.assign(rules_.size(), 0);
    while (!work.empty()) {
      const std::uint32_t rule = work.back();
      work.pop_back();
      sizes_[rule] = size_of(rules_[rule].expression);
      // Written out it may double with every rule.
      regular_[rule] = sizes_[rule] <= kMostInlined && is_regular(rules_[rule].expression);
      for (const std::uint32_t user : users[rule]) {
        if (--left[user] == 0) work.push_back(user);
      }
    }
  }

  std::size_t size_of(const Expression& expression) const {
    std::size_t size = 1 + expression.text.size() + expression.characters.ranges().size();
    if (expression.kind == Expression::Kind::rule) size += sizes_[expression.rule];
    for (const Expression& part : expression.parts) size += size_of(part);
    if (expression.kind == Expression::Kind::repetition) {
      size *= expression.most == kUnbounded ? expression.least + 1 : std::max<std::size_t>(expression.most, 1);
    }
    return std::min<std::size_t>(size, kMostInlined + 1);
  }

  bool is_regular(const Expression& expression) const {
    if (expression.kind == Expression::Kind::rule) return regular_[expression.rule];
    if (expression.kind == Expression::Kind::schema || expression.kind == Expression::Kind::raw_schema) return false;
    return std::ranges::all_of(expression.parts, [&](const Expression& part) { return is_regular(part); });
  }

  Expression inlined(const Expression& expression) const {
    if (expression.kind == Expression::Kind::rule) return inlined(rules_[expression.rule].expression);
    Expression copy = expression;
    for (Expression& part : copy.parts) part = inlined(part);
    return copy;
  }

  // The automaton of an expression; none when it is not regular or would be too large.
  DfaPointer automaton(const Expression& expression) const {
    if (!is_regular(expression) || size_of(expression) > kMostInlined) return nullptr;
    if (const auto texts = as_texts(expression)) return literals(*texts);
    try {
      return to_dfa(inlined(expression), Match::whole, "The grammar");
    } catch (const Error&) {
      return nullptr;
    }
  }

  static std::optional<std::vector<std::string>> as_texts(const Expression& expression) {
    if (expression.kind != Expression::Kind::alternation) return std::nullopt;
    std::vector<std::string> texts;
    for (const Expression& part : expression.parts) {
      if (part.kind != Expression::Kind::text) return std::nullopt;
      texts.push_back(part.text);
    }
    return texts;
  }

  // Everything that EXPRESSION matches leads from FROM to the node returned.
  NodeId add(const Expression& expression, NodeId from) {
    if (grammar_->nodes.size() > kMostNodes) {
      throw Error(ErrorKind::bad_argument, "The grammar is too large.");
    }
    if (const DfaPointer dfa = automaton(expression)) return add_automaton(dfa, from);
    using Kind = Expression::Kind;
    switch (expression.kind) {
      case Kind::rule:
        return add_call(expression.rule, from);
      case Kind::schema:
        return add_call(schema_rule(expression.text, {}), from);
      case Kind::raw_schema:
        return add_call(schema_rule(expression.text, expression.parts[0].text), from);
      case Kind::sequence:
        return add_sequence(expression, from);
      case Kind::alternation:
        return add_call(alternation_rule(expression), from);
      case Kind::repetition: {
        const RuleId part = grammar_->add_rule("");
        grammar_->nodes[add(expression.parts[0], grammar_->rules[part].start)].accepts = true;
        const RuleId all = grammar_->add_rule("");
        const NodeId end = grammar_->add_node();
        grammar_->nodes[end].accepts = true;
        grammar_->add_repetition(part, expression.least, expression.most, grammar_->rules[all].start, end);
        return add_call(all, from);
      }
      default:
        throw Error(ErrorKind::bad_argument, "The grammar has a set of characters or a text that is too large.");
    }
  }

  NodeId add_sequence(const Expression& expression, NodeId from) {
    // Neighbours that are regular together make one automaton.
    std::vector<Expression> regular;
    const auto flush = [&] {
      if (regular.empty()) return;
      Expression together = regular.size() == 1 ? std::move(regular[0]) : Expression::sequence(std::move(regular));
      regular.clear();
      if (const DfaPointer dfa = automaton(together)) {
        from = add_automaton(dfa, from);
      } else if (together.kind == Expression::Kind::sequence) {
        for (const Expression& part : together.parts) from = add(part, from);
      } else {
        from = add(together, from);
      }
    };
    for (const Expression& part : expression.parts) {
      if (is_regular(part)) {
        regular.push_back(part);
        continue;
      }
      flush();
      from = add(part, from);
    }
    flush();
    return from;
  }

  RuleId alternation_rule(const Expression& expression) {
    const RuleId rule = grammar_->add_rule("");
    const NodeId start = grammar_->rules[rule].start;
    std::vector<Expression> regular;
    for (const Expression& part : expression.parts) {
      if (is_regular(part)) {
        regular.push_back(part);
        continue;
      }
      grammar_->nodes[add(part, start)].accepts = true;
    }
    if (regular.empty()) return rule;
    const Expression together = Expression::alternation(std::move(regular));
    if (const DfaPointer dfa = automaton(together)) {
      grammar_->nodes[add_automaton(dfa, start)].accepts = true;
    } else {
      for (const Expression& part : together.parts) grammar_->nodes[add(part, start)].accepts = true;
    }
    return rule;
  }

  // never: empty for JSON, else the text that raw values must not contain.
  RuleId schema_rule(const std::string& schema, const std::string& never) {
    const auto [known, fresh] = schemas_.try_emplace({schema, never}, 0);
    if (fresh) {
      Spec spec = spec_;
      spec.text = schema;
      known->second = never.empty() ? add_schema(grammar_, spec) : add_raw_schema(grammar_, spec, never);
    }
    return known->second;
  }

  // A terminal takes at least one byte; the empty text is a rule's business.
  NodeId add_automaton(const DfaPointer& dfa, NodeId from) {
    const bool nullable = !dfa->empty() && dfa->accepts(dfa->start());
    if (!nullable) {
      const NodeId to = grammar_->add_node();
      grammar_->nodes[from].edges.push_back({Edge::Kind::terminal, grammar_->add_bytes(dfa), to});
      return to;
    }
    return add_call(automaton_rule(*grammar_, dfa), from);
  }

  NodeId add_call(RuleId rule, NodeId from) {
    if (rule < rules_.size()) wanted_.push_back(rule);
    const NodeId to = grammar_->add_node();
    grammar_->nodes[from].edges.push_back({Edge::Kind::call, rule, to});
    return to;
  }

  const std::vector<GbnfRule>& rules_;
  const Spec& spec_;
  std::shared_ptr<Grammar> grammar_;
  std::vector<bool> regular_;
  std::vector<std::size_t> sizes_;  // written out
  std::vector<std::uint32_t> wanted_;
  std::map<std::pair<std::string, std::string>, RuleId> schemas_;
};

}  // namespace

RuleId automaton_rule(Grammar& grammar, const DfaPointer& dfa) {
  const RuleId rule = grammar.add_rule("");
  const NodeId start = grammar.rules[rule].start;
  const NodeId end = grammar.add_node();
  grammar.nodes[end].accepts = true;
  grammar.nodes[start].accepts = !dfa->empty() && dfa->accepts(dfa->start());
  grammar.nodes[start].edges.push_back({Edge::Kind::terminal, grammar.add_bytes(dfa), end});
  return rule;
}

std::shared_ptr<Grammar> gbnf_grammar(const Spec& spec) {
  const std::vector<GbnfRule> rules = parse_gbnf(spec.text);
  return GbnfGrammar(rules, spec).build();
}

}  // namespace glmhost::constraints
