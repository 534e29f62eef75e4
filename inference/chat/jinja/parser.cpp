#include "inference/chat/jinja/parser.h"

#include <algorithm>

#include "inference/chat/jinja/expression_parser.h"

namespace glmhost::jinja {
namespace {

using Kind = Statement::Kind;

class Parser {
 public:
  explicit Parser(const Tokens& tokens) : in_(tokens) {}

  Parsed run() {
    Parsed parsed;
    parsed.statements = block({}, nullptr);
    parsed.names = std::move(in_.names);
    return parsed;
  }

 private:
  // Up to a tag that one of these names begins; `ended_by` is told which, and the tag's name is skipped.
  Block block(std::initializer_list<std::string_view> ends, std::string* ended_by) {
    const ExpressionParser::Level level(in_);
    const Token opening = in_.current();
    Block statements;
    while (true) {
      const Token& token = in_.current();
      switch (token.kind) {
        case TokenKind::text: {
          Statement& text = add(statements, Kind::text);
          text.text = Value::own_text(in_.next().text);
          break;
        }
        case TokenKind::output_begin: {
          in_.next();
          Statement& output = add(statements, Kind::output);
          output.expression = in_.tuple();
          if (in_.current().kind != TokenKind::output_end) in_.unexpected("the end of the tag, }}");
          in_.next();
          break;
        }
        case TokenKind::block_begin: {
          in_.next();
          const Token& name = in_.current();
          if (name.kind != TokenKind::name) in_.unexpected("the name of a tag");
          if (std::find(ends.begin(), ends.end(), name.text) != ends.end()) {
            *ended_by = in_.next().text;
            return statements;
          }
          statement(statements);
          break;
        }
        default:
          if (ends.size() == 0) return statements;
          in_.error(opening,
                    "the block that begins here has no end: {% " + std::string(*(ends.end() - 1)) + " %} is missing");
      }
    }
  }

  // The block up to its only possible end.
  Block body(std::string_view end) {
    std::string ended_by;
    Block statements = block({end}, &ended_by);
    end_tag();
    return statements;
  }

  Statement& add(Block& statements, Kind kind) {
    Statement& statement = statements.emplace_back();
    statement.kind = kind;
    statement.line = in_.current().line;
    return statement;
  }

  void end_tag() {
    if (in_.current().kind != TokenKind::block_end) in_.unexpected("the end of the tag, %}");
    in_.next();
  }

  void statement(Block& statements) {
    const Token& name = in_.current();
    if (name.text == "if") return condition(add(statements, Kind::condition));
    if (name.text == "for") return loop(add(statements, Kind::loop));
    if (name.text == "set") return set(add(statements, Kind::set));
    if (name.text == "macro") return macro(add(statements, Kind::macro));
    if (name.text == "call") return call(add(statements, Kind::call));
    if (name.text == "filter") return filter(add(statements, Kind::filter));
    if (name.text == "with") return with(add(statements, Kind::with));
    if (name.text == "generation") return generation(add(statements, Kind::scope));
    if (name.text == "break" || name.text == "continue") {
      if (loops_ == 0) in_.error(name, "'" + name.text + "' stands outside of a loop");
      add(statements, name.text == "break" ? Kind::break_loop : Kind::continue_loop);
      in_.next();
      return end_tag();
    }
    for (const char* foreign : {"include", "import", "from", "extends", "block"}) {
      if (name.text == foreign)
        in_.error(name, "the tag '" + name.text + "' is not supported: a template stands alone");
    }
    in_.error(name, "there is no tag '" + name.text + "'");
  }

  void condition(Statement& out) {
    std::string ended_by = "if";
    in_.next();
    while (ended_by != "endif") {
      Statement::Branch& branch = out.branches.emplace_back();
      if (ended_by != "else") branch.condition = in_.tuple(false);
      end_tag();
      branch.block = ended_by == "else" ? block({"endif"}, &ended_by) : block({"elif", "else", "endif"}, &ended_by);
    }
    end_tag();
  }

  void loop(Statement& out) {
    in_.next();
    out.target = in_.target({"in"}, false);
    in_.expect_name("in");
    out.expression = in_.tuple(false, {"if", "recursive"});
    if (in_.skip_name("if")) out.condition = in_.expression();
    if (in_.current().is_name("recursive")) in_.error(in_.current(), "recursive loops are not supported");
    end_tag();
    std::string ended_by;
    ++loops_;
    out.branches.emplace_back().block = block({"else", "endfor"}, &ended_by);
    --loops_;
    if (ended_by == "else") {
      end_tag();
      out.branches.emplace_back().block = block({"endfor"}, &ended_by);
    }
    end_tag();
  }

  void set(Statement& out) {
    in_.next();
    out.target = in_.target({}, true);
    if (in_.skip_sign("=")) {
      out.expression = in_.tuple();
      return end_tag();
    }
    out.kind = Kind::set_block;
    if (in_.current().is_sign("|")) out.expression = in_.filters(nullptr);
    end_tag();
    out.branches.emplace_back().block = body("endset");
  }

  void parameters(Macro& macro) {
    in_.expect_sign("(");
    while (!in_.current().is_sign(")")) {
      if (!macro.parameters.empty()) in_.expect_sign(",");
      if (in_.current().is_sign(")")) break;
      const Token& at = in_.current();
      std::string name = in_.expect_any_name();
      ExpressionPtr standard;
      if (in_.skip_sign("=")) {
        standard = in_.expression();
      } else if (!macro.parameters.empty() && macro.parameters.back().second != nullptr) {
        in_.error(at, "a parameter without a default follows one with a default");
      }
      macro.parameters.emplace_back(std::move(name), std::move(standard));
    }
    in_.expect_sign(")");
  }

  // A macro's body is its own: break and continue do not reach out of it.
  std::shared_ptr<const Block> macro_body(std::string_view end) {
    const int outside = std::exchange(loops_, 0);
    auto statements = std::make_shared<const Block>(body(end));
    loops_ = outside;
    return statements;
  }

  void macro(Statement& out) {
    in_.next();
    auto made = std::make_shared<Macro>();
    made->name = in_.expect_any_name();
    parameters(*made);
    end_tag();
    made->body = macro_body("endmacro");
    out.macro = std::move(made);
  }

  void call(Statement& out) {
    in_.next();
    auto caller = std::make_shared<Macro>();
    caller->name = "caller";
    if (in_.current().is_sign("(")) parameters(*caller);
    const Token& at = in_.current();
    out.expression = in_.expression();
    if (out.expression->kind != Expression::Kind::call) in_.error(at, "expected a call");
    end_tag();
    caller->body = macro_body("endcall");
    out.macro = std::move(caller);
  }

  void filter(Statement& out) {
    in_.next();
    out.expression = in_.filters(in_.filter(nullptr));
    end_tag();
    out.branches.emplace_back().block = body("endfilter");
  }

  void with(Statement& out) {
    in_.next();
    while (in_.current().kind != TokenKind::block_end) {
      if (!out.assignments.empty()) in_.expect_sign(",");
      std::string name = in_.expect_any_name();
      in_.expect_sign("=");
      out.assignments.emplace_back(std::move(name), in_.expression());
    }
    end_tag();
    out.branches.emplace_back().block = body("endwith");
  }

  void generation(Statement& out) {
    in_.next();
    end_tag();
    out.branches.emplace_back().block = body("endgeneration");
  }

  ExpressionParser in_;
  int loops_ = 0;
};

}  // namespace

Parsed parse(std::string_view source) {
  if (source.size() > kMaxSource) {
    syntax_error({}, 0, "the template is larger than " + std::to_string(kMaxSource >> 20) + " MiB");
  }
  const Tokens tokens = tokenize(source);
  return Parser(tokens).run();
}

}  // namespace glmhost::jinja
