"""Writes cases.json: small templates and what Jinja2 3.1 renders them to in the setting of transformers.

Run by hand when templates are added: python3 make_cases.py (needs the package jinja2).
"""

import datetime
import json
import pathlib

import jinja2
import jinja2.ext
import jinja2.sandbox

VARIABLES = {
    "s": "Hello, Wörld!", "blank": "  padded\n ", "empty": "", "n": 7, "f": 2.5, "big": 18446744073709551615, "t": True,
    "none": None, "xs": [3, 1, 2], "words": ["pear", "Apple", "fig"], "d": {"b": 1, "a": [1, 2], "items": "shadowed"},
    "people": [{"name": "Ann", "age": 31, "x": {"y": 1}}, {"name": "bob", "age": 25}, {"name": "Cem", "age": 31}],
    "cjk": "日本語テキスト", "emoji": "a😀b", "quotes": "it's \"so\"", "markup": "<b>&'\"</b>", "lines": "one\ntwo\n\nthree",
    "messages": [{"role": "system", "content": " be brief "}, {"role": "user", "content": "hi"},
                 {"role": "assistant", "content": "<think>\nwell\n</think>\n\nyes"}],
    "nested": {"list": [{"k": [1, {"z": None}]}], "text": "ä\u2028\t\"\\"},
}

EXPRESSIONS = r"""
n + 1 | n - 10 | n * f | n / 2 | n // 2 | -n // 2 | n % 3 | -n % 3 | n ** 2 | 2 ** -1 | -2 ** 2 | 2 ** 3 ** 2 | f // 1 | f % 2 | -f % 2
1 + 2 ~ 3 | 'a' ~ n ~ none ~ t ~ f | 'a' 'b' | n == 7.0 | true == 1 | 1 < 2 < 3 | 1 < 3 < 2 | 'a' < 'b' | [1, 2] < [1, 3] | (1, 2) == (1, 2)
[1] == (1,) | {'a': 1} == {'a': 1.0} | none == false | big | big + 1 | 1e21 | 1e-7 | 1.0 | 100000.0 * 1e12 | 0x1F | 1_000 | 0b101 + 0o17
not n | not empty | n and empty | empty or 'x' | n if t else 0 | (n if not t) is defined | 'yes' if xs else 'no' | not (t and not t)
s | s|length | s[0] | s[-1] | s[1:4] | s[::-1] | s[7:] | s[:-1] | s[::2] | s[10:2:-3] | s[100:] | s[100] is defined | cjk[1:3] | cjk[::-1] | emoji[1] | emoji|length
xs[0] | xs[-1] | xs[1:] | xs[::-1] | xs[5] is defined | xs.0 | people.0.name | people[1]['age'] | d.b | d['b'] | d.a[1] | d['items'] | d.missing is defined | d.items is callable
missing is defined | missing is undefined | missing | missing|length | missing|default('z') | empty|default('z') | empty|default('z', true) | none|default('z') | d.x.y is defined
none is none | n is number | f is float | n is integer | t is integer | t is number | t is boolean | s is string | xs is sequence | d is sequence | s is sequence | n is sequence
xs is iterable | d is iterable | s is iterable | n is iterable | missing is iterable | none is iterable | d is mapping | xs is mapping | missing is mapping | missing is sequence
n is odd | n is even | n is divisibleby 7 | n is divisibleby(2) | n is eq 7 | n is equalto(8) | n is ne 7 | n is lt 8 | n is ge 7 | n is gt 7 | n is le 7 | 'a' is in 'abc' | 3 is in xs
s is lower | 'abc' is lower | 'ABC1' is upper | '12' is upper | n is not none | n is not string | t is true | 1 is true | false is false | none is sameas none | t is sameas true
'a' in 'abc' | 'x' not in 'abc' | 2 in xs | 'a' in d | 1 in d | 'a' in missing | none in [none] | 'name' in people[0]
s|upper | s|lower | 'straße'|upper | 'hELLO wORLD'|capitalize | 'hello wORLD-foo (bar)'|title | 'ÄPFEL'|lower | 'it\'s'|title | "they're bill's".title() | 'ǆ'|capitalize
blank|trim | 'xxaxx'|trim('x') | blank.strip() | blank.lstrip() | blank.rstrip() | 'xyaxy'.strip('xy') | '\n\na\n'.strip('\n') | 'abc'.rstrip('cb') | '日a日'.strip('日') | '\u3000a\u00a0'.strip()
s.split(', ') | 'a b  c'.split() | '  a b  c '.split(None, 1) | '  a b  c '.rsplit(None, 1) | 'a,b,c'.split(',', 1) | 'a,b,c'.rsplit(',', 1) | 'a,b,c'.split(',', maxsplit=1) | ''.split() | ''.split(',') | 'aXbXc'.split('X')[-1]
'abc'.startswith('ab') | 'abc'.startswith(('x', 'a')) | 'abc'.endswith('bc') | 'abc'.endswith(('x', 'y')) | 'abcabc'.startswith('b', 1) | 'abcabc'.endswith('b', 0, 2) | 'abc'.startswith('')
'aaa'.replace('a', 'b') | 'aaa'.replace('a', 'bb', 2) | 'abc'.replace('', '-') | 'aaa'|replace('a', 'b', 1) | 'a1b1'|replace(1, 2) | s.find('W') | s.find('zz') | cjk.find('語') | 'abcabc'.rfind('b') | 'abcabc'.find('b', 2) | 'abc'.index('c') | 'banana'.count('an')
', '.join(words) | words|join(', ') | people|join(', ', attribute='name') | xs|join | xs|join('-') | 'abc'|join('.') | ''.join([]) | '{} is {}'.format('a', 1) | '{1}{0}{x}{{'.format('a', 'b', x=2)
'%s=%d' % ('a', 3) | '%05.1f|%-4s|%4s|%x' % (3.14159, 'a', 'b', 255) | '%s' % 'x' | '%s and %r' | '%%' % () | '%(a)s' % {'a': 1} | '%s %s'|format('a', 2) | '%+d' % 5 | '%03d' % -5
'a-b-c'.partition('-') | 'a-b-c'.rpartition('-') | 'abc'.partition('x') | 'a\nb\r\nc'.splitlines() | 'prefix-x'.removeprefix('prefix-') | 'x.py'.removesuffix('.py') | '7'.zfill(3) | '-7'.zfill(4) | 'a'.ljust(3, '.') | 'a'.rjust(3) | 'ab'.center(5, '*') | 'abc'.center(6, '*')
'123'.isdigit() | 'a1'.isdigit() | 'abc'.isalpha() | 'a1'.isalnum() | ' \n'.isspace() | 'ABC'.isupper() | 'abc'.islower() | ''.isdigit() | 'abc'.upper() | 'ABC'.lower() | 'abc def'.capitalize()
xs|sort | xs|sort(reverse=true) | words|sort | words|sort(case_sensitive=true) | people|sort(attribute='age')|map(attribute='name')|list | people|sort(attribute='age,name')|map(attribute='name')|join(' ')
xs|first | xs|last | []|first is defined | xs|min | xs|max | words|min | words|max | people|max(attribute='age') | xs|sum | people|sum(attribute='age') | xs|sum(start=10) | xs|reverse|list | 'abc'|reverse | xs|length | d|length | xs|count
[1, 2, 1, 3, 2]|unique|list | ['a', 'A', 'b']|unique|list | ['a', 'A']|unique(case_sensitive=true)|list | people|unique(attribute='age')|map(attribute='name')|list | xs|batch(2)|list | xs|batch(2, 0)|list | 'abc'|list | d|list
xs|select('odd')|list | xs|reject('odd')|list | xs|select('gt', 1)|list | [0, 1, '']|select|list | people|selectattr('age', 'eq', 31)|map(attribute='name')|list | people|rejectattr('age', 'equalto', 31)|list|length | people|selectattr('x')|list|length | people|selectattr('x', 'defined')|list|length
words|map('upper')|list | words|map('length')|list | words|map('replace', 'p', 'q')|list | people|map(attribute='x.y')|list | people|map(attribute='x.y', default=0)|list | people|map(attribute='zip', default='?')|list | xs|map('string')|join
d|items|list | d.items()|list|length | d['items'] | {'a': 1}.items()|list | {'a': 1, 'b': 2}.keys()|list | {'a': 1, 'b': 2}.values()|list | {'a': 1}.get('a') | {'a': 1}.get('b') | {'a': 1}.get('b', 'z') | {'b': 2, 'A': 1}|dictsort | {'b': 1, 'a': 2}|dictsort(by='value') | {'b': 1, 'a': 2}|dictsort(reverse=true)
'12'|int | 'x'|int | 'x'|int(5) | '12.9'|int | 3.99|int | -3.99|int | none|int | '0x1f'|int(0, 16) | '1_000'|int | ' 5 '|int | t|int | '2.5'|float | 'x'|float | 3|float | '1e3'|float | -5|abs | 2.567|round(2) | 2.5|round | 3.5|round | 2.1|round(0, 'ceil') | 2|round
n|string | f|string | t|string | none|string | xs|string | d|string | 1.0|string | [1.5, 'a', none, true]|string | ("it's",)|string | ['it\'s "x"']|string | {'k': 'v'}|string | () | (1,) | [[]] | ['\n\t\\\x00é']
xs|tojson | d|tojson | s|tojson | cjk|tojson | cjk|tojson(ensure_ascii=true) | emoji|tojson(ensure_ascii=true) | markup|tojson | nested|tojson | nested|tojson(indent=2) | nested|tojson(indent=0) | []|tojson(indent=2) | {}|tojson(indent=2) | none|tojson | t|tojson | f|tojson | 1e21|tojson | -0.0|tojson | 1e-7|tojson | big|tojson
d|tojson(sort_keys=true) | d|tojson(separators=(',', ':')) | {'a': [1, {'b': 2}]}|tojson(separators=[', ', '='], indent=1) | {1: 2, none: 3, true: 4}|tojson | (1, 2)|tojson | d|tojson(indent='\t')
markup|e | markup|escape | lines|indent | lines|indent(2) | lines|indent(2, true) | lines|indent(2, blank=true) | lines|indent('> ') | lines|indent(first=true) | ''|indent | 'a'|center(5) | s|safe | [s]|safe | n|e
range(3)|list | range(1, 4)|list | range(6, 0, -2)|list | range(0)|list | dict(a=1)|string | dict([('x', 1)]).x | dict({'a': 1}, b=2)|tojson | [1] + [2] | [1] * 3 | 'ab' * 2 | 3 * 'x' | (1,) + (2,) | 'a' * -1
strftime_now('%d %b %Y') | strftime_now('%Y-%m-%d %H:%M:%S %A %B %j %p %I %y %a') | strftime_now('%e/%-d') | strftime_now('100%%')
messages[-1].content.split('</think>')[-1].lstrip('\n') | messages[-1].content.split('</think>')[0].split('<think>')[-1].strip('\n') | messages[0]['content']|trim | messages|length - 1 | messages[1:]|length | messages[::-1][0].role
'x' is string and n is number | 'a' ~ 'b'|upper | n|string ~ 'x' | -n|abs | (-n)|abs | n is defined and d.b == 1 | 1 if 0 else 2 if 0 else 3 | not n is defined | n not in xs | [n, xs|length, s|upper|lower]
'a' < 1 | 'a' + 1 | 1 + 'a' | [1] + 'a' | none + 1 | missing + 1 | missing.x | missing['x'] | missing() | n() | s.nothing() | d.append(1) | xs.append(1) | d.update({}) | xs|first.x | 1 / 0 | 1 // 0 | 1 % 0 | s[0:1:0] | none|length | n|length | none|list
missing|int | missing|tojson | missing|first is defined | missing|list | missing|join(',') | missing|trim | missing|upper | missing ~ 'x' | missing == missing | missing == none | missing != 1 | missing < 1 | -missing | missing|sort | missing|string | missing|items|list
''.__class__.__mro__ | xs.__len__()
'\x41\u00e9\101\q\'' | "a\"b" | {'a': {'b': [1, {'c': 2}]}}.a.b[1].c | {'x': 1}['x'] | [1, 2, 3,] | {'a': 1,} | {{'a': 1}.a: 2} | (1) | ((1, 2), 3) | [1, [2, [3]]]
'{' ~ '}' | '%}' | '}}' | "{{" | {'a}}': 1}['a}}'] | xs[n - 7] | d[['b'][0]] | d[xs] is defined | xs['0'] is defined | xs['a'] is defined
raise_exception('no ' ~ n) | raise_exception('') | n|raise | n is raise | 'a'.nothing is defined | 10 ** 30 | 7 // 2.0 | 2 ** 0.5 | 1.5 ** 2 | 0.1 + 0.2 | 1e300 * 1e10 | -7 // 2 | 7 % -3 | 7.5 % -2
"""

TEMPLATES = [
    "{% for x in xs %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.depth }};{% endfor %}",
    "{% for x in xs %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }} {% endfor %}",
    "{% for x in xs %}{{ loop.previtem is defined }}{{ loop.nextitem is defined }}{{ loop.cycle('a', 'b') }}{% endfor %}",
    "{% for x in [] %}{{ x }}{% else %}none{% endfor %}|{% for x in xs if x > 5 %}{{ x }}{% else %}none{% endfor %}",
    "{% for x in xs if x != 1 %}{{ loop.index }}/{{ loop.length }}:{{ x }} {% endfor %}",
    "{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}{% for k, v in d|items %}{{ k }}{% endfor %}{% for k in d %}{{ k }}{% endfor %}",
    "{% for a, (b, c) in [(1, (2, 3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}{% for c in 'aé😀' %}[{{ c }}]{% endfor %}",
    "{% for x in xs %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% if loop.index == 3 %}{% break %}{% endif %}{% endfor %}",
    "{% for x in range(10) %}{% if x > 3 %}{% break %}{% endif %}{% for y in range(9) %}{% if y == 2 %}{% break %}{% endif %}{{ x }}{{ y }} {% endfor %}{% endfor %}",
    "{% for x in missing %}x{% endfor %}{% for x in none %}x{% endfor %}",
    "{% for x in 5 %}{% endfor %}",
    "{% for a, b in [(1, 2, 3)] %}{% endfor %}",
    "{% set x = 1 %}{% for i in range(2) %}{{ x }}{% set x = 5 %}{{ x }}{% endfor %}{{ x }}",
    "{% for i in range(3) %}{% if loop.first %}{% set y = 'set' %}{% endif %}{{ y is defined }}{% endfor %}",
    "{% set ns = namespace(a=1, b='x') %}{% for i in range(3) %}{% set ns.a = ns.a + i %}{% endfor %}{{ ns.a }}{{ ns.b }}{{ ns.c is defined }}",
    "{% set ns = namespace() %}{% set ns.list = [] %}{% for i in range(3) %}{% set ns.list = ns.list + [i] %}{% endfor %}{{ ns.list }}",
    "{% set ns.x = 1 %}", "{% set n.x = 1 %}",
    "{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set c = 1, 2 %}{{ c }}{% set (d, e) = xs[:2] %}{{ d }}{{ e }}",
    "{% set x %}block {{ n }}{% endset %}[{{ x }}]{% set y | upper | replace('B', '_') %}b{{ s }}{% endset %}{{ y }}{% set z %}{% endset %}{{ z is string }}",
    "{% if n == 1 %}a{% elif n == 7 %}b{% else %}c{% endif %}{% if not n %}a{% else %}d{% endif %}{% if missing %}x{% endif %}",
    "{% if n is defined %}{% set q = 1 %}{% endif %}{{ q }}{% if false %}{% set w = 1 %}{% endif %}{{ w is defined }}",
    "{% macro m(a, b=2, c='x') %}[{{ a }}{{ b }}{{ c }}]{% endmacro %}{{ m(1) }}{{ m(1, c='y') }}{{ m(b=1, a=0) }}{{ m() }}{{ m(1, 2, 3) }}",
    "{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}", "{% macro m(a) %}{% endmacro %}{{ m(x=1) }}", "{% macro m(a) %}{% endmacro %}{{ m(1, a=2) }}",
    "{% macro m(a, b=a ~ '!') %}{{ a }}{{ b }}{% endmacro %}{{ m('x') }}{{ m('x')|upper }}{{ m('x') is string }}{{ m is callable }}",
    "{% macro f(k) %}{% if k > 0 %}{{ k }}{{ f(k - 1) }}{% endif %}{% endmacro %}{{ f(4) }}",
    "{% macro m() %}{{ n }}{{ later }}{% endmacro %}{% set later = 'L' %}{{ m() }}{% for i in [1] %}{% set n = 9 %}{{ m() }}{% endfor %}",
    "{% macro outer(x) %}{% macro inner(y) %}{{ x }}{{ y }}{% endmacro %}{{ inner(1) }}{% endmacro %}{{ outer('o') }}",
    "{% macro m(x) %}<{{ caller() }}{{ x }}>{% endmacro %}{% call m(1) %}body {{ n }}{% endcall %}",
    "{% macro m() %}{{ caller('a') }}{% endmacro %}{% call(v) m() %}[{{ v }}]{% endcall %}",
    "{% filter upper %}a{{ s }}{% endfilter %}{% filter trim | replace('a', 'b') %}  aa {% endfilter %}",
    "{% with a = 1, b = n %}{{ a }}{{ b }}{% set c = 3 %}{% endwith %}{{ a is defined }}{{ c is defined }}",
    "{% raw %}{{ not }} {% this %}{% endraw %} {%- raw -%}  x {% endraw %}",
    "a\n{% if true %}\nb\n{% endif %}\nc\n", "a\n  {% if true %}  \n  b\n  {% endif %}  \nc", "a\n  {%- if true -%}\n  b  \n  {%- endif -%}\n  c",
    "  {% set x = 1 %}\n  {{ x }}\n  {# comment #}\n  y\n", "  {{- s -}}  \n z", "a {%+ if true %} b{%+ endif +%}\n c", "{# a #}\n{#- b -#}\n x {#- c #}\n y",
    "x\n\n\n", "x\r\ny\rz\r\n", "\n\n{% if true %}\n\n x{% endif %}", "{{ 'a' }}\n{{ 'b' }}\n", "{% for x in xs %}\n  {{ x }}\n{% endfor %}\n", "\t {% if true %}t{% endif %}\t",
    "{% for m in messages %}\n    {%- if m.role == 'user' %}\n        {{- 'U:' + m.content }}\n    {%- elif m.role == 'system' -%}\n  S:{{ m['content'] | trim }}\n    {%- endif %}\n{%- endfor %}\n",
    "{{ s }}{{", "{{ s", "{% if %}", "{% if n %}", "{% for x xs %}{% endfor %}", "{% endif %}", "{{ n n }}", "{{ (n }}", "{{ n) }}", "{{ }}", "{{ 'open }}", "{% nothing %}", "{{ n|nothing }}", "{{ n is nothing }}", "{# open", "{% raw %}x", "{{ n $ }}", "{% set true = 1 %}", "{% set 1 = n %}", "{{ [1, }}", "{{ {1 } }}", "{{ n is string is number }}", "{% do xs %}", "{% else %}", "{% break %}", "{{ a.1b }}", "{% include 'x' %}", "{% macro m(a=1, b) %}{% endmacro %}", "{{ f(a=1, 2) }}", "{% for x in xs %}{% endif %}", "{{ 'a' if }}", "{{ x. }}", "{{ x[ }}", "{{ 1 + }}",
    "{{ raise_exception('broken: ' + s) }}", "{% if n > 100 %}{{ raise_exception('never') }}{% endif %}fine",
    "{%- set ns = namespace(last=-1) %}{% for m in messages %}{% if m.role == 'user' %}{% set ns.last = loop.index0 %}{% endif %}{% endfor %}{{ ns.last }}",
    "{%for x in xs-%} {{x}} {%-endfor%}", "{{xs[0]}}{{xs [1]}}{{ d . b }}{{ s | upper | lower }}",
    "{% set x = 'a' if n else 'b' %}{{ x }}{% set y = (n, s)|length %}{{ y }}{% set _args = {} %}{{ _args }}",
    "{% for x in xs %}{% for y in words %}{{ loop.index }}{{ loop.depth }}{% endfor %}{{ loop.index }}{% endfor %}",
    "{% for x in xs %}{% set outer = loop %}{% for y in words %}{{ outer.index }}{{ loop.index }} {% endfor %}{% endfor %}",
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}{% endfor %}{% if add_generation_prompt %}x{% endif %}",
    "{% for x in xs %}{% if x > 1 %}{% continue %}{% else %}{% set k = x %}{% endif %}{{ k }}{% endfor %}",
    "{{ 'a\\\nb' }}", "{%- if true %}{{- ' x ' -}}  {% endif -%}  y", "{{ '  a b c  '.split(None, 0) }}{{ '\\u2028\\u00a0é😀\\u200b\\x7f' | list }}",
    "{{ strftime_now('%-d/%-m') }}", "{{ [1,2]|map('default', 5)|list }}{{ xs|select('in', [1, 2])|list }}{{ words|map('trim', 'p')|list }}",
    "{{ messages[0] }}", "{{ people }}", "{{ nested }}", "{{ d.keys() | list }}", "{{ {'a': 1}.items() | list }}",
]


def expressions():
    for line in EXPRESSIONS.strip().split("\n"):
        yield from line.split(" | ")  # filters in the list are written without blanks


def environment():
    env = jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols])

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    class Raised(jinja2.TemplateError):
        pass

    def raise_exception(message):
        raise Raised(message)

    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = datetime.datetime(2026, 2, 3, 4, 5, 6).strftime
    return env, Raised


def render(source):
    env, raised = environment()
    try:
        return {"rendered": env.from_string(source).render(**VARIABLES)}
    except raised as error:
        return {"raised": str(error)}
    except jinja2.TemplateSyntaxError as error:
        return {"syntax": error.lineno}
    except Exception as error:
        return {"fails": type(error).__name__}


def main():
    sources = ["{{ " + e + " }}" for e in expressions()] + TEMPLATES
    cases = [{"source": source, **render(source)} for source in sources]
    out = {"now": "2026-02-03T04:05:06", "variables": VARIABLES, "cases": cases}
    lines = ",\n".join(json.dumps(c, ensure_ascii=False) for c in cases)
    head = json.dumps({"now": out["now"], "variables": VARIABLES}, ensure_ascii=False)[:-1]
    pathlib.Path(__file__).with_name("cases.json").write_text(head + ', "cases": [\n' + lines + "\n]}\n")


if __name__ == "__main__":
    main()
