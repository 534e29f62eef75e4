#include "excel-addin/table/expression.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "excel-addin/formula/coercion.h"
#include "excel-addin/formula/function.h"
#include "excel-addin/formula/text_units.h"
#include "excel-addin/table/lane.h"

namespace glmhost::table {
namespace {

using formula::NodeId;
using formula::SyntaxError;
using formula::SyntaxTree;
using formula::Value;

constexpr std::size_t kNoColumn = static_cast<std::size_t>(-1);
constexpr std::size_t kSeveral = static_cast<std::size_t>(-2);

const Value* value_named(const formula::Name& name, const std::vector<NamedValue>& values) {
  if (name.kind == formula::NameKind::position) return nullptr;
  const auto found = std::ranges::find_if(
      values, [&](const NamedValue& each) { return formula::equal_without_case(each.name, name.text); });
  return found == values.end() ? nullptr : &found->value;
}

std::optional<std::size_t> find_column(const formula::Name& name, const Table& table) {
  if (name.kind != formula::NameKind::position) return table.find(name.text);
  std::size_t place = 0;
  std::from_chars(name.text.data(), name.text.data() + name.text.size(), place);
  return place >= 1 && place <= table.width() ? std::optional(place - 1) : std::nullopt;
}

[[noreturn]] void refuse_name(const formula::Name& name, SourceSpan span, const Table& table,
                              std::string_view expected) {
  const std::size_t length = std::max<std::size_t>(span.length, 1);
  if (name.kind == formula::NameKind::position) {
    throw SyntaxError("There is no column #" + name.text + "; the table has " + std::to_string(table.width()) +
                          (table.width() == 1 ? " column." : " columns."),
                      span.offset, length);
  }
  std::vector<std::string_view> names;
  for (const Field& field : table.fields()) names.push_back(field.name);
  const std::string near = formula::valid_utf8(formula::nearest_of(name.text, names));
  std::string sentence = "There is no " + std::string(expected) + " `" + formula::valid_utf8(name.text) + "`.";
  if (!near.empty()) {
    sentence += " Did you mean `" + near + "`?";
  } else if (names.empty()) {
    sentence += " The table has no columns.";
  } else {
    constexpr std::size_t kMostShown = 20;
    std::string all;
    for (std::size_t i = 0; i < std::min(names.size(), kMostShown); ++i)
      all += (i > 0 ? ", " : "") + formula::valid_utf8(names[i]);
    sentence += " The columns are " + all + (names.size() > kMostShown ? ", ..." : "") + ".";
  }
  throw SyntaxError(sentence, span.offset, length, near);
}

enum class Form { constant, column, mapped, unary, binary, choice };

struct Step {
  Form form = Form::constant;
  formula::Operator op{};
  Column column;   // the leaf; of mapped: the texts
  Column entries;  // of mapped
  std::size_t operands[3] = {};
  Choice choice;
  std::shared_ptr<const Dictionary> dictionary;
};

class Plan {
 public:
  Plan(const SyntaxTree& tree, NodeId root, const Scope& scope, Workers& workers)
      : tree_(tree), root_(root), scope_(scope), workers_(workers) {
    look();
    build();
  }

  const Step& root() const { return steps_.back(); }
  const std::vector<Step>& steps() const { return steps_; }

 private:
  struct Facts {
    bool needed = false;  // below the root, above what is already computed
    bool bound = false;   // names below may be LET's
    bool pure = true;
    bool quick = false;  // kernels all the way down
    std::size_t column = kNoColumn;
  };

  const Column* computed(NodeId id) const {
    if (scope_.computed == nullptr) return nullptr;
    const auto found = std::ranges::find(*scope_.computed, id, [](const auto& each) { return each.first; });
    return found == scope_.computed->end() ? nullptr : &found->second;
  }

  void look() {
    facts_.resize(std::size_t{root_} + 1);
    facts_[root_].needed = true;
    for (std::size_t at = facts_.size(); at-- > 0;) {
      const auto id = static_cast<NodeId>(at);
      if (!facts_[id].needed || computed(id) != nullptr) continue;
      const auto* call = std::get_if<formula::Call>(&tree_[id].content);
      const bool binds = call != nullptr && call->function->has(formula::Trait::binds_names);
      each_child(tree_, id, [&](NodeId child) {
        facts_[child].needed = true;
        facts_[child].bound = facts_[id].bound || binds;
      });
    }
    for (NodeId id = 0; id < facts_.size(); ++id) {
      if (facts_[id].needed) look_at(id);
    }
  }

  void look_at(NodeId id) {
    Facts& facts = facts_[id];
    if (computed(id) != nullptr) {
      facts.quick = true;
      facts.column = kSeveral;
      return;
    }
    const formula::Node& node = tree_[id];
    bool all_quick = true;
    each_child(tree_, id, [&](NodeId child) {
      const Facts& below = facts_[child];
      all_quick &= below.quick;
      facts.pure &= below.pure;
      if (below.column == kNoColumn) return;
      facts.column = facts.column == kNoColumn || facts.column == below.column ? below.column : kSeveral;
    });
    if (const auto* literal = std::get_if<formula::Literal>(&node.content)) {
      facts.quick = !literal->value.is_array();
    } else if (const auto* name = std::get_if<formula::Name>(&node.content)) {
      look_at_name(*name, node.span, facts);
    } else if (const auto* unary = std::get_if<formula::Unary>(&node.content)) {
      facts.quick = all_quick && has_kernel(unary->op);
    } else if (const auto* binary = std::get_if<formula::Binary>(&node.content)) {
      facts.quick = all_quick && has_kernel(binary->op);
    } else if (const auto* call = std::get_if<formula::Call>(&node.content)) {
      check_call(*call, node.span);
      facts.pure &= !call->function->has(formula::Trait::is_volatile);
      facts.quick = all_quick && is_choice(*call);
    }
  }

  void look_at_name(const formula::Name& name, SourceSpan span, Facts& facts) {
    if (const auto place = find_column(name, scope_.table)) {
      facts.column = *place;
      facts.quick = !facts.bound;
      names_.emplace_back(&name, *place);
      scope_.table.column(*place, workers_);  // gathered here: tasks may only read
    } else if (const Value* value = value_named(name, scope_.values)) {
      facts.quick = !value->is_array();
    } else if (!facts.bound) {
      refuse_name(name, span, scope_.table, scope_.expected);
    }
  }

  bool is_choice(const formula::Call& call) const {
    if (call.function->name != "IF") return false;
    const auto arguments = tree_.arguments_of(call);
    return std::ranges::none_of(arguments, [&](NodeId id) {
      const auto* literal = std::get_if<formula::Literal>(&tree_[id].content);
      return literal != nullptr && literal->value.is_omitted();
    });
  }

  void check_call(const formula::Call& call, SourceSpan span) const {
    const auto refuse = [&](const std::string& sentence) {
      throw SyntaxError(sentence, span.offset, std::max<std::size_t>(call.function->name.size(), 1));
    };
    const std::string name(call.function->name);
    if (call.where)
      refuse("A `where` belongs to an aggregate of group, window or pivot; in a row there is nothing to pick from.");
    if (!call.function->has(formula::Trait::aggregate)) return;
    const auto arguments = tree_.arguments_of(call);
    const bool array = std::ranges::any_of(arguments, [&](NodeId id) {
      const auto* literal = std::get_if<formula::Literal>(&tree_[id].content);
      return literal != nullptr && literal->value.is_array();
    });
    if (arguments.size() < 2 && !array) {
      refuse(name + " would see one row at a time here. For whole columns write group (total = " + name +
             "(...)) or window (total = " + name + "(...)).");
    }
  }

  void build() {
    // From the root down: what is computed as one part is not entered.
    std::vector<bool> entered(facts_.size());
    entered[root_] = true;
    for (std::size_t at = facts_.size(); at-- > 0;) {
      const auto id = static_cast<NodeId>(at);
      if (!entered[id] || is_leaf(id)) continue;
      each_child(tree_, id, [&](NodeId child) { entered[child] = true; });
    }
    std::vector<std::size_t> step_of(facts_.size());
    for (NodeId id = 0; id < facts_.size(); ++id) {
      if (!entered[id]) continue;
      steps_.push_back(is_leaf(id) ? leaf(id) : inner(id, step_of));
      step_of[id] = steps_.size() - 1;
    }
  }

  bool maps(NodeId id) const {
    const Facts& facts = facts_[id];
    if (facts.column >= kSeveral || !facts.pure) return false;
    if (std::holds_alternative<formula::Name>(tree_[id].content)) return false;
    const Column& column = scope_.table.column(facts.column, workers_);
    return column.type() == ColumnType::text && column.dictionary()->size() < column.rows();
  }

  bool is_leaf(NodeId id) const {
    if (computed(id) != nullptr || !facts_[id].quick || maps(id)) return true;
    return std::holds_alternative<formula::Literal>(tree_[id].content) ||
           std::holds_alternative<formula::Name>(tree_[id].content);
  }

  Step leaf(NodeId id) {
    Step step;
    if (const Column* known = computed(id)) return column_step(*known);
    const auto* name = std::get_if<formula::Name>(&tree_[id].content);
    if (name != nullptr && facts_[id].quick) {
      if (facts_[id].column != kNoColumn) return column_step(scope_.table.column(facts_[id].column, workers_));
      return constant_step(*value_named(*name, scope_.values));
    }
    if (facts_[id].column == kNoColumn && facts_[id].pure) {
      formula::Context context = fresh_context(nullptr);
      return constant_step(formula::Evaluator(tree_, context).evaluate(id).scalar());
    }
    if (maps(id)) return mapped_step(id);
    return column_step(by_rows(id));
  }

  static Step column_step(Column column) {
    Step step;
    step.form = Form::column;
    step.dictionary = column.dictionary();
    step.column = std::move(column);
    return step;
  }

  static Step constant_step(const Value& value) {
    Step step;
    step.column = Column::constant(value, kLaneRows);
    step.dictionary = step.column.dictionary();
    return step;
  }

  Step inner(NodeId id, const std::vector<std::size_t>& step_of) {
    Step step;
    if (const auto* unary = std::get_if<formula::Unary>(&tree_[id].content)) {
      step.form = Form::unary;
      step.op = unary->op;
      step.operands[0] = step_of[unary->operand];
    } else if (const auto* binary = std::get_if<formula::Binary>(&tree_[id].content)) {
      step.form = Form::binary;
      step.op = binary->op;
      step.operands[0] = step_of[binary->left];
      step.operands[1] = step_of[binary->right];
    } else {
      const auto arguments = tree_.arguments_of(std::get<formula::Call>(tree_[id].content));
      step.form = Form::choice;
      for (std::size_t i = 0; i < arguments.size(); ++i) step.operands[i] = step_of[arguments[i]];
      if (arguments.size() == 2) {
        steps_.push_back(constant_step(Value(false)));
        step.operands[2] = steps_.size() - 1;
      }
      DictionaryBuilder texts;
      step.choice.yes_codes = codes_in(texts, steps_[step.operands[1]].dictionary);
      step.choice.no_codes = codes_in(texts, steps_[step.operands[2]].dictionary);
      step.choice.dictionary = step.dictionary = texts.finish();
    }
    return step;
  }

  static std::vector<std::uint32_t> codes_in(DictionaryBuilder& texts,
                                             const std::shared_ptr<const Dictionary>& dictionary) {
    std::vector<std::uint32_t> codes(dictionary ? dictionary->size() : 0);
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = texts.code(dictionary->text(i));
    return codes;
  }

  // `value_of` gives the value of a column; null where there are none.
  formula::Context fresh_context(const std::function<Value(std::size_t)>& value_of) const {
    formula::Context context;
    context.resolve_name = [this, value_of](const formula::Name& name) -> std::optional<Value> {
      const auto found = std::ranges::find(names_, &name, [](const auto& each) { return each.first; });
      if (found != names_.end()) return value_of(found->second);
      const Value* value = value_named(name, scope_.values);
      return value == nullptr ? std::nullopt : std::optional(*value);
    };
    return context;
  }

  // Once for each different text.
  Step mapped_step(NodeId id) {
    Step step;
    step.form = Form::mapped;
    step.column = scope_.table.column(facts_[id].column, workers_);
    const Dictionary& texts = *step.column.dictionary();
    step.entries = by_blocks(texts.size() + 1, id, [&](std::size_t entry, std::size_t) {
      return entry < texts.size() ? Value(texts.text(entry)) : Value();
    });
    step.dictionary = step.entries.dictionary();
    return step;
  }

  Column by_rows(NodeId id) {
    return by_blocks(scope_.table.rows(), id, [this](std::size_t row, std::size_t column) {
      return scope_.table.column(column, workers_).value(row);
    });
  }

  template <class ValueOf>
  Column by_blocks(std::size_t count, NodeId id, const ValueOf& value_of) {
    const std::size_t blocks = (count + Workers::kBlockRows - 1) / Workers::kBlockRows;
    if (blocks == 0) return Column::empties(0);
    std::vector<Column> parts(blocks);
    workers_.for_blocks(count, [&](std::size_t begin, std::size_t end) {
      std::size_t at = begin;
      formula::Context context = fresh_context([&](std::size_t column) { return value_of(at, column); });
      if (scope_.computed != nullptr) {
        context.known_part = [&](NodeId part) -> std::optional<Value> {
          const Column* known = computed(part);
          return known == nullptr ? std::nullopt : std::optional(known->value(at));
        };
      }
      constexpr std::size_t kCheckEvery = 256;
      ColumnBuilder builder;
      builder.reserve(end - begin);
      for (; at < end; ++at) {
        if (at % kCheckEvery == 0) workers_.check_cancelled();
        builder.add(formula::Evaluator(tree_, context).evaluate(id));
      }
      parts[begin / Workers::kBlockRows] = builder.finish();
    });
    return concatenated(parts);
  }

  const SyntaxTree& tree_;
  const NodeId root_;
  const Scope& scope_;
  Workers& workers_;
  std::vector<Facts> facts_;
  std::vector<std::pair<const formula::Name*, std::size_t>> names_;
  std::vector<Step> steps_;
};

// Runs the steps over one run of rows after another.
class Runner {
 public:
  explicit Runner(const Plan& plan) : plan_(plan), lanes_(plan.steps().size()), buffers_(plan.steps().size()) {}

  const Lane& run(std::size_t begin, std::size_t count) {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      const Step& step = plan_.steps()[i];
      const auto lane = [&](int operand) -> const Lane& { return lanes_[step.operands[operand]]; };
      switch (step.form) {
        case Form::constant:
          lanes_[i] = column_lane(step.column, 0, count, buffers_[i]);
          break;
        case Form::column:
          lanes_[i] = column_lane(step.column, begin, count, buffers_[i]);
          break;
        case Form::mapped:
          lanes_[i] = mapped_lane(step.column, step.entries, begin, count, buffers_[i]);
          break;
        case Form::unary:
          lanes_[i] = unary_lane(step.op, lane(0), count, buffers_[i]);
          break;
        case Form::binary:
          lanes_[i] = binary_lane(step.op, lane(0), lane(1), count, buffers_[i]);
          break;
        case Form::choice:
          lanes_[i] = choice_lane(lane(0), lane(1), lane(2), step.choice, count, buffers_[i]);
          break;
      }
    }
    return lanes_.back();
  }

 private:
  const Plan& plan_;
  std::vector<Lane> lanes_;
  std::vector<LaneBuffer> buffers_;
};

template <class Visit>
void each_lane(const Plan& plan, std::size_t rows, Workers& workers, const Visit& visit) {
  workers.for_blocks(rows, [&](std::size_t begin, std::size_t end) {
    Runner runner(plan);
    for (std::size_t at = begin; at < end; at += kLaneRows) {
      const std::size_t count = std::min(kLaneRows, end - at);
      visit(at, count, runner.run(at, count));
    }
  });
}

}  // namespace

void each_child(const SyntaxTree& tree, NodeId id, const std::function<void(NodeId)>& visit) {
  const auto& content = tree[id].content;
  if (const auto* unary = std::get_if<formula::Unary>(&content)) {
    visit(unary->operand);
  } else if (const auto* binary = std::get_if<formula::Binary>(&content)) {
    visit(binary->left);
    visit(binary->right);
  } else if (const auto* call = std::get_if<formula::Call>(&content)) {
    for (const NodeId argument : tree.arguments_of(*call)) visit(argument);
    if (call->where) visit(*call->where);
  }
}

bool names_column(const SyntaxTree& tree, NodeId root, const Table& table) {
  std::vector<NodeId> waiting = {root};
  while (!waiting.empty()) {
    const NodeId id = waiting.back();
    waiting.pop_back();
    const auto* name = std::get_if<formula::Name>(&tree[id].content);
    if (name != nullptr && find_column(*name, table)) return true;
    each_child(tree, id, [&](NodeId child) { waiting.push_back(child); });
  }
  return false;
}

Column evaluate(const Expression& expression, const Scope& scope, Workers& workers) {
  return evaluate(expression.tree, expression.tree.root(), scope, workers);
}

Matches matching(const Expression& condition, const Scope& scope, Workers& workers) {
  return matching(condition.tree, condition.tree.root(), scope, workers);
}

Column evaluate(const SyntaxTree& tree, NodeId root_node, const Scope& scope, Workers& workers) {
  const Plan plan(tree, root_node, scope, workers);
  const std::size_t rows = scope.table.rows();
  const Step& root = plan.root();
  if (root.form == Form::column) return root.column;
  if (rows == 0) return Column::empties(0);
  Buffer<double> payloads(rows);
  Buffer<Tag> tags(rows);
  // Of each lane: its tag where all cells have one.
  constexpr Tag kVarious = static_cast<Tag>(0xFF);
  std::vector<Tag> lane_tags((rows + kLaneRows - 1) / kLaneRows);
  each_lane(plan, rows, workers, [&](std::size_t begin, std::size_t count, const Lane& lane) {
    std::copy_n(lane.data, count, payloads.data() + begin);
    lane_tags[begin / kLaneRows] = lane.tags == nullptr ? lane.tag : kVarious;
    if (lane.tags != nullptr) std::copy_n(lane.tags, count, tags.data() + begin);
  });
  const Tag first = lane_tags[0];
  const bool one_tag = std::ranges::all_of(lane_tags, [&](Tag tag) { return tag == first; });
  if (one_tag && is_number(first)) return Column::numbers(std::move(payloads), {}, kind_of(first));
  if (one_tag && first == Tag::boolean) {
    Buffer<std::uint8_t> cells(rows);
    for (std::size_t i = 0; i < rows; ++i) cells[i] = payloads[i] != 0;
    return Column::booleans(std::move(cells));
  }
  for (std::size_t i = 0; i < lane_tags.size(); ++i) {
    if (lane_tags[i] == kVarious) continue;
    const std::size_t begin = i * kLaneRows;
    std::fill_n(tags.data() + begin, std::min(kLaneRows, rows - begin), lane_tags[i]);
  }
  return Column::mixed(std::move(tags), std::move(payloads), root.dictionary);
}

Matches matching(const SyntaxTree& tree, NodeId root_node, const Scope& scope, Workers& workers) {
  const Plan plan(tree, root_node, scope, workers);
  const std::size_t rows = scope.table.rows();
  struct Part {
    Rows rows;
    std::size_t errors = 0, first_error_row = 0;
    formula::ErrorCode first_error{};
  };
  std::vector<Part> parts((rows + Workers::kBlockRows - 1) / Workers::kBlockRows);
  each_lane(plan, rows, workers, [&](std::size_t begin, std::size_t count, const Lane& lane) {
    Part& part = parts[begin / Workers::kBlockRows];
    const std::size_t before = part.rows.size();
    part.rows.resize(before + count);
    std::uint32_t* out = part.rows.data() + before;
    if (lane.is_plain()) {
      for (std::size_t i = 0; i < count; ++i) {
        *out = static_cast<std::uint32_t>(begin + i);
        out += lane.data[i] != 0;
      }
    } else {
      for (std::size_t i = 0; i < count; ++i) {
        const auto truth = formula::to_boolean(lane.value(i));
        if (truth) {
          if (*truth) *out++ = static_cast<std::uint32_t>(begin + i);
        } else if (part.errors++ == 0) {
          part.first_error_row = begin + i;
          part.first_error = truth.error();
        }
      }
    }
    part.rows.resize(static_cast<std::size_t>(out - part.rows.data()));
  });
  Matches result;
  std::vector<std::size_t> offsets = {0};
  for (const Part& part : parts) {
    offsets.push_back(offsets.back() + part.rows.size());
    if (result.errors == 0 && part.errors > 0) {
      result.first_error_row = part.first_error_row;
      result.first_error = part.first_error;
    }
    result.errors += part.errors;
  }
  result.rows.resize(offsets.back());
  workers.run(parts.size(), [&](std::size_t i) {
    std::copy(parts[i].rows.begin(), parts[i].rows.end(),
              result.rows.begin() + static_cast<std::ptrdiff_t>(offsets[i]));
  });
  return result;
}

std::size_t column_place(const formula::Name& name, SourceSpan span, const Table& table) {
  const auto place = find_column(name, table);
  if (!place) refuse_name(name, span, table, "column");
  return *place;
}

Value constant_value(const Expression& expression, const std::vector<NamedValue>& values) {
  Table none(1);
  Workers alone(1);
  const Column column = evaluate(expression, {none, values, nullptr, "value"}, alone);
  return column.value(0);
}

}  // namespace glmhost::table
