// A value of a template: what Python knows as None, bool, int, float, str, list, tuple and dict, and what Jinja adds.
//
// Values are immutable and shared; only a namespace can be changed. Making text, lists and dicts goes through a
// Runtime, which counts them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "inference/chat/jinja/budget.h"
#include "inference/chat/jinja/text.h"

namespace glmhost::jinja {

class Value;
class Dict;
struct List;
struct Namespace;
struct Function;
struct Loop;

// `reason` is what a use of it fails with: "'x' is undefined".
struct Undefined {
  std::shared_ptr<const std::string> reason;
};
struct None {};

using TextPtr = std::shared_ptr<const Text>;
using ListPtr = std::shared_ptr<const List>;
using DictPtr = std::shared_ptr<const Dict>;
using NamespacePtr = std::shared_ptr<Namespace>;
using FunctionPtr = std::shared_ptr<const Function>;
using LoopPtr = std::shared_ptr<const Loop>;

class Value {
 public:
  Value() : data_(None{}) {}
  explicit Value(bool truth) : data_(truth) {}
  explicit Value(Int number) : data_(number) {}
  explicit Value(double number) : data_(number) {}
  explicit Value(TextPtr text) : data_(std::move(text)) {}
  explicit Value(ListPtr list) : data_(std::move(list)) {}
  explicit Value(DictPtr dict) : data_(std::move(dict)) {}
  explicit Value(NamespacePtr space) : data_(std::move(space)) {}
  explicit Value(FunctionPtr function) : data_(std::move(function)) {}
  explicit Value(LoopPtr loop) : data_(std::move(loop)) {}
  static Value undefined(std::string reason);
  static Value own_text(std::string_view text);  // a literal; not counted

  bool is_undefined() const { return std::holds_alternative<Undefined>(data_); }
  bool is_none() const { return std::holds_alternative<None>(data_); }
  bool is_bool() const { return std::holds_alternative<bool>(data_); }
  bool is_int() const { return std::holds_alternative<Int>(data_); }  // not for a bool
  bool is_float() const { return std::holds_alternative<double>(data_); }
  bool is_whole() const { return is_int() || is_bool(); }
  bool is_number() const { return is_whole() || is_float(); }
  bool is_text() const { return std::holds_alternative<TextPtr>(data_); }
  bool is_list() const { return std::holds_alternative<ListPtr>(data_); }  // or tuple
  bool is_tuple() const;
  bool is_dict() const { return std::holds_alternative<DictPtr>(data_); }
  bool is_namespace() const { return std::holds_alternative<NamespacePtr>(data_); }
  bool is_function() const { return std::holds_alternative<FunctionPtr>(data_); }
  bool is_loop() const { return std::holds_alternative<LoopPtr>(data_); }

  // Each needs the kind it names.
  const std::string& reason() const { return *std::get<Undefined>(data_).reason; }
  const Text& text() const { return *std::get<TextPtr>(data_); }
  const std::string& bytes() const { return text().bytes(); }
  const List& list() const { return *std::get<ListPtr>(data_); }
  const ListPtr& list_ptr() const { return std::get<ListPtr>(data_); }
  const std::vector<Value>& items() const;
  const Dict& dict() const { return *std::get<DictPtr>(data_); }
  Namespace& space() const { return *std::get<NamespacePtr>(data_); }
  const NamespacePtr& space_ptr() const { return std::get<NamespacePtr>(data_); }
  const Function& function() const { return *std::get<FunctionPtr>(data_); }
  const FunctionPtr& function_ptr() const { return std::get<FunctionPtr>(data_); }
  const Loop& loop() const { return *std::get<LoopPtr>(data_); }
  Int whole() const { return is_bool() ? Int{std::get<bool>(data_)} : std::get<Int>(data_); }
  double number() const { return is_float() ? std::get<double>(data_) : static_cast<double>(whole()); }

  bool truth() const;                  // Python's bool()
  int depth() const;                   // 0 for what holds no others
  std::string_view type_name() const;  // Python's: "str", "NoneType"

 private:
  explicit Value(Undefined undefined) : data_(std::move(undefined)) {}

  std::variant<None, Undefined, bool, Int, double, TextPtr, ListPtr, DictPtr, NamespacePtr, FunctionPtr, LoopPtr> data_;
};

struct List {
  std::vector<Value> items;
  bool is_tuple = false;
  int depth = 1;
};

// In the order in which keys were first set.
class Dict {
 public:
  using Entry = std::pair<Value, Value>;

  void set(const Value& key, Value value);    // fails for a key that is no text, number, truth value or None
  const Value* find(const Value& key) const;  // the same
  const Value* find(std::string_view key) const;
  const std::vector<Entry>& entries() const { return entries_; }
  std::size_t size() const { return entries_.size(); }
  int depth() const { return depth_; }

 private:
  const Value* find_by_name(const std::string& name) const;

  std::vector<Entry> entries_;
  std::unordered_map<std::string, std::size_t> index_;
  int depth_ = 1;
};

struct Namespace {
  std::vector<std::pair<std::string, Value>> members;

  const Value* find(std::string_view name) const;
  void set(std::string_view name, Value value);
};

// The variable `loop` of a for statement, as it is in one of its rounds.
struct Loop {
  ListPtr items;
  std::size_t index = 0;
};

bool equal(const Value& a, const Value& b, Budget& budget);

// Negative, 0, positive. Fails for values that Python does not order; `sign` is for its message.
int compare(const Value& a, const Value& b, std::string_view sign, Budget& budget);

std::string int_text(Int number);

}  // namespace glmhost::jinja
