"""`glm table`: files in and out, mistakes, and random pipelines against DuckDB.

    GLM_TABLE_PIPELINES     how many random pipelines (default 150)
    GLM_TABLE_SEED          of the first one (default 1)
"""

import csv
import io
import json
import math
import os
import random
import unittest
import zipfile
from xml.etree import ElementTree

from harness import *

try:
    import duckdb
except ImportError:
    duckdb = None

ORDERS = "id,region,amount\n1,EU,10\n2,US,20\n3,eu,\n"


class TableCommand(TestCase):
    def setUp(self):
        super().setUp()
        self.orders = self.file("orders.csv", ORDERS)

    def csv(self, *arguments, **options):
        return self.succeeds("table", *arguments, **options).stdout

    def test_a_pipe_gets_csv(self):
        self.assertEqual(self.csv("group region (n = COUNT(), s = SUM(amount))", self.orders), "region,n,s\nEU,2,10\nUS,1,20\n")
        self.assertEqual(self.csv("take 1", "-", input=ORDERS), "id,region,amount\n1,EU,10\n")
        self.assertEqual(self.csv(f'from "{self.orders}" | take 1'), "id,region,amount\n1,EU,10\n")

    def test_other_files_are_known_by_their_names(self):
        names = self.file("names of regions.csv", "region,name\nEU,Europe\n")
        self.assertEqual(self.csv("join [names of regions] on region | select id, name", self.orders, names), "id,name\n1,Europe\n3,Europe\n")
        self.fails(FAILURE, "table", "append order", self.orders, says=["no table `order`", "Did you mean `orders`?"])

    def test_a_file_gets_the_result_whole_or_not_at_all(self):
        out = self.home.path / "out.csv"
        self.assertEqual(self.csv("filter id > 1", self.orders, "-o", out), "")
        self.assertEqual(out.read_text(), "id,region,amount\n2,US,20\n3,eu,\n")
        self.succeeds("table", "take 1", self.orders, "-o", self.orders)
        self.assertEqual(self.orders.read_text(), "id,region,amount\n1,EU,10\n")
        self.fails(FAILURE, "table", "take 1", self.orders, "-o", self.home.path / "no such folder/out.csv", says="cannot be written")
        self.fails(USAGE, "table", "take 1", self.orders, "-o", "out.xls", says="neither a .csv nor an .xlsx")
        self.assertEqual([path.name for path in self.home.path.glob("*.part")], [])

    def test_workbooks_go_in_and_out(self):
        book = self.home.path / "büch.xlsx"
        self.csv("take 100%", self.orders, "-o", book)
        self.assertEqual(self.csv("take 100%", book), ORDERS)
        self.assertEqual(self.csv(f'from "{book}#result" | take 1'), "id,region,amount\n1,EU,10\n")
        self.assertEqual(self.csv("take 1", "-", input=book.read_bytes()), "id,region,amount\n1,EU,10\n")
        self.fails(USAGE, "table", "take 1", book, "--sheet", "Resul", says=["no sheet `Resul`", "`Result`"])
        # By a reader that is not ours.
        with zipfile.ZipFile(book) as archive:
            self.assertIsNone(archive.testzip())
            sheet = ElementTree.fromstring(archive.read("xl/worksheets/sheet1.xml"))
            strings = ElementTree.fromstring(archive.read("xl/sharedStrings.xml"))
        space = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
        texts = ["".join(item.itertext()) for item in strings]
        cells = {c.get("r"): (texts[int(c[0].text)] if c.get("t") == "s" else float(c[0].text)) for c in sheet.iter(f"{space}c")}
        self.assertEqual(cells, {"A1": "id", "B1": "region", "C1": "amount", "A2": 1, "B2": "EU", "C2": 10, "A3": 2, "B3": "US", "C3": 20, "A4": 3, "B4": "eu"})
        # Made to fill memory: 200 MiB of blanks.
        with zipfile.ZipFile(self.home.path / "bomb.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
            with zipfile.ZipFile(book) as good:
                for name in good.namelist():
                    archive.writestr(name, b" " * (200 << 20) if "sheet1" in name else good.read(name))
        self.fails(USAGE, "table", "take 1", self.home.path / "bomb.xlsx", says="made to fill memory")

    def test_memory_has_a_limit(self):
        rows = self.file("rows.csv", "a\n" + "".join(f"{i}\n" for i in range(300_000)))
        self.fails(FAILURE, "table", "join cross (take 300)", rows, "--memory", "200MiB", says=["This join takes about", "--memory"])
        self.fails(USAGE, "table", "take 1", rows, "--memory", "lots", says="is not a number of bytes")

    def test_timing_is_one_line_of_json(self):
        result = self.succeeds("table", "take 2", self.orders, "--timing", "--repeat", "3", "--threads", "2")
        timing = json.loads(result.stderr)
        self.assertEqual((timing["rows_in"], timing["rows_out"], timing["threads"]), (3, 2, 2))
        for key in ("read_s", "run_s", "write_s"):
            self.assertGreaterEqual(timing[key], 0)
        self.assertGreater(timing["peak_bytes"], 1 << 20)

    def test_check_format_and_explain_need_no_data(self):
        self.assertEqual(self.csv("--check", "filter a > 1"), "The pipeline is well formed.\n")
        self.assertEqual(self.csv("--format", "filter a>1|take   2"), "filter a > 1\n| take 2\n")
        self.assertIn("1. filter: keep rows where a>1", self.csv("--explain", "filter a>1"))

    def test_mistakes_have_a_place(self):
        result = self.fails(USAGE, "table", "take 1\n| filter amont > 1", self.orders, says=["line 2, column 10", "Did you mean `amount`?"])
        self.assertIn("\n| filter amont > 1\n         ^~~~~\n", result.stderr)
        self.fails(USAGE, "table", "--check", "fliter a", says="Did you mean `filter`?")
        self.fails(USAGE, "table", "take 1", says="Give a file")
        self.fails(USAGE, "table", says="Give a pipeline")
        self.fails(USAGE, "table", "take 1", "missing.csv", says="no file `missing.csv`")
        self.fails(USAGE, "table", "take 1", self.file("book.xlsx", b"PK\x03\x04rest"), says="does not hold together")
        failed = self.glm("table", "assert amount > 15", self.orders)
        self.assertEqual(failed.returncode, FAILURE)
        self.assertIn("fails in 2 rows:\n  row 1: id = 1, region = EU, amount = 10", failed.stderr)

    def test_a_gone_reader_is_no_crash(self):
        rows = self.file("long.csv", "a\n" + "12345\n" * 200_000)
        process = self.home.start("table", "derive b = a * 2", rows)
        process.stdout.read(10)
        process.stdout.close()
        self.assertEqual(process.wait(30), OUTPUT_CLOSED)
        process.stderr.close()


@needs_model
class Questions(TestCase):
    def setUp(self):
        super().setUp()
        self.home.add_default_model()
        self.odd = self.file("odd.csv", 'id,"Order Date","a ""b"" ]c\\",and,flag\n1,2026-01-05,x,2.5,TRUE\n2,2026-01-06,y,3.5,FALSE\n')

    def test_a_question_becomes_a_pipeline_that_runs(self):
        for number, question in enumerate(["total per day", "rows in January", 'the largest "and"', "数は?"]):
            with self.subTest(question=question):
                result = self.succeeds("table", "--ask", question, "--samples", number, self.odd)
                self.assertIn(f"5 columns, {min(number, 2)} row", result.stderr)
                shown = result.stderr[result.stderr.index("question.\n") + len("question.\n"):]
                pipeline = "\n".join(line for line in shown.split("\n") if not line.startswith("glm: "))
                self.assertEqual(self.succeeds("table", pipeline, self.odd).stdout, result.stdout)
                unseen = self.succeeds("table", "--ask", question, "--samples", number, "--yes", "--quiet", self.odd)
                self.assertEqual((unseen.stdout, unseen.stderr), (result.stdout, ""))

    def test_what_cannot_be_asked_is_said(self):
        self.fails(USAGE, "table", "--ask", "x", says="--ask takes one file")
        self.fails(USAGE, "table", "--ask", "x", self.odd, self.odd, says="--ask takes one file")
        self.fails(USAGE, "table", "--ask", "x", self.file("none.csv", ""), says="no columns")


class Cases:
    """Random tables, and pipelines with the SQL that says the same. Texts are in small letters: SQL minds case."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.connection = duckdb.connect()
        self.rows = self.random.choice([0, 1, 2, 7, 40, 300])
        self.tables = {"a": self.table("a", self.rows), "b": self.table("b", self.random.choice([0, 1, 5, 30]))}

    def cell(self, kind):
        if self.random.random() < 0.15:
            return None
        if kind == "n":
            return self.random.choice([self.random.randint(-5, 5), round(self.random.uniform(-100, 100), 3), self.random.randint(-10**6, 10**6)])
        return self.random.choice(["x", "y", "zed", "a b", "q,r", "ä"])

    def table(self, name, rows):
        data = [[i, self.cell("n"), self.cell("n"), self.cell("t"), self.cell("t")] for i in range(rows)]
        columns = ["i", "n", "m", "t", "u"]
        self.connection.execute(f"CREATE TABLE {name} (i DOUBLE, n DOUBLE, m DOUBLE, t VARCHAR, u VARCHAR)")
        if data:
            self.connection.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?, ?)", data)
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([["" if cell is None else cell for cell in row] for row in data])
        return out.getvalue()

    def number(self, columns):
        """An expression of ours and DuckDB's; an empty cell counts as 0 in both."""
        pick = self.random.choice
        numbers = [c for c in columns if columns[c] == "n"]
        one = lambda: pick([(c, f"coalesce({c}, 0)") for c in numbers] + [("2", "2"), ("-0.5", "-0.5")])  # noqa: E731
        a, b = one(), one()
        return pick([
            # + 0: a name alone, or as what IF gives, stays empty.
            (f"{a[0]} + 0", a[1]), (f"{a[0]} + {b[0]}", f"{a[1]} + {b[1]}"), (f"{a[0]} * {b[0]}", f"{a[1]} * {b[1]}"), (f"{a[0]} - {b[0]}", f"{a[1]} - {b[1]}"),
            (f"IF({a[0]} > {b[0]}, {a[0]} + 0, 7)", f"CASE WHEN {a[1]} > {b[1]} THEN {a[1]} ELSE 7 END"),
            (f"IFERROR({a[0]} / {b[0]}, 0)", f"CASE WHEN {b[1]} = 0 THEN 0 ELSE {a[1]} / {b[1]} END"), (f"ABS({a[0]})", f"abs({a[1]})"),
        ])

    def condition(self, columns):
        pick = self.random.choice
        texts = [c for c in columns if columns[c] == "t"]
        if texts and self.random.random() < 0.5:
            c = pick(texts)
            return pick([(f'{c} = "x"', f"coalesce({c}, '') = 'x'"), (f'{c} <> "y"', f"coalesce({c}, '') <> 'y'"),
                         (f'{c} in ("x", "a b")', f"coalesce({c}, '') IN ('x', 'a b')"), (f"LEN({c}) > 1", f"length(coalesce({c}, '')) > 1"),
                         (f"ISBLANK({c})", f"{c} IS NULL")])
        a, b = self.number(columns), self.number(columns)
        op = pick([">", "<", ">=", "<="])
        one, two = (f"{a[0]} {op} {b[0]}", f"({a[1]}) {op} ({b[1]})"), (f"{b[0]} > 0", f"({b[1]}) > 0")
        return pick([one, (f"{one[0]} and {two[0]}", f"{one[1]} AND {two[1]}"), (f"not ({one[0]} or {two[0]})", f"NOT ({one[1]} OR {two[1]})")])

    @staticmethod
    def no_row(ours, sql, columns):
        """The column i may hold a number twice now."""
        if "i" not in columns:
            return sql, columns
        ours.append("rename i2 = i")
        return f"SELECT {', '.join('i AS i2' if c == 'i' else c for c in columns)} FROM ({sql})", {("i2" if c == "i" else c): k for c, k in columns.items()}

    def pipeline(self):
        pick, ours, sql = self.random.choice, [], "SELECT * FROM a"
        columns = {"i": "n", "n": "n", "m": "n", "t": "t", "u": "t"}
        for _ in range(self.random.randint(1, 4)):
            inner = f"({sql})"
            names = ", ".join(columns)
            has_row = "i" in columns
            stage = pick(["filter", "derive", "group", "join", "take", "distinct", "set", "window", "select", "per", "unequal", "asof", "range", "split"])
            if stage == "filter":
                a, b = self.condition(columns)
                ours.append(f"filter {a}")
                sql = f"SELECT * FROM {inner} WHERE {b}"
            elif stage == "derive":
                a, b = self.number(columns)
                ours.append(f"derive z = {a}")
                columns = {**columns, "z": "n"}
                sql = f"SELECT {', '.join(f'{b} AS z' if c == 'z' else c for c in columns)} FROM {inner}"
            elif stage == "group":
                keys = self.random.sample(sorted(columns), self.random.randint(1, min(3, len(columns))))
                value = pick([c for c in columns if columns[c] == "n"] or [None])
                if value is None or "s" in columns:
                    continue
                where = self.condition(columns) if self.random.random() < 0.4 else None
                w, f = (f" where {where[0]}", f" FILTER (WHERE {where[1]})") if where else ("", "")
                ours.append(f"group {', '.join(keys)} (s = SUM({value}{w}), c = COUNT({value}{w}), a = IFERROR(AVERAGE({value}{w}), -1), lo = MIN({value}{w}), "
                            f"hi = MAX({value}{w}), md = IFERROR(MEDIAN({value}{w}), -1), sd = IFERROR(STDEV({value}{w}), -1), r = COUNT())")
                sql = (f"SELECT {', '.join(keys)}, coalesce(sum({value}){f}, 0) AS s, count({value}){f} AS c, coalesce(avg({value}){f}, -1) AS a, "
                       f"coalesce(min({value}){f}, 0) AS lo, coalesce(max({value}){f}, 0) AS hi, coalesce(median({value}){f}, -1) AS md, "
                       f"coalesce(stddev({value}){f}, -1) AS sd, count(*) AS r FROM {inner} GROUP BY {', '.join(keys)}")
                columns = {**{c: columns[c] for c in keys}, **dict.fromkeys(["s", "c", "a", "lo", "hi", "md", "sd", "r"], "n")}
            elif stage == "join":
                keys = [c for c in ("t", "u", "i") if c in columns]
                if not keys or "w" in columns:
                    continue
                keys = self.random.sample(keys, self.random.randint(1, min(2, len(keys))))
                on = " AND ".join(f"l.{c} = r.{c}" for c in keys)
                kind = pick(["inner", "left", "semi", "anti"])
                ours.append(f"join {kind} (from b | select {', '.join(keys)}, w = n) on {', '.join(keys)}")
                right = f"(SELECT {', '.join(keys)}, n AS w FROM b)"
                if kind in ("semi", "anti"):
                    sql = f"SELECT * FROM {inner} AS l WHERE {'NOT ' if kind == 'anti' else ''}EXISTS (SELECT 1 FROM {right} AS r WHERE {on})"
                else:
                    sql = f"SELECT l.*, r.w FROM {inner} AS l {kind} JOIN {right} AS r ON {on}"
                    columns = {**columns, "w": "n"}
                    if "i" in columns:  # may repeat now
                        ours.append("rename i2 = i")
                        sql = f"SELECT {', '.join('i AS i2' if c == 'i' else c for c in columns)} FROM ({sql})"
                        columns = {("i2" if c == "i" else c): k for c, k in columns.items()}
            elif stage == "take" and has_row:
                key, count = pick(sorted(columns)), self.random.randint(0, 20)
                down = self.random.random() < 0.5
                ours.append(f"sort {'-' if down else ''}{key}, i | take {count}")
                order = f"{key} {'DESC' if down else 'ASC'} NULLS LAST, i"
                if columns[key] == "t":
                    place = f"CASE {key} WHEN 'ä' THEN 1 WHEN 'a b' THEN 2 WHEN 'q,r' THEN 3 WHEN 'x' THEN 4 WHEN 'y' THEN 5 WHEN 'zed' THEN 6 END"
                    order = f"{place} {'DESC' if down else 'ASC'} NULLS LAST, i"
                sql = f"SELECT * FROM {inner} ORDER BY {order} LIMIT {count}"
            elif stage == "distinct":
                picked = self.random.sample(sorted(columns), self.random.randint(1, len(columns)))
                ours.append(f"select {', '.join(picked)} | distinct")
                sql = f"SELECT DISTINCT {', '.join(picked)} FROM {inner}"
                columns = {c: columns[c] for c in picked}
            elif stage == "set":
                shared = [c for c in ("n", "t", "u") if c in columns]
                if not shared:
                    continue
                kind = pick(["append", "union", "intersect", "except"])
                ours.append(f"select {', '.join(shared)} | {kind} (from b | select {', '.join(shared)})")
                sql_kind = {"append": "UNION ALL", "union": "UNION", "intersect": "INTERSECT", "except": "EXCEPT"}[kind]
                sql = f"(SELECT {', '.join(shared)} FROM {inner}) {sql_kind} (SELECT {', '.join(shared)} FROM b)"
                columns = {c: columns[c] for c in shared}
            elif stage == "window" and has_row and not columns.keys() & {"wr", "wl", "wn", "wt"}:
                value, key = pick([c for c in columns if columns[c] == "n"]), pick(sorted(columns))
                over = f"(PARTITION BY {key} ORDER BY i ROWS UNBOUNDED PRECEDING)"
                ours.append(f"window per {key} sort i (wr = SUM({value}), wl = LAG({value}, 2), wn = ROWNUMBER()) | window per {key} (wt = SUM({value}))")
                rest = [c for c in columns if c not in ("wr", "wl", "wn", "wt")]
                sql = (f"SELECT {', '.join(rest)}, coalesce(sum({value}) OVER {over}, 0) AS wr, lag({value}, 2) OVER (PARTITION BY {key} ORDER BY i) AS wl, "
                       f"row_number() OVER (PARTITION BY {key} ORDER BY i) AS wn, coalesce(sum({value}) OVER (PARTITION BY {key}), 0) AS wt FROM {inner}")
                columns = {**{c: columns[c] for c in rest}, **dict.fromkeys(["wr", "wl", "wn", "wt"], "n")}
            elif stage == "per" and has_row:
                key, count = pick([c for c in columns if c != "i"] or ["i"]), self.random.randint(0, 3)
                ours.append(f"take {count} per {key} by -i")
                sql = f"SELECT {names} FROM (SELECT *, row_number() OVER (PARTITION BY {key} ORDER BY i DESC) AS place FROM {inner}) WHERE place <= {count}"
            elif stage == "unequal":
                values = [c for c in columns if columns[c] == "n"]
                if not values or columns.keys() & {"w", "v"}:
                    continue
                value, op, kind = pick(values), pick(["<", "<=", ">", ">=", "<>"]), pick(["inner", "left", "semi", "anti"])
                both = f" and {pick(values)} >= v" if self.random.random() < 0.3 else ""
                ours.append(f"join {kind} (from b | select w = n, v = m) on {value} {op} w{both}")
                right, on = "(SELECT n AS w, m AS v FROM b)", f"l.{value} {op} r.w" + both.replace(" and ", " AND l.").replace(">= v", ">= r.v")
                if kind in ("semi", "anti"):
                    sql = f"SELECT * FROM {inner} AS l WHERE {'NOT ' if kind == 'anti' else ''}EXISTS (SELECT 1 FROM {right} AS r WHERE {on})"
                else:
                    sql = f"SELECT l.*, r.w, r.v FROM {inner} AS l {kind} JOIN {right} AS r ON {on}"
                    columns = {**columns, "w": "n", "v": "n"}
                    sql, columns = self.no_row(ours, sql, columns)
            elif stage == "asof" and has_row and not columns.keys() & {"k", "w"}:
                # b.i is unique: which of equal partners is the nearest is nobody's business.
                op, kind, key = pick([">=", ">", "<=", "<"]), pick(["inner", "left"]), "t" in columns and self.random.random() < 0.5
                ours.append(f"join asof {kind} (from b | select k = i + 0, w = n{', t' if key else ''}) on {'t, ' if key else ''}i {op} k")
                sql = (f"SELECT l.*, r.k, r.w FROM {inner} AS l ASOF {kind} JOIN (SELECT i AS k, n AS w, t FROM b) AS r "
                       f"ON {'l.t = r.t AND ' if key else ''}l.i {op} r.k")
                columns = {**columns, "k": "n", "w": "n"}
            elif stage == "range" and "rg" not in columns:
                values = [c for c in columns if columns[c] == "n"]
                if not values:
                    continue
                order, value, down = pick(values), pick(values), self.random.random() < 0.3
                first, last = pick([("start", "UNBOUNDED PRECEDING"), ("-2.5", "2.5 PRECEDING"), ("-40", "40 PRECEDING"), ("0", "CURRENT ROW")]), \
                    pick([("end", "UNBOUNDED FOLLOWING"), ("3", "3 FOLLOWING"), ("0", "CURRENT ROW")])
                ours.append(f"window sort {'-' if down else ''}{order} range {first[0]} to {last[0]} (rg = SUM({value}))")
                sql = (f"SELECT *, coalesce(sum({value}) OVER (ORDER BY {order} {'DESC' if down else 'ASC'} NULLS LAST "
                       f"RANGE BETWEEN {first[1]} AND {last[1]}), 0) AS rg FROM {inner}")
                columns = {**columns, "rg": "n"}
            elif stage == "split" and "t" in columns:
                by = pick([",", " ", "e"])
                ours.append(f'split t by "{by}"')
                pieces = f"unnest(coalesce(string_split(t, '{by}'), [NULL])) AS t"
                sql = f"SELECT {', '.join(pieces if c == 't' else c for c in columns)} FROM {inner}"
                sql, columns = self.no_row(ours, sql, columns)
            elif stage == "select":
                ours.append("select exclude " + pick(sorted(columns)) if len(columns) > 2 else "take 100%")
                if len(columns) > 2:
                    dropped = ours[-1].split()[-1]
                    columns = {c: k for c, k in columns.items() if c != dropped}
                    sql = f"SELECT {', '.join(columns)} FROM {inner}"
        return " | ".join(ours) or "take 100%", f"SELECT {', '.join(columns)} FROM ({sql})", columns


def sort_key(row):
    return [(cell is None, isinstance(cell, str), f"{cell:.5g}" if isinstance(cell, float) else str(cell)) for cell in row]


def equal(a, b):
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-6) if isinstance(a, float) and isinstance(b, float) else a == b


def same_rows(ours, theirs):
    if len(ours) != len(theirs):
        return False
    rest = sorted(theirs, key=sort_key)
    pairs = zip(sorted(ours, key=sort_key), rest)
    if all(all(map(equal, a, b)) for a, b in pairs):
        return True
    # Rounding can sort near rows apart: look for a partner of each.
    for row in ours:
        place = next((i for i, other in enumerate(rest) if all(map(equal, row, other))), None)
        if place is None:
            return False
        del rest[place]
    return True


@unittest.skipUnless(duckdb, "DuckDB's Python package is not there")
class AgainstDuckDB(TestCase):
    def test_random_pipelines_give_duckdbs_rows(self):
        first = int(os.environ.get("GLM_TABLE_SEED", 1))
        for seed in range(first, first + int(os.environ.get("GLM_TABLE_PIPELINES", 150))):
            cases = Cases(seed)
            files = [self.file(f"{name}.csv", text) for name, text in cases.tables.items()]
            ours, sql, columns = cases.pipeline()
            with self.subTest(seed=seed, pipeline=ours, sql=sql):
                answer = self.glm("table", "--quiet", "--header", "--threads", str(1 + seed % 2), ours, *files)
                self.assertEqual(answer.returncode, OK, answer.stderr)
                rows = list(csv.reader(io.StringIO(answer.stdout)))
                self.assertEqual(rows[0], list(columns))
                kinds = list(columns.values())
                # A line of nothing is a row of one empty cell.
                got = [[None if cell == "" else float(cell) if kind == "n" else cell for cell, kind in zip(row or [""], kinds)] for row in rows[1:]]
                theirs = [[float(cell) if isinstance(cell, (int, float)) else cell for cell in row] for row in cases.connection.execute(sql).fetchall()]
                self.assertTrue(same_rows(got, theirs), f"\n{got[:10]}\n{theirs[:10]}\n{cases.tables}"[:4000])


if __name__ == "__main__":
    unittest.main()
