#include "inference/chat/jinja/runtime.h"

#include <algorithm>

namespace glmhost::jinja {
namespace {

constexpr std::size_t kOverhead = 64;  // of an object with its counters

void check_depth(int depth) {
  if (depth <= kMaxValueDepth) return;
  throw Fault{Failure::limit, "it nests lists or dicts more than " + std::to_string(kMaxValueDepth) + " levels deep"};
}

}  // namespace

Value Runtime::text(Text made) {
  budget.make(kOverhead + made.size() + made.runs().size() * sizeof(Text::Run));
  return Value(std::make_shared<const Text>(std::move(made)));
}

Value Runtime::list(std::vector<Value> items, bool is_tuple) {
  budget.make(kOverhead + items.size() * sizeof(Value));
  int depth = 0;
  for (const Value& item : items) depth = std::max(depth, item.depth());
  check_depth(depth + 1);
  return Value(std::make_shared<const List>(List{std::move(items), is_tuple, depth + 1}));
}

Value Runtime::dict(Dict made) {
  budget.make(kOverhead + made.size() * 2 * sizeof(Dict::Entry));
  check_depth(made.depth());
  return Value(std::make_shared<const Dict>(std::move(made)));
}

Value Runtime::space(Namespace made) {
  budget.make(kOverhead + made.members.size() * sizeof(made.members[0]));
  spaces_.push_back(std::make_shared<Namespace>(std::move(made)));
  return Value(spaces_.back());
}

void Runtime::set_member(Namespace& space, std::string_view name, Value value) {
  if (space.find(name) == nullptr) budget.make(sizeof(space.members[0]) + name.size());
  budget.step(1 + space.members.size());
  space.set(name, std::move(value));
}

void Runtime::release() {
  for (const NamespacePtr& space : spaces_) space->members.clear();
  spaces_.clear();
}

Parameters::Parameters(std::string_view callee, const Arguments& arguments,
                       std::initializer_list<std::string_view> names, std::size_t required)
    : callee_(callee), values_(names.size(), nullptr), names_(names.begin(), names.end()) {
  if (arguments.positional.size() > names.size()) {
    fail(callee_ + " takes at most " + std::to_string(names.size()) + " arguments, but " +
         std::to_string(arguments.positional.size()) + " are given");
  }
  for (std::size_t i = 0; i < arguments.positional.size(); ++i) values_[i] = &arguments.positional[i];
  for (const auto& [name, value] : arguments.named) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) fail(callee_ + " got an unexpected keyword argument '" + name + "'");
    const Value*& slot = values_[static_cast<std::size_t>(found - names.begin())];
    if (slot != nullptr) fail(callee_ + " got multiple values for argument '" + name + "'");
    slot = &value;
  }
  for (std::size_t i = 0; i < required; ++i) {
    if (values_[i] == nullptr) fail(callee_ + " is missing its argument '" + names_[i] + "'");
  }
}

const Value* Parameters::given(std::size_t index) const {
  const Value* const value = values_[index];
  return value == nullptr || value->is_none() ? nullptr : value;
}

Int Parameters::whole(std::size_t index, Int standard) const {
  const Value* const value = values_[index];
  if (value == nullptr) return standard;
  if (value->is_undefined()) fail(value->reason());
  if (!value->is_whole()) {
    fail("argument '" + names_[index] + "' of " + callee_ + " must be an integer, not " +
         std::string(value->type_name()));
  }
  return value->whole();
}

const Text& Parameters::text(std::size_t index) const {
  const Value* const value = values_[index];
  if (value == nullptr) fail(callee_ + " is missing its argument '" + names_[index] + "'");
  if (value->is_undefined()) fail(value->reason());
  if (!value->is_text()) {
    fail("argument '" + names_[index] + "' of " + callee_ + " must be a string, not " +
         std::string(value->type_name()));
  }
  return value->text();
}

}  // namespace glmhost::jinja
