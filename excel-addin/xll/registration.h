// Functions and commands as Excel's Function Wizard knows them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "excel-addin/xll/excel.h"

namespace glmhost::xll {

// What xlfRegister is given beside the module's path.
struct Registration {
  std::string procedure;  // the export
  std::string type_text;
  std::string name;  // as cells write it
  std::string argument_names;
  std::string category;
  std::string help;
  std::vector<std::string> argument_help;
  bool is_command = false;
};

inline constexpr std::size_t kMostRegisteredText = 255;  // characters of any text that xlfRegister takes

// The texts for xlfRegister behind the module's path, in its order. All are cut to what it takes, and
// the argument help ends with an empty text, because Excel loses the end of the
// last one.
std::vector<std::u16string> registration_texts(const Registration& registration);

// The number that Excel gave it; nothing when Excel refused. Only from xlAutoOpen and commands.
std::optional<double> register_with(const Excel& excel, std::u16string_view module_path,
                                    const Registration& registration);

// Also takes the name out of the Function Wizard, where xlfUnregister alone leaves it. Only from xlAutoRemove and
// commands.
void unregister(const Excel& excel, const std::string& name, double number);

}  // namespace glmhost::xll
