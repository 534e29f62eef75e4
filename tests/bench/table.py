#!/usr/bin/env python3
"""`glm table` against DuckDB on the questions of the public db-benchmark, in the same run.

    tests/bench/table.py [--glm build/release/bin/glm] [--rows 1000000] [--threads 2] [--repeat 7] [--only q1,j2,...]

Data of the benchmark's shape is made here, the same every time, and both read it from the same CSV files. Each question
runs --repeat times in one and then --repeat times in the other, twice over; the median counts. DuckDB's answers go into
a table, as ours do. Every answer is compared cell by cell (numbers to 9 digits). Prints ours, DuckDB's and the ratio of
each, the geometric means, and the same for reading the CSV. Exit code 1 when an answer differs.

DuckDB comes from PyPI into a virtual environment under build/ on first use. The join with the small table has 10 rows
there instead of the benchmark's one.
"""
import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
VENV = ROOT / "build/venv-table"

GROUP_BY = [  # name, ours, DuckDB's, keys (none: compare whole rows)
    ("q1", "group id1 (v1 = SUM(v1))", "SELECT id1, sum(v1) AS v1 FROM x GROUP BY id1", ["id1"]),
    ("q2", "group id1, id2 (v1 = SUM(v1))", "SELECT id1, id2, sum(v1) AS v1 FROM x GROUP BY id1, id2", ["id1", "id2"]),
    ("q3", "group id3 (v1 = SUM(v1), v3 = AVERAGE(v3))", "SELECT id3, sum(v1) AS v1, mean(v3) AS v3 FROM x GROUP BY id3", ["id3"]),
    ("q4", "group id4 (v1 = AVERAGE(v1), v2 = AVERAGE(v2), v3 = AVERAGE(v3))",
     "SELECT id4, mean(v1) AS v1, mean(v2) AS v2, mean(v3) AS v3 FROM x GROUP BY id4", ["id4"]),
    ("q5", "group id6 (v1 = SUM(v1), v2 = SUM(v2), v3 = SUM(v3))",
     "SELECT id6, sum(v1) AS v1, sum(v2) AS v2, sum(v3) AS v3 FROM x GROUP BY id6", ["id6"]),
    ("q6", "group id4, id5 (m = MEDIAN(v3), s = STDEV(v3))",
     "SELECT id4, id5, median(v3) AS m, stddev(v3) AS s FROM x GROUP BY id4, id5", ["id4", "id5"]),
    ("q7", "group id3 (r = MAX(v1) - MIN(v2))", "SELECT id3, max(v1) - min(v2) AS r FROM x GROUP BY id3", ["id3"]),
    ("q8", "take 2 per id6 by -v3 | select id6, v3", "SELECT id6, unnest(max(v3, 2)) AS v3 FROM x GROUP BY id6", None),
    ("q9", "group id2, id4 (r2 = CORREL(v1, v2) ^ 2)", "SELECT id2, id4, pow(corr(v1, v2), 2) AS r2 FROM x GROUP BY id2, id4", ["id2", "id4"]),
    ("q10", "group id1, id2, id3, id4, id5, id6 (v3 = SUM(v3), n = COUNT())",
     "SELECT id1, id2, id3, id4, id5, id6, sum(v3) AS v3, count(*) AS n FROM x GROUP BY ALL", ["id1", "id2", "id3", "id4", "id5", "id6"]),
]
COLUMNS = "x.id1, x.id2, x.id3, x.id4, x.id5, x.id6, x.v1"
JOINS = [
    ("j1", "join small on id1 | select id1, id2, id3, id4, id5, id6, v1, small4 = [small.id4], v2",
     f"SELECT {COLUMNS}, s.id4 AS small4, s.v2 FROM j AS x JOIN small AS s USING (id1)", None),
    ("j2", "join medium on id2 | select id1, id2, id3, id4, id5, id6, v1, m1 = [medium.id1], m4 = [medium.id4], m5 = [medium.id5], v2",
     f"SELECT {COLUMNS}, m.id1 AS m1, m.id4 AS m4, m.id5 AS m5, m.v2 FROM j AS x JOIN medium AS m USING (id2)", None),
    ("j3", "join left medium on id2 | select id1, id2, id3, id4, id5, id6, v1, m1 = [medium.id1], m4 = [medium.id4], m5 = [medium.id5], v2",
     f"SELECT {COLUMNS}, m.id1 AS m1, m.id4 AS m4, m.id5 AS m5, m.v2 FROM j AS x LEFT JOIN medium AS m USING (id2)", None),
    ("j4", "join medium on id5 | select id1, id2, id3, id4, id5, id6, v1, m1 = [medium.id1], m2 = [medium.id2], m4 = [medium.id4], v2",
     f"SELECT {COLUMNS}, m.id1 AS m1, m.id2 AS m2, m.id4 AS m4, m.v2 FROM j AS x JOIN medium AS m USING (id5)", None),
    ("j5", "join big on id3 | select id1, id2, id3, id4, id5, id6, v1, b1 = [big.id1], b2 = [big.id2], b4 = [big.id4], b5 = [big.id5], b6 = [big.id6], v2",
     f"SELECT {COLUMNS}, b.id1 AS b1, b.id2 AS b2, b.id4 AS b4, b.id5 AS b5, b.id6 AS b6, b.v2 FROM j AS x JOIN big AS b USING (id3)", None),
]


def enter_environment():
    """Runs this program again in a virtual environment that has DuckDB."""
    try:
        import duckdb  # noqa: F401
        import numpy  # noqa: F401
        return
    except ImportError:
        pass
    python = VENV / "bin/python"
    if pathlib.Path(sys.prefix) == VENV:
        sys.exit("The environment under build/ lacks duckdb or numpy.")
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "duckdb", "numpy", "pandas"], check=True)
    sys.exit(subprocess.run([python, __file__, *sys.argv[1:]]).returncode)


def make_data(folder, rows, duckdb):
    import numpy as np
    import pandas as pd
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(108)
    k = 100

    def texts(numbers, width):
        return np.char.add("id", np.char.zfill(numbers.astype(str), width))

    def write(name, columns):
        frame = pd.DataFrame(columns)  # noqa: F841 (DuckDB finds it by name)
        duckdb.sql(f"COPY frame TO '{folder / name}.csv' (HEADER)")

    write("x", {
        "id1": texts(random.integers(1, k + 1, rows), 3), "id2": texts(random.integers(1, k + 1, rows), 3),
        "id3": texts(random.integers(1, rows // k + 1, rows), 10), "id4": random.integers(1, k + 1, rows),
        "id5": random.integers(1, k + 1, rows), "id6": random.integers(1, rows // k + 1, rows),
        "v1": random.integers(1, 6, rows), "v2": random.integers(1, 16, rows), "v3": np.round(random.uniform(0, 100, rows), 6)})

    # Nine of ten keys have a partner on the other side.
    sizes = {"id1": 10, "id2": max(rows // 1000, 10), "id3": rows}
    keys = {name: random.permutation(np.arange(1, int(size * 1.1) + 1)) for name, size in sizes.items()}

    def drawn(name, count, unique=False):
        return keys[name][: sizes[name]] if unique else random.choice(keys[name][int(sizes[name] * 0.1):], count)

    def table(count, unique, names):
        columns = {name: drawn(name, count, name == unique) for name in names}
        columns |= {{"id1": "id4", "id2": "id5", "id3": "id6"}[name]: texts(columns[name], 1) for name in names}
        return columns

    write("j", table(rows, None, ["id1", "id2", "id3"]) | {"v1": np.round(random.uniform(0, 100, rows), 6)})
    for name, key, names in [("small", "id1", ["id1"]), ("medium", "id2", ["id1", "id2"]), ("big", "id3", ["id1", "id2", "id3"])]:
        write(name, table(sizes[key], key, names) | {"v2": np.round(random.uniform(0, 100, sizes[key]), 6)})


def run_ours(glm, pipeline, files, threads, repeat, out):
    command = [glm, "table", pipeline, *files, "-o", out, "--timing", "--quiet", "--threads", str(threads), "--repeat", str(repeat)]
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{pipeline}: {result.stderr}")
    return json.loads(result.stderr.strip().splitlines()[-1])


def run_duckdb(connection, sql, repeat):
    times = []
    for _ in range(repeat):
        connection.execute("DROP TABLE IF EXISTS ans")
        begin = time.perf_counter()
        connection.execute("CREATE TEMP TABLE ans AS " + sql)
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def difference(connection, out, keys):
    """Nothing, or what differs between our file and the table ans."""
    connection.execute(f"CREATE OR REPLACE TEMP TABLE ours AS SELECT * FROM read_csv('{out}', header=true)")
    count = lambda sql: connection.execute(sql).fetchone()[0]  # noqa: E731
    rows, theirs = count("SELECT count(*) FROM ours"), count("SELECT count(*) FROM ans")
    if rows != theirs:
        return f"{rows} rows instead of {theirs}"
    columns = [row[0] for row in connection.execute("DESCRIBE ans").fetchall()]
    if keys is None:
        wrong = count(f"SELECT count(*) FROM (SELECT {', '.join(columns)} FROM ans EXCEPT ALL SELECT {', '.join(columns)} FROM ours)")
        return f"{wrong} rows differ" if wrong else ""
    near = " AND ".join(
        f"(abs(ours.{c} - ans.{c}) <= 1e-9 * greatest(abs(ans.{c}), 1e-3) OR (ours.{c} IS NULL AND ans.{c} IS NULL))" for c in columns if c not in keys)
    right = count(f"SELECT count(*) FROM ours JOIN ans USING ({', '.join(keys)}) WHERE {near}")
    return f"{rows - right} of {rows} rows differ" if right != rows else ""


def geometric_mean(ratios):
    return math.exp(statistics.mean(map(math.log, ratios)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--glm", default=ROOT / "build/release/bin/glm")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    enter_environment()
    import duckdb

    folder = ROOT / f"build/bench-table-{arguments.rows}"
    if not (folder / "big.csv").exists():
        make_data(folder, arguments.rows, duckdb)
    connection = duckdb.connect(config={"threads": arguments.threads})
    read_theirs = {}
    for name in ["x", "j", "small", "medium", "big"]:
        begin = time.perf_counter()
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM read_csv('{folder / name}.csv')")
        read_theirs[name] = time.perf_counter() - begin
    print(f"DuckDB {duckdb.__version__}, {arguments.threads} threads, {arguments.rows} rows; milliseconds")
    wanted = set(filter(None, arguments.only.split(",")))
    out = folder / "out.csv"
    failed = False
    reads = []
    for title, questions, files in [
        ("group by", GROUP_BY, ["x"]), ("joins", JOINS, ["j", "small", "medium", "big"])]:
        ratios = []
        for name, pipeline, sql, keys in questions:
            if wanted and name not in wanted:
                continue
            ours, theirs = [], []
            for _ in range(2):
                timing = run_ours(arguments.glm, pipeline, [folder / f"{file}.csv" for file in files], arguments.threads, arguments.repeat, out)
                ours.append(timing["run_s"])
                reads.append((files[0], timing["read_s"]))
                theirs.append(run_duckdb(connection, sql, arguments.repeat))
            wrong = difference(connection, out, keys)
            failed |= bool(wrong)
            our, their = statistics.median(ours), statistics.median(theirs)
            ratios.append(our / their)
            print(f"{name:4} {our * 1e3:9.2f} {their * 1e3:9.2f}  x{our / their:5.2f}  {wrong or 'equal'}", flush=True)
        if ratios:
            print(f"{title}: geometric mean x{geometric_mean(ratios):.2f} of DuckDB's time")
    for name in ["x", "j"]:
        times = [seconds for file, seconds in reads if file == name]
        if times:
            our = statistics.median(times)
            print(f"reading {name}.csv: {our * 1e3:.0f} against {read_theirs[name] * 1e3:.0f}, x{our / read_theirs[name]:.2f}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
