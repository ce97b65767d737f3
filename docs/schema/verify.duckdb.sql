-- Made from verify.json by docs/check. Reads lines of JSON: SELECT * FROM filterblock_verify('lines.jsonl')
CREATE OR REPLACE MACRO filterblock_verify(files) AS TABLE
SELECT * FROM read_json(files, format = 'newline_delimited', columns = {
    'schema_version': 'INTEGER',
    'object': 'VARCHAR',
    'input': 'VARCHAR',
    'path': 'VARCHAR',
    'path_bytes': 'VARCHAR',
    'error_kind': 'VARCHAR',
    'notes': 'VARCHAR[]',
    'status': 'VARCHAR',
    'entries': 'UBIGINT',
    'distinct_keys': 'UBIGINT',
    'writes': 'UBIGINT',
    'batches': 'UBIGINT',
    'denied': 'UBIGINT',
    'measured_fpr': 'STRUCT("rate" DOUBLE, "low" DOUBLE, "high" DOUBLE, "asked" UBIGINT)',
    'estimated_fpr': 'DOUBLE',
    'findings': 'STRUCT("code" VARCHAR, "offset" UBIGINT, "expected" VARCHAR, "found" VARCHAR, "lost" STRUCT("from" VARCHAR, "after" VARCHAR, "up_to" VARCHAR))[]',
    'depth': 'VARCHAR',
    'e_tag': 'VARCHAR',
    'requests': 'UBIGINT',
    'bytes_read': 'UBIGINT'
});
