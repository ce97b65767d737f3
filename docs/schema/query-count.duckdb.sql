-- Made from query-count.json by docs/check. Reads lines of JSON: SELECT * FROM filterblock_query_count('lines.jsonl')
CREATE OR REPLACE MACRO filterblock_query_count(files) AS TABLE
SELECT * FROM read_json(files, format = 'newline_delimited', columns = {
    'schema_version': 'INTEGER',
    'object': 'VARCHAR',
    'input': 'VARCHAR',
    'path': 'VARCHAR',
    'path_bytes': 'VARCHAR',
    'error_kind': 'VARCHAR',
    'notes': 'VARCHAR[]',
    'keys': 'UBIGINT',
    'matches': 'UBIGINT',
    'error': 'VARCHAR',
    'estimated_fpr': 'DOUBLE',
    'depth': 'VARCHAR',
    'e_tag': 'VARCHAR',
    'requests': 'UBIGINT',
    'bytes_read': 'UBIGINT',
    'database': 'BOOLEAN',
    'comparator': 'VARCHAR',
    'tables': 'UBIGINT',
    'logs': 'VARCHAR[]'
});
