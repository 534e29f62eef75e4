// The worksheet functions: names, arguments and the texts of the Function Wizard. The add-in registers from it, so that
// what is described is what is there.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace glmhost::functions {

enum class FunctionId : std::uint8_t {
  glm,
  with,
  number,
  date,
  boolean,
  list,
  grid,
  classify,
  extract,
  summarize,
  translate,
  table,
  status,
  error,
  models,
  version,
};

struct ArgumentInfo {
  enum class Kind : std::uint8_t {
    any,   // cells or a value; the address matters too: a reference must arrive as one
    cell,  // a reference to a cell, whose content does not matter
  };
  std::string_view name;
  std::string_view help;
  Kind kind = Kind::any;
  bool optional = false;
};

struct FunctionInfo {
  FunctionId id;
  std::string_view name;      // "GLM.CLASSIFY"
  std::string_view category;  // "GLM"
  std::string_view help;      // of the function
  std::string_view example;   // "=GLM.CLASSIFY(A2:A9, {\"good\",\"bad\"})"
  std::span<const ArgumentInfo> arguments;
  // The last so many arguments may come again and again: prompt2, context2, prompt3, ... 0: none.
  std::uint8_t repeating = 0;
  bool spills = false;  // may answer with an array
  // Its answer comes later and is told of through a topic; false: the answer is there at once.
  bool asks = true;
};

std::span<const FunctionInfo> catalogue();  // in the order of FunctionId
const FunctionInfo& info(FunctionId id);

// Names with their arguments written out for at most `most` arguments: "prompt1,context1,prompt2,context2,...". What
// Excel's registration takes.
std::string_view argument_names(FunctionId id);

// The most arguments that a function is registered with.
inline constexpr std::size_t kMostArguments = 60;

}  // namespace glmhost::functions
