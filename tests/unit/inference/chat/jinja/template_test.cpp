// Templates against what Jinja2 renders them to (tests/data/jinja/make_cases.py).
#include "inference/chat/jinja/template.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

using namespace glmhost::jinja;

namespace {

Json cases() {
  std::ifstream in(std::filesystem::path(GLMHOST_TEST_DATA) / "jinja" / "cases.json", std::ios::binary);
  REQUIRE(in.good());
  return Json::parse(in);
}

Text run(const std::string& source, const Json& variables, const Limits& limits = {}) {
  const auto now = std::chrono::local_days(std::chrono::year(2026) / 2 / 3) + std::chrono::hours(4) +
                   std::chrono::minutes(5) + std::chrono::seconds(6);
  return Template(source).render(
      [&](Runtime& runtime) {
        Variables made;
        for (const auto& [name, value] : variables.items()) {
          made.emplace_back(name, from_json(runtime, value, Origin::given));
        }
        return made;
      },
      now, limits);
}

// In the form of the cases.
Json outcome(const std::string& source, const Json& variables) {
  try {
    return {{"rendered", run(source, variables).bytes()}};
  } catch (const TemplateError& error) {
    switch (error.failure()) {
      case Failure::raised:
        return {{"raised", error.what()}};
      case Failure::syntax:
        return {{"syntax", error.line()}, {"sentence", error.what()}};
      default:
        return {{"fails", error.what()}};
    }
  }
}

}  // namespace

TEST_CASE("templates render as in Jinja, and fail where Jinja fails") {
  const Json file = cases();
  int rendered = 0;
  for (const Json& one : file["cases"]) {
    const std::string source = one["source"].get<std::string>();
    INFO(source);
    const Json got = outcome(source, file["variables"]);
    INFO(got.dump());
    for (const char* kind : {"rendered", "raised", "syntax"}) {
      if (!one.contains(kind)) continue;
      CHECK(got.contains(kind));
      if (got.contains(kind)) CHECK(got[kind] == one[kind]);
      ++rendered;
    }
    if (one.contains("fails")) CHECK((got.contains("fails") || got.contains("syntax")));
  }
  CHECK(rendered > 400);
}

namespace {

// The sentence with which a template without variables ends; "" when it renders.
std::string failure(const std::string& source, Failure expected, const Limits& limits = {}) {
  try {
    run(source, Json::object(), limits);
  } catch (const TemplateError& error) {
    CHECK(error.failure() == expected);
    return error.what();
  }
  return "";
}

bool mentions(const std::string& sentence, std::string_view what) {
  return sentence.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("a syntax error names line and column") {
  struct Case {
    const char* source;
    const char* mentioned;
  };
  const Case cases_of_errors[] = {
      {"ok\n{{ n n }}", "line 2, column 6: expected the end of the tag, }}, but found 'n'"},
      {"é{{ (1 }}", "line 1, column 8: expected ')', but found '}'"},
      {"{{ (1", "line 1, column 1: this tag has no end"},
      {"a\n\n  {% if x %}\nb", "the block that begins here has no end: {% endif %} is missing"},
      {"{% for x in y %}{% endfor %}{% endfor %}", "line 1, column 32: there is no tag 'endfor'"},
      {"{{ x|nothing }}", "line 1, column 6: there is no filter named 'nothing'"},
      {"{{ x is nothing }}", "line 1, column 9: there is no test named 'nothing'"},
      {"{% include 'a' %}", "the tag 'include' is not supported"},
      {"{% extends 'a' %}", "not supported"},
      {"{% import 'a' as b %}", "not supported"},
      {"{{ f(*x) }}", "line 1, column 6: arguments that are unpacked"},
      {"{% for x in y recursive %}{% endfor %}", "recursive loops are not supported"},
      {"{{ \"\\ud800\" }}", "this escape is no character"},
      {"{{ 99999999999999999999999999999999999999999 }}", "this number is too large"},
      {"{# never", "this comment has no end"},
  };
  for (const Case& one : cases_of_errors) {
    INFO(std::string(one.source));
    const std::string sentence = failure(one.source, Failure::syntax);
    INFO(sentence);
    CHECK(mentions(sentence, one.mentioned));
  }
  CHECK(mentions(failure(std::string("{{ \0 }}", 7), Failure::syntax), "column 4: there is a control character."));
  const std::string deep(5000, '(');
  CHECK(mentions(failure("{{ " + deep + "1" + std::string(5000, ')') + " }}", Failure::syntax), "nests more than"));
  std::string sums = "{{ 1";
  for (int i = 0; i < 5000; ++i) sums += " + 1";
  CHECK(mentions(failure(sums + " }}", Failure::syntax), "nests more than"));
  std::string nots = "{{ ";
  for (int i = 0; i < 5000; ++i) nots += "not ";
  CHECK(mentions(failure(nots + "1 }}", Failure::syntax), "nests more than"));
  std::string ifs;
  for (int i = 0; i < 5000; ++i) ifs += "{% if 1 %}";
  CHECK(mentions(failure(ifs, Failure::syntax), "nests more than"));
  CHECK(mentions(failure(std::string((1 << 20) + 1, 'x'), Failure::syntax), "larger than 1 MiB"));
}

TEST_CASE("a hostile template is stopped by the limit it runs into") {
  struct Case {
    const char* source;
    const char* mentioned;
  };
  const Case hostile[] = {
      {"{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", ""},
      {"{% for a in 'x' * 9999 %}{% for b in 'x' * 9999 %}{% set c = b %}{% endfor %}{% endfor %}", ""},
      {"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "nests more than 600 levels"},
      {"{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{% endmacro %}{{ a() }}", "nests more than"},
      {"{{ range(1000000000) }}", "range of more than 100000"},
      {"{{ range(-(2 ** 126), 2 ** 126) }}", "range of more than 100000"},
      {"{{ 'x' * 1000000000000 }}", "MiB of text"},
      {"{{ [1] * 1000000000000 }}", "MiB of text"},
      {"{% set ns = namespace(s='x') %}{% for i in range(99) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
       "MiB of text"},
      {"{% set ns = namespace(s='x') %}{% for i in range(99) %}{% set ns.s = ns.s.replace('x', 'xx') %}{% endfor %}",
       "MiB of text"},
      {"{% set ns = namespace(s='x') %}{% for i in range(99) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
       "MiB of text"},
      {"{% set ns = namespace(s=['x']) %}{% for i in range(99) %}{% set ns.s = ns.s + ns.s %}{% endfor %}", ""},
      {"{% set ns = namespace(s=1) %}{% for i in range(9999) %}{% set ns.s = [ns.s] %}{% endfor %}", "200 levels deep"},
      {"{% set ns = namespace(s=1) %}{% for i in range(9999) %}{% set ns.s = {'a': ns.s} %}{% endfor %}",
       "200 levels deep"},
      {"{% set ns = namespace(s=1) %}{% for i in range(150) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ ns.s }}", ""},
      {"{% set ns = namespace(s=1) %}{% for i in range(150) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}"
       "{{ ns.s|tojson }}",
       ""},
      {"{% set a = namespace(s=1) %}{% set b = namespace(s=1) %}{% for i in range(150) %}{% set a.s = [a.s, a.s] %}"
       "{% set b.s = [b.s, b.s] %}{% endfor %}{{ a.s == b.s }}",
       "steps"},
      {"{{ 10 ** 100 }}", "127 bits"},
      {"{{ 2 ** 2 ** 2 ** 2 ** 2 ** 2 ** 2 ** 2 }}", "127 bits"},
      {"{{ 'a'.ljust(10000000000) }}", "MiB of text"},
      {"{{ '%1000000000s' % 'a' }}", "wider than"},
      {"{{ [[1]]|tojson(indent=1000000000) }}", "MiB of text"},
      {"{{ 'a\\nb'|indent(10000000000) }}", "MiB of text"},
      {"{{ 'x'|center(10000000000) }}", "MiB of text"},
      {"{{ [1]|batch(10000000000, 'x') }}", "MiB of text"},
      {"{% set ns = namespace() %}{% for i in range(99999) %}{% set x = namespace(y=ns) %}{% set ns.x = x %}"
       "{% endfor %}{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
       ""},
  };
  for (const Case& one : hostile) {
    INFO(std::string(one.source));
    const std::string sentence = failure(one.source, Failure::limit);
    INFO(sentence);
    CHECK(mentions(sentence, "The chat template was stopped in line 1: "));
    CHECK(mentions(sentence, one.mentioned));
  }
  Limits small;
  small.steps = 100;
  CHECK(mentions(failure("{% for i in range(50) %}{{ i }}{% endfor %}", Failure::limit, small), "more than 100 steps"));
}

TEST_CASE("nothing of the program is within reach") {
  for (const char* source :
       {"{{ ''.__class__ }}", "{{ ''['__class__'] }}", "{{ [].__class__.__base__.__subclasses__() }}",
        "{{ {}.__init__ }}", "{{ range.__globals__ }}", "{{ raise_exception.__globals__ }}",
        "{{ namespace.__class__ }}", "{{ namespace().__dict__ }}", "{{ [''.upper]|map(attribute='__self__')|list }}",
        "{{ none.__class__ }}", "{{ (1).__class__ }}", "{% macro m() %}{% endmacro %}{{ m.__closure__ }}",
        "{{ [1].append(2) }}", "{{ {'a': 1}.pop('a') }}", "{{ {'a': 1}.update({}) }}",
        "{% for x in [1] %}{{ loop.__init__ }}{% endfor %}"}) {
    INFO(std::string(source));
    CHECK(mentions(failure(source, Failure::runtime), "is unsafe"));
  }
  // Data may have such names.
  CHECK(run("{{ d['__class__'] }}", {{"d", {{"__class__", "data"}}}}).bytes() == "data");
}

TEST_CASE("an error at run time names the line") {
  CHECK(mentions(failure("a\nb{{ 1 }}\n{{ missing.x }}\n", Failure::runtime),
                 "fails in line 3: 'missing' is undefined."));
  CHECK(mentions(failure("\n\n{{ 1 + 'a' }}", Failure::runtime), "line 3: unsupported operand"));
  CHECK(mentions(failure("{{ '%\\0' % 1 }}", Failure::runtime), "format character ' '."));
  CHECK(failure("{{ raise_exception('as said') }}", Failure::raised) == "as said");
}

TEST_CASE("{% generation %} changes nothing") {
  CHECK(run("{% generation %}\na{{ 1 }}{% endgeneration %}\nb", Json::object()).bytes() == "a1b");
}

TEST_CASE("every character keeps who wrote it") {
  const Json variables = {{"x", "uSer"}, {"xs", {"a", "b"}}, {"d", {{"k", "v"}}}, {"n", 5}};
  // Capitals in brackets: what the template's own text became; the request's is outside of them.
  const auto marked = [&](const char* source) {
    const Text text = run(source, variables);
    std::string out;
    std::size_t begin = 0;
    for (const Text::Run& part : text.runs()) {
      const std::string bytes = text.bytes().substr(begin, part.end - begin);
      out += part.origin == Origin::own ? "[" + bytes + "]" : bytes;
      begin = part.end;
    }
    return out;
  };
  CHECK(marked("<s>{{ x }}</s>") == "[<s>]uSer[</s>]");
  CHECK(marked("{{ '<' + x + '>' }}") == "[<]uSer[>]");
  CHECK(marked("{{ '<' ~ x ~ n ~ '>' }}") == "[<]uSer[5>]");
  CHECK(marked("{{ ('<' ~ x ~ '>')[::-1] }}") == "[>]reSu[<]");
  CHECK(marked("{{ ('<' ~ x ~ '>')[0:3] }}") == "[<]uS");
  CHECK(marked("{{ ('<' ~ x ~ '>')|upper }}") == "[<]USER[>]");
  CHECK(marked("{{ ('<' ~ x ~ '>')|title }}") == "[<]User[>]");
  CHECK(marked("{{ ('  ' ~ x ~ ' > ')|trim }}") == "uSer[ >]");
  CHECK(marked("{{ x|replace('S', '<s>') }}") == "u[<s>]er");
  CHECK(marked("{{ 'aSb'|replace('S', x) }}") == "[a]uSer[b]");
  CHECK(marked("{{ xs|join('<sep>') }}") == "a[<sep>]b");
  CHECK(marked("{{ '<s>'.join(xs) }}") == "a[<s>]b");
  CHECK(marked("{{ ('<a>S' ~ x).split('S') | join('|') }}") == "[<a>|]u[|]er" + std::string());
  CHECK(marked("{{ d|tojson }}") == "{\"k\": \"v\"}");
  CHECK(marked("{{ {'a': '<s>'}|tojson }}") == "[{\"a\": \"<s>\"}]");
  CHECK(marked("{{ d }}") == "[{']k[': ']v['}]");
  CHECK(marked("{{ '%s<%5s>' % (x, 'y') }}") == "uSer[<    y>]");
  CHECK(marked("{{ '{}<{}>'.format(x, 1) }}") == "uSer[<1>]");
  CHECK(marked("{% macro m(v) %}<{{ v }}>{% endmacro %}{{ m(x)|lower }}") == "[<]user[>]");
  CHECK(marked("{% set y %}<{{ x }}>{% endset %}{{ y }}{% filter upper %}<{{ x }}>{% endfilter %}") ==
        "[<]uSer[><]USER[>]");
  CHECK(marked("{% for c in x %}{{ c }}.{% endfor %}") == "u[.]S[.]e[.]r[.]");
  CHECK(marked("{{ ('<a>\\n' ~ x)|indent(2) }}") == "[<a>\n  ]uSer");
  CHECK(marked("{{ x|default('<d>') }}{{ y|default('<d>') }}") == "uSer[<d>]");
  CHECK(marked("{{ x.center(8, '<') }}") == "[<<]uSer[<<]");
  CHECK(marked("{{ xs|first ~ xs|sort|last }}{{ d.k }}{{ d.items()|list|first|join('=') }}") == "abvk[=]v");
  CHECK(marked("{{ x|escape }}{{ '<'|e }}{{ x|list|join }}{{ x|reverse }}{{ strftime_now('%d') }}") ==
        "uSer[&lt;]uSerreSu[03]");
}
