#include "excel-addin/functions/question.h"

#include <algorithm>

#include "excel-addin/formula/number_text.h"
#include "excel-addin/formula/text_units.h"
#include "excel-addin/functions/call_error.h"
#include "excel-addin/functions/content_hash.h"

namespace glmhost::functions {
namespace {

using Json = nlohmann::ordered_json;
using formula::ErrorCode;

constexpr std::size_t kMostCellUnits = 32'767;  // of a text in a cell

std::string trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(kBlanks) - first + 1));
}

// A text longer than a cell holds is cut, and said to be.
std::string fitting(std::string text, std::string& note) {
  if (text.size() <= kMostCellUnits) return text;
  const std::size_t units = formula::length_in_units(text);
  if (units <= kMostCellUnits) return text;
  note = "The answer had " + std::to_string(units) + " characters, and a cell holds " + std::to_string(kMostCellUnits) +
         ": its end was cut off.";
  return formula::valid_utf8(formula::slice_units(text, 0, kMostCellUnits));
}

Json parsed(const std::string& text) {
  Json value = Json::parse(text, nullptr, false);
  if (value.is_discarded()) {
    throw CallError(ErrorCode::not_available,
                    "The model's answer does not have the form that was asked for: " + text.substr(0, 200));
  }
  return value;
}

Value column_of(const Json& list, std::string& note) {
  if (!list.is_array() || list.empty()) {
    throw CallError(ErrorCode::not_available, "The model answered with an empty list.");
  }
  formula::Array array(list.size(), 1);
  for (std::size_t i = 0; i < list.size(); ++i) {
    Value cell = to_cell(list[i], FieldType::any);
    array[i] = cell.is_text() ? Value(fitting(cell.text(), note)) : std::move(cell);
  }
  return array;
}

void put_fields(const Json& object, const std::vector<FieldSpec>& fields, formula::Array& array, std::size_t row,
                std::string& note) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto found = object.find(fields[i].name);
    Value cell = found == object.end() ? Value("") : to_cell(*found, fields[i].type);
    array(row, i) = cell.is_text() ? Value(fitting(cell.text(), note)) : std::move(cell);
  }
}

Value grid_of(const Json& list, const std::vector<FieldSpec>& fields, std::string& note) {
  if (!list.is_array()) throw CallError(ErrorCode::not_available, "The model's answer is no table.");
  formula::Array array(list.size() + 1, fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) array(0, i) = Value(fields[i].name);
  for (std::size_t row = 0; row < list.size(); ++row) put_fields(list[row], fields, array, row + 1, note);
  return array;
}

// --- making plans

void add_to(ContentHash& hash, const Options& options) {
  hash.add(std::string_view(options.model));
  hash.add(Value(options.temperature));
  hash.add(static_cast<std::uint64_t>(options.max_tokens));
  hash.add(options.seed);
  hash.add(std::uint64_t{options.thinking});
}

// The error that an argument of one cell is; errors inside of ranges are shown to the model.
std::optional<ErrorCode> error_of(const Argument& argument) {
  if (argument.parts.size() != 1 || argument.parts[0].cells == nullptr) return std::nullopt;
  const CellBlock& cells = *argument.parts[0].cells;
  if (cells.rows() != 1 || cells.columns() != 1) return std::nullopt;
  const Value value = cells.cell(0, 0);
  return value.is_error() ? std::optional(value.error()) : std::nullopt;
}

class Planner {
 public:
  Planner(FunctionId function, std::span<const Argument> arguments, const Options& defaults, std::size_t most,
          const Topic& topic)
      : function_(function), arguments_(arguments), options_(defaults), most_(most), topic_(topic) {}

  Plan make() {
    switch (function_) {
      case FunctionId::glm:
      case FunctionId::number:
      case FunctionId::date:
      case FunctionId::boolean:
        return ask(0);
      case FunctionId::with:
        options_ = parse_options(text(0, "options"), options_);
        return ask(1);
      case FunctionId::list:
        return list();
      case FunctionId::grid:
        return grid();
      case FunctionId::classify:
        return classify();
      case FunctionId::extract:
        return extract();
      case FunctionId::summarize:
        return summarize();
      default:
        return translate();
    }
  }

 private:
  const Argument& at(std::size_t i) const {
    static const Argument omitted;
    return i < arguments_.size() ? arguments_[i] : omitted;
  }

  // The one cell of an argument.
  Value scalar(std::size_t i, std::string_view name) const {
    const Argument& argument = at(i);
    if (argument.is_omitted() || argument.parts[0].cells == nullptr) return {};
    const CellBlock& cells = *argument.parts[0].cells;
    if (argument.parts.size() > 1 || cells.rows() != 1 || cells.columns() != 1) {
      throw CallError("The argument " + std::string(name) + " must be one value, not a range of several.");
    }
    const Value value = cells.cell(0, 0);
    if (value.is_error()) throw CallError(value.error(), "The argument " + std::string(name) + " is an error value.");
    return value;
  }

  std::string text(std::size_t i, std::string_view name) const { return shown(scalar(i, name)); }

  std::string demanded_text(std::size_t i, std::string_view name) const {
    std::string words = text(i, name);
    if (trimmed(words).empty()) throw CallError("The argument " + std::string(name) + " is empty.");
    return words;
  }

  std::int64_t whole_number(std::size_t i, std::string_view name, std::int64_t otherwise, std::int64_t most) const {
    const Value value = scalar(i, name);
    if (value.is_empty()) return otherwise;
    std::optional<double> number;
    if (value.is_number()) number = value.number();
    if (value.is_text()) number = formula::plain_text_to_number(value.text());
    if (!number || !(*number >= 1 && *number <= static_cast<double>(most))) {
      throw CallError("The argument " + std::string(name) + " must be a number from 1 to " + std::to_string(most) +
                      ".");
    }
    return static_cast<std::int64_t>(*number);
  }

  void add_pieces(Question& question, const Argument& argument) const {
    if (const auto error = error_of(argument)) {
      throw CallError(*error, "The prompt or its context is itself an error value: " +
                                  std::string(formula::error_name(*error)) + ".");
    }
    std::vector<Piece> pieces = render(argument, most_);
    for (Piece& piece : pieces) {
      if (!question.pieces.empty() && !piece.text.empty()) question.pieces.push_back({"\n", {}, {}, 0});
      question.pieces.push_back(std::move(piece));
    }
  }

  Plan single(Question question) const {
    question.key = topic_;
    Plan plan;
    plan.whole = true;
    plan.questions.push_back(std::make_shared<const Question>(std::move(question)));
    return plan;
  }

  Question begin(AnswerKind answer) const {
    Question question;
    question.answer = answer;
    question.options = options_;
    return question;
  }

  static void demand_type(Question& question, const char* type) {
    question.form = protocol::OutputForm{protocol::OutputForm::Kind::type, type, {}};
  }

  static void demand_schema(Question& question, const Json& schema) {
    question.form = protocol::OutputForm{protocol::OutputForm::Kind::json_schema, schema.dump(), {}};
  }

  // prompt, context, prompt, context, ...
  Plan ask(std::size_t first) {
    Question question = begin(AnswerKind::text);
    if (function_ == FunctionId::number) {
      question.answer = AnswerKind::number;
      question.instructions = "Answer with one number and nothing else.";
      demand_type(question, "number");
    } else if (function_ == FunctionId::date) {
      question.answer = AnswerKind::date;
      question.instructions = "Answer with one date of the form YYYY-MM-DD and nothing else.";
      demand_type(question, "date");
    } else if (function_ == FunctionId::boolean) {
      question.answer = AnswerKind::boolean;
      question.instructions = "Answer with true or false and nothing else.";
      demand_type(question, "boolean");
    }
    bool has_words = false;
    for (std::size_t i = first; i < arguments_.size(); ++i) {
      if (arguments_[i].is_omitted()) continue;
      add_pieces(question, arguments_[i]);
    }
    for (const Piece& piece : question.pieces) has_words = has_words || !trimmed(piece.text).empty();
    if (!has_words) throw CallError("There is nothing to ask: give a prompt.");
    return single(std::move(question));
  }

  Plan list() {
    const std::int64_t most = whole_number(2, "max", 100, 10'000);
    Question question = begin(AnswerKind::list);
    question.instructions = "Answer with a JSON array of at most " + std::to_string(most) + " short entries.";
    question.pieces.push_back({demanded_text(0, "prompt"), {}, {}, 0});
    if (!at(1).is_omitted()) add_pieces(question, at(1));
    demand_schema(
        question,
        {{"type", "array"}, {"items", {{"type", {"string", "number"}}}}, {"minItems", 1}, {"maxItems", most}});
    return single(std::move(question));
  }

  Plan grid() {
    Question question = begin(AnswerKind::grid);
    question.fields = parse_fields(at(1), "headers");
    question.instructions =
        "Answer with a JSON array of objects, one for each row of a table. The columns are: " + names(question.fields) +
        ".";
    question.pieces.push_back({demanded_text(0, "prompt"), {}, {}, 0});
    if (!at(2).is_omitted()) add_pieces(question, at(2));
    demand_schema(question, {{"type", "array"}, {"items", object_schema(question.fields, true)}, {"minItems", 1}});
    return single(std::move(question));
  }

  static std::string names(const std::vector<FieldSpec>& fields) {
    std::string names;
    for (const FieldSpec& field : fields) names += (names.empty() ? "" : ", ") + field.name;
    return names;
  }

  // Each cell of an argument of any shape is asked `common` about itself; nothing is asked of empty cells and errors,
  // nor, with `texts_only`, of what is no text.
  Plan each_cell(std::size_t i, std::string_view name, std::size_t block, bool texts_only, const Question& common) {
    const Topic kind = key_of(common);
    const Argument& argument = at(i);
    if (argument.is_omitted()) throw CallError("The argument " + std::string(name) + " is missing.");
    Plan plan;
    plan.block = block;
    plan.rows = 0;
    for (const Part& part : argument.parts) {
      const std::size_t columns = part.cells ? part.cells->columns() : 1;
      if (plan.rows > 0 && columns != plan.columns) {
        throw CallError("The areas of the argument " + std::string(name) + " must be of the same width.");
      }
      plan.columns = columns;
      plan.rows += part.cells ? part.cells->rows() : 1;
    }
    plan.is_array = plan.rows * plan.columns * block > 1;
    plan.blocks.reserve(plan.rows * plan.columns);
    for (const Part& part : argument.parts) {
      if (part.cells == nullptr) plan.blocks.emplace_back(Value(""));
      for (std::uint32_t row = 0; part.cells && row < part.cells->rows(); ++row) {
        for (std::uint32_t column = 0; column < part.cells->columns(); ++column) {
          Value cell = part.cells->cell(row, column);
          if (cell.is_empty() || (cell.is_text() && trimmed(cell.text()).empty())) {
            plan.blocks.emplace_back(Value(""));
          } else if (cell.is_error() || (texts_only && !cell.is_text())) {
            plan.blocks.emplace_back(std::move(cell));
          } else {
            plan.blocks.emplace_back(plan.questions.size());
            plan.questions.push_back(asked(common, kind, cell));
          }
        }
      }
    }
    plan.columns *= block;
    return plan;
  }

  static Topic key_of(const Question& common) {
    ContentHash hash;
    hash.add(std::uint64_t{static_cast<std::uint64_t>(common.answer)});
    hash.add(std::string_view(common.instructions));
    add_to(hash, common.options);
    if (common.form) {
      hash.add(std::string_view(common.form->text));
      for (const std::string& choice : common.form->choices) hash.add(std::string_view(choice));
    }
    return hash.topic();
  }

  static std::shared_ptr<const Question> asked(const Question& common, const Topic& kind, const Value& cell) {
    auto question = std::make_shared<Question>(common);
    ContentHash hash;
    hash.add(kind.low);
    hash.add(kind.high);
    hash.add(cell);
    question->key = hash.topic();
    question->pieces.push_back({shown(cell), {}, {}, 0});
    return question;
  }

  Plan classify() {
    std::vector<std::string> labels;
    for (const Part& part : at(1).parts) {
      for (std::uint32_t row = 0; part.cells && row < part.cells->rows(); ++row) {
        for (std::uint32_t column = 0; column < part.cells->columns(); ++column) {
          const Value cell = part.cells->cell(row, column);
          if (cell.is_error()) throw CallError(cell.error(), "One of the labels is an error value.");
          const std::string label = trimmed(shown(cell));
          if (!label.empty() && std::find(labels.begin(), labels.end(), label) == labels.end()) {
            labels.push_back(label);
          }
        }
      }
    }
    if (labels.empty()) throw CallError("Give at least one label that is not blank.");
    std::string instructions = "Classify the text. Answer with one of these labels and nothing else: ";
    for (std::size_t i = 0; i < labels.size(); ++i) instructions += (i > 0 ? ", " : "") + labels[i];
    instructions += "." + more_instructions(2);
    Question question = begin(AnswerKind::choice);
    question.instructions = std::move(instructions);
    question.form = protocol::OutputForm{protocol::OutputForm::Kind::choice, {}, std::move(labels)};
    return each_cell(0, "values", 1, false, question);
  }

  std::string more_instructions(std::size_t i) const {
    const std::string more = trimmed(text(i, "instructions"));
    return more.empty() ? std::string() : "\n" + more;
  }

  Plan extract() {
    const std::vector<FieldSpec> fields = parse_fields(at(1), "fields");
    Question question = begin(AnswerKind::fields);
    question.instructions =
        "Find these in the text and answer with a JSON object, null for what is not there: " + names(fields) + "." +
        more_instructions(2);
    question.fields = fields;
    demand_schema(question, object_schema(fields, true));
    Plan plan = each_cell(0, "texts", fields.size(), false, question);
    if (plan.columns != fields.size()) {
      throw CallError("The argument texts must be one column: the fields of each text take the columns beside it.");
    }
    return plan;
  }

  Plan summarize() {
    const std::int64_t words = whole_number(1, "words", 50, 10'000);
    if (at(0).is_omitted()) throw CallError("The argument range is missing.");
    Question question = begin(AnswerKind::text);
    question.instructions =
        "Sum up what follows in about " + std::to_string(words) + " words. Answer with the summary and nothing else.";
    add_pieces(question, at(0));
    bool has_words = false;
    for (const Piece& piece : question.pieces) has_words = has_words || !trimmed(piece.text).empty();
    if (!has_words) throw CallError("There is nothing to sum up: the range is empty.");
    return single(std::move(question));
  }

  Plan translate() {
    const std::string language = trimmed(demanded_text(1, "language"));
    Question question = begin(AnswerKind::text);
    question.instructions = "Translate the text into " + language + ". Answer with the translation and nothing else.";
    return each_cell(0, "values", 1, true, question);
  }

  FunctionId function_;
  std::span<const Argument> arguments_;
  Options options_;
  std::size_t most_;
  const Topic& topic_;
};

}  // namespace

bool Question::can_be_cut() const {
  return std::any_of(pieces.begin(), pieces.end(), [](const Piece& piece) { return !piece.lines.empty(); });
}

protocol::Request Question::request(std::size_t most, std::string& note) const {
  protocol::Request request;
  apply(options, request);
  request.messages = Json::array();
  if (!instructions.empty()) request.messages.push_back({{"role", "system"}, {"content", instructions}});
  request.messages.push_back({{"role", "user"}, {"content", joined(pieces, most, note)}});
  request.form = form;
  request.priority = protocol::Priority::batch;
  request.credits = 0;
  return request;
}

Plan make_plan(FunctionId function, std::span<const Argument> arguments, const Options& defaults,
               std::size_t most_context, const Topic& topic) {
  return Planner(function, arguments, defaults, most_context, topic).make();
}

Topic topic_of(FunctionId function, std::span<const Argument> arguments, const Options& defaults) {
  ContentHash hash;
  hash.add(static_cast<std::uint64_t>(function));
  add_to(hash, defaults);
  for (const Argument& argument : arguments) hash.add(argument);
  return hash.topic();
}

Value to_value(const Question& question, const protocol::Result& result, std::string& note) {
  const std::string& text = result.content;
  if (result.finish_reason == "length" || result.finish_reason == "context") {
    const std::string why =
        result.finish_reason == "context"
            ? "the model's context was full"
            : "it reached max_tokens (" + std::to_string(question.options.max_tokens) + "; GLM.WITH can raise it)";
    if (question.form) {
      throw CallError(ErrorCode::not_available, "The answer was cut before it was complete: " + why + ".");
    }
    note = "The answer was cut: " + why + ".";
  }
  switch (question.answer) {
    case AnswerKind::number: {
      const Json number = parsed(text);
      if (!number.is_number()) throw CallError(ErrorCode::not_available, "The model's answer is no number: " + text);
      return number.get<double>();
    }
    case AnswerKind::date: {
      const std::optional<Value> date = formula::text_to_date(trimmed(text));
      if (date) return *date;
      throw CallError(ErrorCode::not_available, "The model's answer is no date of Excel's calendar: " + text);
    }
    case AnswerKind::boolean:
      return formula::equal_without_case(trimmed(text), "true");
    case AnswerKind::list:
      return column_of(parsed(text), note);
    case AnswerKind::grid:
      return grid_of(parsed(text), question.fields, note);
    case AnswerKind::fields: {
      formula::Array array(1, question.fields.size());
      put_fields(parsed(text), question.fields, array, 0, note);
      return array;
    }
    default:
      return Value(fitting(trimmed(text), note));
  }
}

Value assemble(const Plan& plan, std::span<const Value> answers) {
  if (plan.whole) return answers[0];
  if (!plan.is_array) {
    const auto* const known = std::get_if<Value>(&plan.blocks[0]);
    return known != nullptr ? *known : answers[std::get<std::size_t>(plan.blocks[0])].scalar();
  }
  formula::Array array(plan.rows, plan.columns);
  for (std::size_t i = 0; i < plan.blocks.size(); ++i) {
    const auto* const known = std::get_if<Value>(&plan.blocks[i]);
    const Value& value = known != nullptr ? *known : answers[std::get<std::size_t>(plan.blocks[i])];
    for (std::size_t k = 0; k < plan.block; ++k) {
      array[i * plan.block + k] = value.is_array() ? value.array()[k] : value;
    }
  }
  return array;
}

}  // namespace glmhost::functions
