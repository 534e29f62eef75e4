// The error values of a cell.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace glmhost::formula {

// In the order of ERROR.TYPE, which counts from 1.
enum class ErrorCode : std::uint8_t {
  null,           // #NULL!   areas that do not meet
  division,       // #DIV/0!
  value,          // #VALUE!  the wrong type
  reference,      // #REF!    outside of the table
  name,           // #NAME?   no such function or name
  number,         // #NUM!    outside of a function's domain, or too large
  not_available,  // #N/A     nothing found
  getting_data,   // #GETTING_DATA
  spill,          // #SPILL!
  connect,        // #CONNECT!
  blocked,        // #BLOCKED!
  unknown,        // #UNKNOWN!
  field,          // #FIELD!
  calculation,    // #CALC!   an empty array
};

inline constexpr std::array<std::string_view, 14> kErrorNames = {
    "#NULL!",        "#DIV/0!", "#VALUE!",   "#REF!",     "#NAME?",    "#NUM!",   "#N/A",
    "#GETTING_DATA", "#SPILL!", "#CONNECT!", "#BLOCKED!", "#UNKNOWN!", "#FIELD!", "#CALC!"};

constexpr std::string_view error_name(ErrorCode code) {
  return kErrorNames[static_cast<std::size_t>(code)];
}

// Case does not matter: #n/a is #N/A.
std::optional<ErrorCode> error_named(std::string_view name);

}  // namespace glmhost::formula
