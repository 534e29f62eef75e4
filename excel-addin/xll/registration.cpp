#include "excel-addin/xll/registration.h"

#include <algorithm>

#include "excel-addin/formula/text_units.h"

namespace glmhost::xll {
namespace {

// Places in xlfRegister's list of arguments, behind the module's path.
enum Place : std::size_t {
  procedure,
  type_text,
  name,
  argument_names,
  kind,
  category,
  shortcut,
  topic,
  help,
  first_help
};

std::u16string cut(std::string_view utf8) {
  std::u16string text = formula::to_utf16(utf8);
  if (text.size() > kMostRegisteredText) {
    text.resize(kMostRegisteredText - 1);
    if (text.back() >= 0xD800 && text.back() < 0xDC00) text.pop_back();
    text += u'\u2026';
  }
  return text;
}

}  // namespace

std::vector<std::u16string> registration_texts(const Registration& registration) {
  std::vector<std::u16string> texts(first_help);
  texts[procedure] = cut(registration.procedure);
  texts[type_text] = formula::to_utf16(registration.type_text);
  texts[name] = cut(registration.name);
  texts[argument_names] = cut(registration.argument_names);
  texts[category] = cut(registration.category);
  texts[help] = cut(registration.help);
  // With the module's path before them and an empty text behind them, this many fit into one call.
  const std::size_t most = kMostArguments - 1 - first_help - 1;
  for (std::size_t i = 0; i < std::min(registration.argument_help.size(), most); ++i) {
    texts.push_back(cut(registration.argument_help[i]));
  }
  if (texts.size() > first_help) texts.emplace_back();
  return texts;
}

std::optional<double> register_with(const Excel& excel, std::u16string_view module_path,
                                    const Registration& registration) {
  std::vector<CountedText> texts;
  texts.emplace_back(module_path);
  for (const std::u16string& text : registration_texts(registration)) texts.emplace_back(std::u16string_view(text));
  std::vector<XLOPER12> values;
  for (const CountedText& text : texts) values.push_back(text());
  values[1 + kind] = integer(registration.is_command ? 2 : 1);
  std::vector<const XLOPER12*> arguments;
  for (const XLOPER12& value : values) arguments.push_back(&value);
  ExcelValue number = excel.value();
  if (excel.call(xlfRegister, number, arguments) != xlretSuccess || number.type() != xltypeNum) return std::nullopt;
  return number->val.num;
}

void unregister(const Excel& excel, const std::string& function_name, double function_number) {
  ExcelValue ignored = excel.value();
  const CountedText text{std::string_view(function_name)};
  const XLOPER12 name_value = text();
  const XLOPER12 number_value = number(function_number);
  excel.call(xlfUnregister, ignored, {&number_value});
  excel.call(xlfSetName, ignored, {&name_value});
}

}  // namespace glmhost::xll
