#include "excel-addin/functions/interim_plan.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "excel-addin/formula/coercion.h"
#include "excel-addin/formula/number_text.h"
#include "excel-addin/formula/text_units.h"

namespace glmhost::functions {
namespace {

using formula::ErrorCode;
using formula::Value;
using nlohmann::ordered_json;
using protocol::OutputForm;
using protocol::Request;
using Arguments = std::vector<Value>;

// Of the text that stands before an answer. What goes beyond it is left out from the end, and said.
constexpr std::size_t kMostContextBytes = 48'000;

bool is_blank(const Value& value) {
  return value.scalar().is_empty() || (value.scalar().is_text() && value.scalar().text().empty());
}

std::string text_of(const Value& value) {
  const formula::Result<std::string> text = formula::to_text(value);
  return text ? formula::valid_utf8(*text) : std::string(formula::error_name(text.error()));
}

// The first error among single values: the function's result, as with Excel's own functions.
std::optional<ErrorCode> error_in(const Arguments& arguments) {
  for (const Value& value : arguments) {
    if (value.is_error()) return value.error();
  }
  return std::nullopt;
}

// Cells as lines of tab-separated text.
std::string rendered(const Value& value, std::string& note) {
  if (!value.is_array()) return text_of(value);
  std::string text;
  for (std::size_t row = 0; row < rows_of(value); ++row) {
    std::string line;
    for (std::size_t column = 0; column < columns_of(value); ++column) {
      if (column > 0) line += '\t';
      line += text_of(cell_of(value, row, column));
    }
    if (text.size() + line.size() > kMostContextBytes) {
      note = "Of a range with " + std::to_string(rows_of(value)) + " rows only the first " + std::to_string(row) +
             " were given to the model, because more do not fit.";
      break;
    }
    if (row > 0) text += '\n';
    text += line;
  }
  return text;
}

Request request_for(std::string text) {
  Request request;
  request.messages = ordered_json::array({{{"role", "user"}, {"content", std::move(text)}}});
  request.priority = protocol::Priority::batch;
  request.credits = 0;
  return request;
}

std::string prompt_of(const Arguments& arguments, std::size_t first, std::string& note) {
  std::string text;
  for (std::size_t i = first; i < arguments.size(); ++i) {
    if (arguments[i].is_omitted()) continue;
    if (!text.empty()) text += '\n';
    text += rendered(arguments[i], note);
  }
  return text;
}

Value text_answer(const std::vector<std::string>& answers) {
  std::string text = answers[0];
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

Value number_answer(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? Value(number) : Value(ErrorCode::value);
}

Value date_answer(const std::string& text) {
  const std::optional<Value> date = formula::text_to_date(text);
  return date ? *date : Value(ErrorCode::value);
}

Value boolean_answer(const std::string& text) {
  return text == "true" ? Value(true) : text == "false" ? Value(false) : Value(ErrorCode::value);
}

Value json_value(const ordered_json& json) {
  if (json.is_number()) return json.get<double>();
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_string()) return json.get<std::string>();
  return json.is_null() ? Value() : Value(json.dump());
}

// --- options of GLM.WITH

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

template <class Number>
bool read_number(std::string_view text, Number low, Number high, Number& number) {
  Number read{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
  if (error != std::errc() || end != text.data() + text.size() || !(read >= low && read <= high)) return false;
  number = read;
  return true;
}

std::optional<Refusal> read_options(std::string_view options, Request& request) {
  while (!options.empty()) {
    const std::size_t end = std::min(options.find(';'), options.size());
    const std::string_view option = trimmed(options.substr(0, end));
    options.remove_prefix(std::min(options.size(), end + 1));
    if (option.empty()) continue;
    const std::size_t equals = std::min(option.find('='), option.size());
    const std::string name = formula::lower(trimmed(option.substr(0, equals)));
    const std::string_view value = trimmed(option.substr(std::min(option.size(), equals + 1)));
    bool well = false;
    std::string wanted;
    if (name == "model") {
      request.model = formula::valid_utf8(value);
      well = !value.empty();
      wanted = "a model's name";
    } else if (name == "temperature") {
      well = read_number(value, 0.0f, 10.0f, request.temperature);
      wanted = "a number from 0 to 10";
    } else if (name == "max_tokens") {
      well = read_number(value, 1, 1'048'576, request.max_tokens);
      wanted = "a whole number from 1 to 1048576";
    } else if (name == "seed") {
      well = read_number<std::uint64_t>(value, 0, ~std::uint64_t{0}, request.seed);
      wanted = "a whole number";
    } else if (name == "thinking") {
      well = value == "on" || value == "off";
      request.enable_thinking = value == "on";
      wanted = "on or off";
    } else {
      return Refusal{ErrorCode::value, "There is no option \"" + name +
                                           "\"; there are model, temperature, max_tokens, seed and thinking."};
    }
    if (!well) {
      return Refusal{ErrorCode::value,
                     "The option " + name + " is \"" + std::string(value) + "\"; it must be " + wanted + "."};
    }
  }
  return std::nullopt;
}

// --- one function each

Planned plan_prompt(const Arguments& arguments, std::size_t first, const std::optional<OutputForm>& form,
                    std::function<Value(const std::vector<std::string>&)> assemble) {
  Plan plan;
  const std::string text = prompt_of(arguments, first, plan.note);
  if (text.empty()) return Refusal{ErrorCode::value, "The prompt is empty."};
  plan.requests.push_back(request_for(text));
  plan.requests[0].form = form;
  plan.assemble = std::move(assemble);
  return plan;
}

OutputForm type_form(std::string type) {
  OutputForm form;
  form.kind = OutputForm::Kind::type;
  form.text = std::move(type);
  return form;
}

Planned plan_typed(const Arguments& arguments, std::string type, Value (*read)(const std::string&)) {
  return plan_prompt(arguments, 0, type_form(std::move(type)),
                     [read](const std::vector<std::string>& answers) { return read(answers[0]); });
}

Planned plan_with(const Arguments& arguments) {
  if (arguments.size() < 2) return Refusal{ErrorCode::value, "GLM.WITH takes options and a prompt."};
  Planned planned = plan_prompt(arguments, 1, std::nullopt, text_answer);
  auto* plan = std::get_if<Plan>(&planned);
  if (plan == nullptr) return planned;
  if (std::optional<Refusal> refusal = read_options(text_of(arguments[0]), plan->requests[0])) return *refusal;
  return planned;
}

// One request for each value that is not blank; blanks stay blank and errors stay errors.
Planned plan_each(const Value& values, const std::function<Request(const std::string&)>& request) {
  Plan plan;
  std::vector<std::optional<Value>> fixed;
  for (const Value& cell : cells_of(values)) {
    if (cell.is_error()) {
      fixed.emplace_back(cell);
    } else if (is_blank(cell)) {
      fixed.emplace_back(Value(""));
    } else {
      fixed.emplace_back();
      plan.requests.push_back(request(text_of(cell)));
    }
  }
  const std::size_t rows = rows_of(values);
  const std::size_t columns = columns_of(values);
  plan.assemble = [fixed, rows, columns](const std::vector<std::string>& answers) {
    formula::Array array(rows, columns);
    std::size_t next = 0;
    for (std::size_t i = 0; i < fixed.size(); ++i) array[i] = fixed[i] ? *fixed[i] : Value(answers[next++]);
    return fixed.size() == 1 ? array[0] : Value(std::move(array));
  };
  if (plan.requests.empty()) {
    return Refusal{fixed.size() == 1 && fixed[0]->is_error() ? fixed[0]->error() : ErrorCode::value,
                   "There is no text in the values."};
  }
  return plan;
}

Planned plan_classify(const Arguments& arguments) {
  if (arguments.size() < 2) return Refusal{ErrorCode::value, "GLM.CLASSIFY takes values and labels."};
  std::vector<std::string> labels;
  for (const Value& cell : cells_of(arguments[1])) {
    if (cell.is_error()) return Refusal{cell.error(), "There is an error among the labels."};
    // A list in one cell, as in "red, green, blue", is a list of labels.
    std::string text = text_of(cell);
    const bool is_list = cells_of(arguments[1]).size() == 1;
    while (!text.empty()) {
      const std::size_t end = is_list ? std::min(text.find(','), text.size()) : text.size();
      const std::string label(trimmed(std::string_view(text).substr(0, end)));
      text.erase(0, end + 1);
      if (!label.empty() && std::ranges::find(labels, label) == labels.end()) labels.push_back(label);
    }
  }
  if (labels.empty()) return Refusal{ErrorCode::value, "There are no labels to choose from."};
  std::string task = "Classify the text as one of:";
  for (const std::string& label : labels) task += "\n- " + label;
  if (arguments.size() > 2 && !is_blank(arguments[2])) task += "\n" + text_of(arguments[2]);
  task += "\nAnswer with the label alone.\n\nText: ";
  return plan_each(arguments[0], [&](const std::string& text) {
    Request request = request_for(task + text);
    OutputForm form;
    form.kind = OutputForm::Kind::choice;
    form.choices = labels;
    request.form = form;
    return request;
  });
}

Planned plan_translate(const Arguments& arguments) {
  if (arguments.size() < 2 || is_blank(arguments[1])) {
    return Refusal{ErrorCode::value, "GLM.TRANSLATE takes values and a language."};
  }
  const std::string task = "Translate into " + text_of(arguments[1]) + ". Answer with the translation alone.\n\n";
  return plan_each(arguments[0], [&](const std::string& text) { return request_for(task + text); });
}

Planned plan_summarize(const Arguments& arguments) {
  if (arguments.empty()) return Refusal{ErrorCode::value, "GLM.SUMMARIZE takes a range."};
  double words = 60;
  if (arguments.size() > 1 && !arguments[1].is_omitted()) {
    const formula::Result<double> number = formula::to_number(arguments[1]);
    if (!number || !(*number >= 1)) return Refusal{ErrorCode::value, "The number of words must be 1 or more."};
    words = std::floor(*number);
  }
  return plan_prompt({Value("Summarize this in at most " + formula::number_to_text(words) + " words:"), arguments[0]},
                     0, std::nullopt, text_answer);
}

Planned plan_list(const Arguments& arguments) {
  std::size_t most = 0;
  Arguments prompt(arguments.begin(),
                   arguments.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(2, arguments.size())));
  if (arguments.size() > 2 && !arguments[2].is_omitted()) {
    const formula::Result<double> number = formula::to_number(arguments[2]);
    if (!number || !(*number >= 1 && *number <= formula::kMostRows)) {
      return Refusal{ErrorCode::value, "The longest list must have 1 or more entries."};
    }
    most = static_cast<std::size_t>(*number);
  }
  ordered_json schema = {{"type", "array"}, {"items", {{"type", "string"}, {"minLength", 1}}}, {"minItems", 1}};
  if (most > 0) schema["maxItems"] = most;
  OutputForm form;
  form.text = schema.dump();
  return plan_prompt(prompt, 0, form, [](const std::vector<std::string>& answers) {
    const ordered_json json = ordered_json::parse(answers[0], nullptr, false);
    if (!json.is_array() || json.empty()) return Value(ErrorCode::value);
    formula::Array array(json.size(), 1);
    for (std::size_t i = 0; i < json.size(); ++i) array[i] = json_value(json[i]);
    return Value(std::move(array));
  });
}

// "amount:number" and the like.
std::optional<Refusal> read_fields(const Value& fields, ordered_json& schema,
                                   std::vector<std::pair<std::string, std::string>>& names) {
  schema = {{"type", "object"}, {"properties", ordered_json::object()}, {"required", ordered_json::array()}};
  for (const Value& cell : cells_of(fields)) {
    if (is_blank(cell)) continue;
    const std::string text = text_of(cell);
    const std::size_t colon = std::min(text.rfind(':'), text.size());
    const std::string name(trimmed(std::string_view(text).substr(0, colon)));
    const std::string type =
        colon == text.size() ? "text" : formula::lower(trimmed(std::string_view(text).substr(colon + 1)));
    ordered_json described;
    if (type == "text") {
      described = {{"type", "string"}};
    } else if (type == "number") {
      described = {{"type", "number"}};
    } else if (type == "boolean" || type == "bool") {
      described = {{"type", "boolean"}};
    } else if (type == "date") {
      described = {{"type", "string"}, {"pattern", "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}};
    } else {
      return Refusal{ErrorCode::value, "The field \"" + name + "\" has the type \"" + type +
                                           "\"; there are text, number, date and boolean."};
    }
    if (name.empty() || schema["properties"].contains(name)) {
      return Refusal{ErrorCode::value,
                     name.empty() ? "A field has no name." : "The field \"" + name + "\" is there twice."};
    }
    schema["properties"][name] = described;
    schema["required"].push_back(name);
    names.emplace_back(name, type);
  }
  schema["additionalProperties"] = false;
  if (names.empty()) return Refusal{ErrorCode::value, "There are no fields to fill."};
  return std::nullopt;
}

Value field_value(const ordered_json& object, const std::pair<std::string, std::string>& field) {
  const auto found = object.find(field.first);
  if (found == object.end()) return ErrorCode::not_available;
  return field.second == "date" && found->is_string() ? date_answer(found->get<std::string>()) : json_value(*found);
}

Planned plan_extract(const Arguments& arguments) {
  if (arguments.size() < 2) return Refusal{ErrorCode::value, "GLM.EXTRACT takes texts and fields."};
  ordered_json schema;
  std::vector<std::pair<std::string, std::string>> fields;
  if (std::optional<Refusal> refusal = read_fields(arguments[1], schema, fields)) return *refusal;
  std::string task = "Extract these fields from the text:";
  for (const auto& [name, type] : fields) task += " " + name + " (" + type + ")";
  if (arguments.size() > 2 && !is_blank(arguments[2])) task += "\n" + text_of(arguments[2]);
  Planned planned = plan_each(arguments[0], [&](const std::string& text) {
    Request request = request_for(task + "\n\nText: " + text);
    OutputForm form;
    form.text = schema.dump();
    request.form = form;
    return request;
  });
  auto* plan = std::get_if<Plan>(&planned);
  if (plan == nullptr) return planned;
  std::vector<bool> asked;
  for (const Value& cell : cells_of(arguments[0])) asked.push_back(!cell.is_error() && !is_blank(cell));
  plan->assemble = [fields, asked](const std::vector<std::string>& answers) {
    formula::Array array(asked.size(), fields.size());
    std::size_t next = 0;
    for (std::size_t row = 0; row < asked.size(); ++row) {
      if (!asked[row]) continue;
      const ordered_json json = ordered_json::parse(answers[next++], nullptr, false);
      for (std::size_t column = 0; column < fields.size(); ++column) {
        array(row, column) = json.is_object() ? field_value(json, fields[column]) : Value(ErrorCode::value);
      }
    }
    return array.size() == 1 ? array[0] : Value(std::move(array));
  };
  return planned;
}

Planned plan_grid(const Arguments& arguments) {
  if (arguments.size() < 2) return Refusal{ErrorCode::value, "GLM.GRID takes a prompt and headers."};
  ordered_json schema;
  std::vector<std::pair<std::string, std::string>> fields;
  if (std::optional<Refusal> refusal = read_fields(arguments[1], schema, fields)) return *refusal;
  OutputForm form;
  form.text = ordered_json({{"type", "array"}, {"items", schema}, {"minItems", 1}}).dump();
  Arguments prompt = {arguments[0]};
  if (arguments.size() > 2) prompt.push_back(arguments[2]);
  return plan_prompt(prompt, 0, form, [fields](const std::vector<std::string>& answers) {
    const ordered_json json = ordered_json::parse(answers[0], nullptr, false);
    if (!json.is_array() || json.empty()) return Value(ErrorCode::value);
    formula::Array array(json.size() + 1, fields.size());
    for (std::size_t column = 0; column < fields.size(); ++column) {
      array(0, column) = fields[column].first;
      for (std::size_t row = 0; row < json.size(); ++row) {
        array(row + 1, column) =
            json[row].is_object() ? field_value(json[row], fields[column]) : Value(ErrorCode::value);
      }
    }
    return Value(std::move(array));
  });
}

}  // namespace

Planned make_plan(std::string_view function, const std::vector<Value>& arguments) {
  if (const std::optional<ErrorCode> error = error_in(arguments)) {
    return Refusal{*error, "One of the arguments is the error " + std::string(formula::error_name(*error)) + "."};
  }
  if (function == "GLM") return plan_prompt(arguments, 0, std::nullopt, text_answer);
  if (function == "GLM.WITH") return plan_with(arguments);
  if (function == "GLM.NUMBER") return plan_typed(arguments, "number", number_answer);
  if (function == "GLM.DATE") return plan_typed(arguments, "date", date_answer);
  if (function == "GLM.BOOL") return plan_typed(arguments, "boolean", boolean_answer);
  if (function == "GLM.LIST") return plan_list(arguments);
  if (function == "GLM.GRID") return plan_grid(arguments);
  if (function == "GLM.CLASSIFY") return plan_classify(arguments);
  if (function == "GLM.EXTRACT") return plan_extract(arguments);
  if (function == "GLM.SUMMARIZE") return plan_summarize(arguments);
  if (function == "GLM.TRANSLATE") return plan_translate(arguments);
  return Refusal{ErrorCode::name, "There is no function " + std::string(function) + "."};
}

}  // namespace glmhost::functions
