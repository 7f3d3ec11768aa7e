# SPDX-License-Identifier: GPL-2.0-only
"""Says how DuckDB reads a table of flows as Parquet, and how many rows of it and of the same table as CSV differ."""
import sys

import duckdb

parquet, csv = sys.argv[1:]
asked = duckdb.sql(f"DESCRIBE FROM read_parquet('{parquet}')").fetchall()
print(",".join(f"{name} {kind}" for name, kind, *_ in asked))
rounded = "SELECT * REPLACE (round(slowdown, 6) AS slowdown)"
columns = {name: kind for name, kind, *_ in asked}
of_csv = f"{rounded} FROM read_csv('{csv}', header = true, columns = {columns})"
of_parquet = f"{rounded} FROM read_parquet('{parquet}')"
for left, right in [(of_csv, of_parquet), (of_parquet, of_csv)]:
    print(duckdb.sql(f"SELECT count(*) FROM (({left}) EXCEPT ALL ({right}))").fetchall()[0][0])
print(duckdb.sql(f"SELECT count(*), count(fct_ns), sum(size_bytes)::HUGEINT FROM read_parquet('{parquet}')").fetchall()[0])
