// What a call asks of the model: one question or many, and how their answers make the cell's value.
//
// Question   one request: its words, the form of its answer
// Plan       the questions of a call, and the shape of what they make
//
// The values of an array are questions of their own, the same as if each stood in a formula of its own.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "excel-addin/functions/argument.h"
#include "excel-addin/functions/catalogue.h"
#include "excel-addin/functions/fields.h"
#include "excel-addin/functions/options.h"
#include "excel-addin/functions/rendering.h"
#include "excel-addin/functions/topic.h"
#include "host/protocol/messages.h"

namespace glmhost::functions {

enum class AnswerKind : std::uint8_t { text, number, date, boolean, list, grid, choice, fields };

struct Question {
  Topic key;                  // equal for equal content
  std::string instructions;   // the system message: the same for all values of a column, and so a common prefix
  std::vector<Piece> pieces;  // the user's message
  AnswerKind answer = AnswerKind::text;
  std::optional<protocol::OutputForm> form;
  std::vector<FieldSpec> fields;  // of AnswerKind::fields and grid
  Options options;

  // The request, with at most `most` bytes of text; what was left out is said in `note`.
  protocol::Request request(std::size_t most, std::string& note) const;
  bool can_be_cut() const;
};

// rows x columns cells. Each is a value that is known already or (part of) the answer of a question.
struct Plan {
  std::size_t rows = 1, columns = 1;
  bool is_array = false;  // the value is an array, whatever its size
  std::vector<std::shared_ptr<const Question>> questions;
  // One a block of cells, row by row: a value, or the index of a question. A block is `block` cells wide.
  std::vector<std::variant<Value, std::size_t>> blocks;
  std::size_t block = 1;
  bool whole = false;  // the one question's answer is the value as it is, of any shape
};

// The name of a call by its content.
Topic topic_of(FunctionId function, std::span<const Argument> arguments, const Options& defaults);

// `topic` is topic_of() the same. Throws CallError. Not for GLM.TABLE and what asks no model.
Plan make_plan(FunctionId function, std::span<const Argument> arguments, const Options& defaults,
               std::size_t most_context, const Topic& topic);

// The content of an answer as a value: a scalar, or an array (list, grid, and one row for fields). Throws CallError: an
// answer that was cut, or does not have its form. `note` gets what a person should know of a value that was shortened.
Value to_value(const Question& question, const protocol::Result& result, std::string& note);

// The value of a plan, given that of each question. An error among them makes errors of its cells.
Value assemble(const Plan& plan, std::span<const Value> answers);

}  // namespace glmhost::functions
