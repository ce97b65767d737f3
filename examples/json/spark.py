"""The same as duckdb.sql in Spark, which runs filterblock on each part of a list of tables: spark.py PROGRAM TABLE..."""

import sys

from pyspark.sql import SparkSession

program, *tables = sys.argv[1:]
spark = SparkSession.builder.master("local[2]").getOrCreate()
command = f"{program} inspect --json --keep-going -j 1 --files-from -"
# Without checkCode, a program that is killed loses the rest of its tables without a word.
lines = spark.sparkContext.parallelize(tables, 4).pipe(command, checkCode=True).cache()
assert lines.map(lambda line: '"object":"table"' in line).filter(bool).count() == len(tables)
rows = spark.read.json(lines.map(lambda line: line)).where("object = 'table' AND verdict = 'fine'")
rows.selectExpr("coalesce(filter.policy, 'none') AS policy", "entries.value AS entries", "filter.size AS size").groupBy(
    "policy"
).agg({"policy": "count", "entries": "sum", "size": "sum"}).orderBy("policy").show(truncate=False)
