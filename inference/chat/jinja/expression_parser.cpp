#include "inference/chat/jinja/expression_parser.h"

#include <algorithm>

namespace glmhost::jinja {
namespace {

std::string described(const Token& token) {
  switch (token.kind) {
    case TokenKind::end:
      return "the end of the template";
    case TokenKind::block_end:
    case TokenKind::output_end:
      return "the end of the tag";
    case TokenKind::string:
      return "a string";
    default:
      return "'" + token.text.substr(0, 40) + "'";
  }
}

int depth_of(const ExpressionPtr& expression) {
  return expression == nullptr ? 0 : expression->depth;
}

}  // namespace

ExpressionParser::Level::Level(ExpressionParser& parser) : parser_(parser) {
  if (++parser_.depth_ <= kMaxSyntaxDepth) return;
  --parser_.depth_;
  parser_.error(parser_.current(), "it nests more than " + std::to_string(kMaxSyntaxDepth) + " levels deep");
}

// --- tokens

const Token& ExpressionParser::next() {
  const Token& token = current();
  if (token.kind != TokenKind::end) ++at_;
  return token;
}

bool ExpressionParser::skip_sign(std::string_view sign) {
  if (!current().is_sign(sign)) return false;
  next();
  return true;
}

bool ExpressionParser::skip_name(std::string_view name) {
  if (!current().is_name(name)) return false;
  next();
  return true;
}

void ExpressionParser::expect_sign(std::string_view sign) {
  if (!skip_sign(sign)) unexpected("'" + std::string(sign) + "'");
}

void ExpressionParser::expect_name(std::string_view name) {
  if (!skip_name(name)) unexpected("'" + std::string(name) + "'");
}

std::string ExpressionParser::expect_any_name() {
  if (current().kind != TokenKind::name) unexpected("a name");
  return next().text;
}

void ExpressionParser::error(const Token& at, const std::string& message) const {
  syntax_error(tokens_.source, at.offset, message);
}

void ExpressionParser::unexpected(const std::string& wanted) const {
  error(current(), "expected " + wanted + ", but found " + described(current()));
}

// --- nodes

ExpressionParser::Node ExpressionParser::make(Kind kind, const Token& at) const {
  auto node = std::make_unique<Expression>();
  node->kind = kind;
  node->line = at.line;
  return node;
}

ExpressionPtr ExpressionParser::finish(Node node, const Token& at) const {
  for (const ExpressionPtr& operand : node->operands) node->depth = std::max(node->depth, 1 + depth_of(operand));
  for (const auto& [name, value] : node->named) node->depth = std::max(node->depth, 1 + depth_of(value));
  if (node->depth > kMaxSyntaxDepth) {
    error(at, "it nests more than " + std::to_string(kMaxSyntaxDepth) + " levels deep");
  }
  return node;
}

ExpressionPtr ExpressionParser::join(Kind kind, const Token& at, ExpressionPtr left, ExpressionPtr right,
                                     std::initializer_list<Operator> operators) const {
  Node node = make(kind, at);
  node->operands.push_back(std::move(left));
  if (right != nullptr) node->operands.push_back(std::move(right));
  node->operators = operators;
  return finish(std::move(node), at);
}

// --- expressions, loosest operator first

ExpressionPtr ExpressionParser::expression(bool with_condition) {
  const Level level(*this);
  return with_condition ? condition() : either();
}

ExpressionPtr ExpressionParser::condition() {
  ExpressionPtr value = either();
  while (current().is_name("if")) {
    const Token& at = next();
    Node node = make(Kind::conditional, at);
    node->operands.push_back(either());
    node->operands.push_back(std::move(value));
    node->operands.push_back(skip_name("else") ? expression() : nullptr);
    value = finish(std::move(node), at);
  }
  return value;
}

ExpressionPtr ExpressionParser::either() {
  ExpressionPtr left = both();
  while (current().is_name("or")) {
    const Token& at = next();
    left = join(Kind::logical_or, at, std::move(left), both());
  }
  return left;
}

ExpressionPtr ExpressionParser::both() {
  ExpressionPtr left = negation();
  while (current().is_name("and")) {
    const Token& at = next();
    left = join(Kind::logical_and, at, std::move(left), negation());
  }
  return left;
}

ExpressionPtr ExpressionParser::negation() {
  if (!current().is_name("not")) return comparison();
  const Level level(*this);
  const Token& at = next();
  return join(Kind::logical_not, at, negation(), nullptr);
}

ExpressionPtr ExpressionParser::comparison() {
  constexpr std::pair<std::string_view, Operator> kSigns[] = {{"==", Operator::eq}, {"!=", Operator::ne},
                                                              {"<", Operator::lt},  {"<=", Operator::le},
                                                              {">", Operator::gt},  {">=", Operator::ge}};
  const Token& at = current();
  ExpressionPtr first = sum();
  Node node = make(Kind::chain, at);
  while (true) {
    const auto sign = std::find_if(std::begin(kSigns), std::end(kSigns),
                                   [&](const auto& each) { return current().is_sign(each.first); });
    if (sign != std::end(kSigns)) {
      next();
      node->operators.push_back(sign->second);
    } else if (skip_name("in")) {
      node->operators.push_back(Operator::in);
    } else if (current().is_name("not") && ahead().is_name("in")) {
      next();
      next();
      node->operators.push_back(Operator::not_in);
    } else {
      break;
    }
    if (first != nullptr) node->operands.push_back(std::move(first));
    node->operands.push_back(sum());
  }
  return node->operators.empty() ? std::move(first) : finish(std::move(node), at);
}

ExpressionPtr ExpressionParser::sum() {
  ExpressionPtr left = concatenation();
  while (current().is_sign("+") || current().is_sign("-")) {
    const Token& at = next();
    const Operator op = at.text == "+" ? Operator::add : Operator::subtract;
    left = join(Kind::binary, at, std::move(left), concatenation(), {op});
  }
  return left;
}

ExpressionPtr ExpressionParser::concatenation() {
  const Token& at = current();
  ExpressionPtr first = product();
  if (!current().is_sign("~")) return first;
  Node node = make(Kind::concat, at);
  node->operands.push_back(std::move(first));
  while (skip_sign("~")) node->operands.push_back(product());
  return finish(std::move(node), at);
}

ExpressionPtr ExpressionParser::product() {
  constexpr std::pair<std::string_view, Operator> kSigns[] = {
      {"*", Operator::multiply}, {"/", Operator::divide}, {"//", Operator::floor_divide}, {"%", Operator::modulo}};
  ExpressionPtr left = power();
  while (true) {
    const auto sign = std::find_if(std::begin(kSigns), std::end(kSigns),
                                   [&](const auto& each) { return current().is_sign(each.first); });
    if (sign == std::end(kSigns)) return left;
    const Token& at = next();
    left = join(Kind::binary, at, std::move(left), power(), {sign->second});
  }
}

ExpressionPtr ExpressionParser::power() {
  ExpressionPtr left = unary();
  while (current().is_sign("**")) {
    const Token& at = next();
    left = join(Kind::binary, at, std::move(left), unary(), {Operator::power});
  }
  return left;
}

ExpressionPtr ExpressionParser::unary(bool with_filters) {
  const Token& at = current();
  ExpressionPtr value;
  if (at.is_sign("-") || at.is_sign("+")) {
    const Level level(*this);
    next();
    value = join(at.text == "-" ? Kind::negative : Kind::positive, at, unary(false), nullptr);
  } else {
    value = primary();
  }
  value = postfix(std::move(value));
  return with_filters ? postfix_or_filter(std::move(value)) : std::move(value);
}

ExpressionPtr ExpressionParser::primary() {
  const Token& at = current();
  if (at.is_sign("(")) {
    next();
    ExpressionPtr inner = tuple();
    expect_sign(")");
    return inner;
  }
  if (at.is_sign("[")) return list();
  if (at.is_sign("{")) return dict();
  Node node = make(Kind::constant, at);
  switch (at.kind) {
    case TokenKind::name:
      next();
      if (at.text == "true" || at.text == "True" || at.text == "false" || at.text == "False") {
        node->constant = Value(at.text == "true" || at.text == "True");
      } else if (at.text != "none" && at.text != "None") {
        node->kind = Kind::name;
        node->name = at.text;
        names.insert(at.text);
      }
      return node;
    case TokenKind::string: {
      std::string text;
      while (current().kind == TokenKind::string) text += next().text;
      node->constant = Value::own_text(text);
      return node;
    }
    case TokenKind::integer:
      node->constant = Value(next().whole);
      return node;
    case TokenKind::real:
      node->constant = Value(next().real);
      return node;
    default:
      unexpected("an expression");
  }
}

ExpressionPtr ExpressionParser::list() {
  const Token& at = next();
  Node node = make(Kind::list, at);
  while (!current().is_sign("]")) {
    if (!node->operands.empty()) expect_sign(",");
    if (current().is_sign("]")) break;
    node->operands.push_back(expression());
  }
  expect_sign("]");
  return finish(std::move(node), at);
}

ExpressionPtr ExpressionParser::dict() {
  const Token& at = next();
  Node node = make(Kind::dict, at);
  while (!current().is_sign("}")) {
    if (!node->operands.empty()) expect_sign(",");
    if (current().is_sign("}")) break;
    node->operands.push_back(expression());
    expect_sign(":");
    node->operands.push_back(expression());
  }
  expect_sign("}");
  return finish(std::move(node), at);
}

bool ExpressionParser::ends_tuple(std::initializer_list<std::string_view> end_names) const {
  const Token& token = current();
  if (token.kind == TokenKind::block_end || token.kind == TokenKind::output_end || token.is_sign(")")) return true;
  return token.kind == TokenKind::name && std::find(end_names.begin(), end_names.end(), token.text) != end_names.end();
}

ExpressionPtr ExpressionParser::tuple(bool with_condition, std::initializer_list<std::string_view> end_names) {
  const Token& at = current();
  Node node = make(Kind::tuple, at);
  const bool in_brackets = at_ > 0 && tokens_.all[at_ - 1].is_sign("(");
  bool is_tuple = false;
  while (!ends_tuple(end_names)) {
    node->operands.push_back(expression(with_condition));
    if (!skip_sign(",")) break;
    is_tuple = true;
  }
  if (!is_tuple && node->operands.size() == 1) return std::move(node->operands[0]);
  if (node->operands.empty() && !in_brackets) unexpected("an expression");
  return finish(std::move(node), at);
}

// --- what stands behind a value

ExpressionPtr ExpressionParser::postfix(ExpressionPtr value) {
  while (true) {
    if (current().is_sign(".")) {
      value = member(std::move(value));
    } else if (current().is_sign("[")) {
      value = subscript(std::move(value));
    } else if (current().is_sign("(")) {
      value = call(std::move(value));
    } else {
      return value;
    }
  }
}

ExpressionPtr ExpressionParser::postfix_or_filter(ExpressionPtr value) {
  while (true) {
    if (current().is_sign("|")) {
      value = filters(std::move(value));
    } else if (current().is_name("is")) {
      value = test(std::move(value));
    } else if (current().is_sign("(")) {
      value = call(std::move(value));
    } else {
      return value;
    }
  }
}

ExpressionPtr ExpressionParser::member(ExpressionPtr value) {
  const Token& at = next();
  if (current().kind == TokenKind::integer) {
    Node index = make(Kind::constant, at);
    index->constant = Value(next().whole);
    return join(Kind::item, at, std::move(value), std::move(index));
  }
  Node node = make(Kind::attribute, at);
  node->name = expect_any_name();
  node->operands.push_back(std::move(value));
  return finish(std::move(node), at);
}

ExpressionPtr ExpressionParser::subscript(ExpressionPtr value) {
  const Token& at = next();
  ExpressionPtr bounds[3];
  std::size_t colons = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    if (!current().is_sign(":") && !current().is_sign("]")) bounds[i] = expression();
    if (i == 2 || !skip_sign(":")) break;
    ++colons;
  }
  if (colons == 0 && bounds[0] == nullptr) unexpected("an expression");
  expect_sign("]");
  if (colons == 0) return join(Kind::item, at, std::move(value), std::move(bounds[0]));
  Node node = make(Kind::slice, at);
  node->operands.push_back(std::move(value));
  for (ExpressionPtr& bound : bounds) node->operands.push_back(std::move(bound));
  return finish(std::move(node), at);
}

void ExpressionParser::arguments(Expression& node) {
  expect_sign("(");
  bool is_first = true;
  while (!current().is_sign(")")) {
    if (!is_first) expect_sign(",");
    is_first = false;
    if (current().is_sign(")")) break;
    if (current().is_sign("*") || current().is_sign("**")) {
      error(current(), "arguments that are unpacked (* and **) are not supported");
    }
    if (current().kind == TokenKind::name && ahead().is_sign("=")) {
      const std::string name = next().text;
      next();
      node.named.emplace_back(name, expression());
    } else {
      if (!node.named.empty()) error(current(), "an argument without a name follows one with a name");
      node.operands.push_back(expression());
    }
  }
  expect_sign(")");
}

ExpressionPtr ExpressionParser::call(ExpressionPtr callee) {
  const Token& at = current();
  Node node = make(Kind::call, at);
  node->operands.push_back(std::move(callee));
  arguments(*node);
  return finish(std::move(node), at);
}

ExpressionPtr ExpressionParser::filters(ExpressionPtr input) {
  while (skip_sign("|")) input = filter(std::move(input));
  return input;
}

ExpressionPtr ExpressionParser::filter(ExpressionPtr input) {
  const Token& at = current();
  Node node = make(Kind::filter, at);
  node->name = expect_any_name();
  node->filter = find_filter(node->name);
  if (node->filter == nullptr) error(at, "there is no filter named '" + node->name + "'");
  node->operands.push_back(std::move(input));
  if (current().is_sign("(")) arguments(*node);
  return finish(std::move(node), at);
}

ExpressionPtr ExpressionParser::test(ExpressionPtr value) {
  const Token& is = next();
  const bool negated = skip_name("not");
  const Token& at = current();
  Node node = make(Kind::test, at);
  node->name = expect_any_name();
  node->test = find_test(node->name);
  if (node->test == nullptr) error(at, "there is no test named '" + node->name + "'");
  node->operands.push_back(std::move(value));
  const Token& token = current();
  const bool is_operand =
      token.kind == TokenKind::string || token.kind == TokenKind::integer || token.kind == TokenKind::real ||
      token.is_sign("[") || token.is_sign("{") ||
      (token.kind == TokenKind::name && token.text != "else" && token.text != "or" && token.text != "and");
  if (token.is_sign("(")) {
    arguments(*node);
  } else if (is_operand) {
    if (token.is_name("is")) error(token, "tests with `is` cannot be chained");
    node->operands.push_back(postfix(primary()));
  }
  ExpressionPtr tested = finish(std::move(node), at);
  return negated ? join(Kind::logical_not, is, std::move(tested), nullptr) : std::move(tested);
}

// --- targets

Target ExpressionParser::single_target(bool with_namespace) {
  Target target;
  if (skip_sign("(")) {
    target = this->target({}, with_namespace);
    expect_sign(")");
    return target;
  }
  const Token& at = current();
  target.name = expect_any_name();
  for (const char* reserved : {"true", "True", "false", "False", "none", "None"}) {
    if (target.name == reserved) error(at, "'" + target.name + "' cannot be set");
  }
  if (with_namespace && skip_sign(".")) target.member = expect_any_name();
  return target;
}

Target ExpressionParser::target(std::initializer_list<std::string_view> end_names, bool with_namespace) {
  const Level level(*this);
  Target whole;
  while (true) {
    whole.several.push_back(single_target(with_namespace));
    if (!skip_sign(",")) break;
    whole.is_tuple = true;
    if (ends_tuple(end_names)) break;
  }
  if (whole.is_tuple) return whole;
  Target only = std::move(whole.several[0]);
  return only;
}

}  // namespace glmhost::jinja
