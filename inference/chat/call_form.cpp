#include "inference/chat/call_form.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "inference/chat/conversation.h"
#include "inference/error.h"

namespace glmhost::chat {
namespace {

constexpr std::string_view kOpen = "<tool_call>";
constexpr int kMostCalls = 16;  // in one answer that must call

struct Tool {
  std::string name;
  Json parameters;
};

std::string in_ticks(std::string_view name) {
  return "`" + std::string(name.substr(0, 80)) + "`";
}

// A text of the grammar.
std::string literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

bool is_plain(std::string_view name) {
  const auto is_bad = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '<' || c == '>' || c == '\x7f'; };
  return !name.empty() && name.front() != ' ' && name.back() != ' ' && std::none_of(name.begin(), name.end(), is_bad);
}

Json parameters_of(const Json& function, const std::string& name) {
  const auto found = function.find("parameters");
  // A tool that says nothing of parameters has none.
  if (found == function.end() || found->is_null()) return {{"type", "object"}, {"additionalProperties", false}};
  if (!found->is_object())
    refuse("The parameters of the tool " + in_ticks(name) + " must be a JSON Schema: an object.");
  Json parameters = *found;
  const auto type = parameters.find("type");
  if (type == parameters.end()) {
    parameters["type"] = "object";
  } else if (*type != "object" && std::find(type->begin(), type->end(), "object") == type->end()) {
    refuse("The parameters of the tool " + in_ticks(name) + " must be of type object, not " +
           type->dump().substr(0, 80) + ".");
  }
  return parameters;
}

std::vector<Tool> tools_of(const Json& tools, const ToolChoice& choice) {
  std::vector<Tool> all;
  std::set<std::string> names;
  for (const Json& tool : tools) {
    const Json& function = function_of(tool);
    std::string name(function_name(function));
    if (name.empty()) refuse("One of the tools has no name.");
    if (!names.insert(name).second) {
      refuse("Two tools have the name " + in_ticks(name) + ": a call of it would be a call of which? Rename one.");
    }
    if (!is_plain(name)) {
      refuse("The tool " + in_ticks(name) +
             " cannot be called: a tool's name may not begin or end with a blank or contain line ends, < or >.");
    }
    if (choice.kind == ToolChoice::Kind::named && name != choice.name) continue;
    Json parameters = parameters_of(function, name);
    all.push_back({std::move(name), std::move(parameters)});
  }
  if (choice.kind == ToolChoice::Kind::named && all.empty()) {
    refuse("The tool " + in_ticks(choice.name) + " that the answer must call is none of the request's tools.");
  }
  return all;
}

// --- JSON

std::string json_call(const Tool& tool, std::string_view arguments) {
  return literal("{\"name\": " + Json(tool.name).dump() + ", \"" + std::string(arguments) + "\": ") + " %json " +
         tool.parameters.dump() + " " + literal("}");
}

// --- tags around each argument

// Keywords that say something of all arguments together.
constexpr std::array<std::string_view, 19> kOfWhole = {"allOf",
                                                       "anyOf",
                                                       "oneOf",
                                                       "not",
                                                       "if",
                                                       "then",
                                                       "else",
                                                       "enum",
                                                       "const",
                                                       "$ref",
                                                       "$dynamicRef",
                                                       "patternProperties",
                                                       "propertyNames",
                                                       "minProperties",
                                                       "maxProperties",
                                                       "dependencies",
                                                       "dependentRequired",
                                                       "dependentSchemas",
                                                       "unevaluatedProperties"};

void check_references(const Json& schema, const Tool& tool) {
  if (schema.is_object()) {
    const auto reference = schema.find("$ref");
    if (reference != schema.end() && reference->is_string()) {
      const auto& target = reference->get_ref<const std::string&>();
      if (!target.starts_with("#/$defs/") && !target.starts_with("#/definitions/")) {
        throw Error(ErrorKind::unsupported, "The parameters of the tool " + in_ticks(tool.name) + " refer to " +
                                                in_ticks(target) +
                                                ": for this model only references into $defs are supported.");
      }
    }
  }
  if (!schema.is_structured()) return;
  for (const Json& inner : schema) check_references(inner, tool);
}

std::string value_text(const Json& schema, const Tool& tool) {
  Json whole = schema.is_object() ? schema : Json::object();
  for (const char* key : {"$defs", "definitions"}) {
    if (tool.parameters.contains(key)) whole[key] = tool.parameters[key];
  }
  return "\"</arg_key>\" \"\\n\"? \"<arg_value>\" %raw \"</arg_value>\" " + whole.dump() + " \"</arg_value>\"";
}

std::string argument(const std::string& key, const Json& schema, const Tool& tool) {
  if (!is_plain(key)) {
    refuse("The argument " + in_ticks(key) + " of the tool " + in_ticks(tool.name) +
           " cannot be written as this model writes calls: its name may not begin or end with a blank or contain line "
           "ends, < or >.");
  }
  return "\"\\n\"? " + literal("<arg_key>" + key) + " " + value_text(schema, tool);
}

std::string tagged_arguments(const Tool& tool) {
  for (const std::string_view keyword : kOfWhole) {
    if (tool.parameters.contains(keyword)) {
      throw Error(ErrorKind::unsupported, "The parameters of the tool " + in_ticks(tool.name) + " have the keyword " +
                                              in_ticks(keyword) +
                                              " at the outermost level, which is not supported for this model: it "
                                              "writes each argument by itself.");
    }
  }
  check_references(tool.parameters, tool);
  const Json none = Json::object();
  const auto of_others = tool.parameters.find("additionalProperties");
  const bool closed = of_others != tool.parameters.end() && *of_others == false;
  const Json others = of_others != tool.parameters.end() && of_others->is_object() ? *of_others : none;
  const Json properties = tool.parameters.value("properties", none);
  const Json required = tool.parameters.value("required", Json::array());
  const auto is_required = [&](const std::string& key) {
    return std::find(required.begin(), required.end(), key) != required.end();
  };
  std::string text;
  for (const auto& [key, schema] : properties.items()) {
    const bool forbidden = schema == false;
    if (is_required(key)) {
      if (forbidden) {
        refuse("The tool " + in_ticks(tool.name) + " can never be called: it needs the argument " + in_ticks(key) +
               ", which its schema forbids.");
      }
      text += " " + argument(key, schema, tool);
    } else if (!forbidden) {
      text += " (" + argument(key, schema, tool) + ")?";
    }
  }
  for (const Json& key : required) {
    if (!key.is_string() || properties.contains(key.get<std::string>())) continue;
    if (closed) {
      refuse("The tool " + in_ticks(tool.name) + " can never be called: it needs the argument " +
             in_ticks(key.get<std::string>()) + ", which its schema forbids.");
    }
    text += " " + argument(key.get<std::string>(), others, tool);
  }
  if (text.empty() && !closed) {
    text = " (\"\\n\"? \"<arg_key>\" [^<> \\t\\r\\n]{1,64} " + value_text(others, tool) + ")*";
  }
  return text;
}

// --- all of them

std::string call_text(ToolCallFormat format, const Tool& tool) {
  switch (format) {
    case ToolCallFormat::tagged_json:
      return "\"<tool_call>\" \"\\n\"? " + json_call(tool, "arguments") + " \"\\n\"? \"</tool_call>\"";
    case ToolCallFormat::bare_json:
      return json_call(tool, "parameters");
    case ToolCallFormat::name_line:
      return literal(tool.name + "\n") + " %json " + tool.parameters.dump();
    case ToolCallFormat::arg_tags:
      return literal("<tool_call>" + tool.name) + tagged_arguments(tool) + " \"\\n\"? \"</tool_call>\"";
    case ToolCallFormat::none:
      break;
  }
  return "";
}

std::string all_calls(ToolCallFormat format, bool one) {
  // A weak model would go on for ever.
  const std::string more = "{0," + std::to_string(kMostCalls - 1) + "}";
  // Some generations begin a line for it.
  if (one) return format == ToolCallFormat::arg_tags ? "\"\\n\"? call" : "call";
  switch (format) {
    case ToolCallFormat::tagged_json:
      return "call (\"\\n\" call)" + more;
    case ToolCallFormat::arg_tags:
      return "\"\\n\"? call (\"\\n\"? call)" + more;
    case ToolCallFormat::bare_json:
      return "call (\"; \" call)" + more;
    default:
      return "call";
  }
}

bool is_blank(char byte) {
  return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<CallOpening> tag_opening(std::string_view text) {
  const std::size_t at = text.find(kOpen);
  if (at == std::string_view::npos) return std::nullopt;
  return CallOpening{at + kOpen.size(), std::string(kOpen)};
}

// The first line is a tool's name.
std::optional<CallOpening> line_opening(const std::vector<Tool>& tools, std::string_view text) {
  const auto first = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_blank) - text.begin());
  const std::size_t end = text.find('\n', first);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = without_blanks(text.substr(0, end));
  const auto is_named = [&](const Tool& tool) { return tool.name == line; };
  if (std::none_of(tools.begin(), tools.end(), is_named)) return std::nullopt;
  return CallOpening{end + 1, std::string(line) + "\n"};
}

// An object that begins with a name.
std::optional<CallOpening> object_opening(std::string_view text) {
  std::string squeezed;
  for (std::size_t i = 0; i < text.size() && squeezed.size() < 32; ++i) {
    if (!is_blank(text[i])) squeezed += text[i];
    if (squeezed == "{\"name\":" || squeezed == "{\"type\":\"function\",\"name\":") {
      return CallOpening{i + 1, "{\"name\":"};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<CallForm> call_form(ToolCallFormat format, const Json& tools, const ToolChoice& choice) {
  if (format == ToolCallFormat::none || choice.kind == ToolChoice::Kind::none || tools.empty()) return std::nullopt;
  const std::vector<Tool> callable = tools_of(tools, choice);
  const bool is_automatic = choice.kind == ToolChoice::Kind::automatic;
  const bool tagged = format == ToolCallFormat::tagged_json || format == ToolCallFormat::arg_tags;
  // Where a call may be followed by free text, another one is opened by the model; elsewhere by the grammar.
  const bool opened_anew = is_automatic && tagged;
  CallForm form;
  form.grammar =
      "root ::= " + (opened_anew ? "call" : all_calls(format, choice.kind == ToolChoice::Kind::named)) + "\ncall ::= ";
  for (std::size_t i = 0; i < callable.size(); ++i) {
    form.grammar += (i == 0 ? "tool-" : " | tool-") + std::to_string(i);
  }
  for (std::size_t i = 0; i < callable.size(); ++i) {
    form.grammar += "\ntool-" + std::to_string(i) + " ::= " + call_text(format, callable[i]);
  }
  form.grammar += "\n";
  if (!is_automatic) return form;
  form.anywhere = tagged;
  if (tagged) {
    form.opening = tag_opening;
  } else if (format == ToolCallFormat::name_line) {
    form.opening = [callable](std::string_view text) { return line_opening(callable, text); };
  } else {
    form.opening = object_opening;
  }
  return form;
}

}  // namespace glmhost::chat
