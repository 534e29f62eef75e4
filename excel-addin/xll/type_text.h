// The text that tells Excel how to call a function, computed from the function's C++ type.
//
//   const ValueArgument*       Q   any value; a reference arrives as its values
//   const ReferenceArgument*   U   any value or reference, as it stands in the formula
//   const FP12*                K%  numbers only; Excel answers #VALUE! for others without a call
//   double                     B
//   bool as std::int32_t has no letter of its own here: ask for a ValueArgument
//   XLOPER12* (returned)       Q
//   void (returned)            >   an asynchronous function
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include "excel-addin/xll/excel_api.h"

namespace glmhost::xll {

struct ValueArgument : XLOPER12 {};
struct ReferenceArgument : XLOPER12 {};

template <class T>
constexpr std::string_view type_letters() {
  using Plain = std::remove_const_t<std::remove_pointer_t<T>>;
  if constexpr (std::is_same_v<Plain, ValueArgument>) {
    return "Q";
  } else if constexpr (std::is_same_v<Plain, ReferenceArgument>) {
    return "U";
  } else if constexpr (std::is_same_v<Plain, FP12>) {
    return "K%";
  } else if constexpr (std::is_same_v<T, XLOPER12*>) {
    return "Q";
  } else if constexpr (std::is_same_v<T, double>) {
    return "B";
  } else {
    static_assert(std::is_void_v<T>, "Excel cannot pass this type");
    return ">";
  }
}

// A text of fixed capacity that a constant may hold.
template <std::size_t capacity>
struct TypeText {
  std::array<char, capacity> letters{};
  std::size_t size = 0;

  constexpr void append(std::string_view text) {
    for (const char letter : text) letters[size++] = letter;
  }
  constexpr std::string_view view() const { return {letters.data(), size}; }
};

template <class Function>
struct TypeTextOf;

template <class Returned, class... Arguments>
struct TypeTextOf<Returned(GLMHOST_EXCEL_CALL*)(Arguments...)> {
  static_assert(sizeof...(Arguments) <= kMostArguments);
  static constexpr std::size_t arguments = sizeof...(Arguments);

  static constexpr auto make(bool thread_safe) {
    TypeText<2 * sizeof...(Arguments) + 2> text;
    text.append(type_letters<Returned>());
    (text.append(type_letters<Arguments>()), ...);
    if (thread_safe) text.append("$");
    return text;
  }
};

template <auto function, bool thread_safe>
inline constexpr auto kTypeText = TypeTextOf<decltype(function)>::make(thread_safe);

}  // namespace glmhost::xll
