-- Made from query.json by docs/check. Reads lines of JSON: SELECT * FROM filterblock_query('lines.jsonl')
CREATE OR REPLACE MACRO filterblock_query(files) AS TABLE
SELECT * FROM read_json(files, format = 'newline_delimited', columns = {
    'schema_version': 'INTEGER',
    'object': 'VARCHAR',
    'input': 'VARCHAR',
    'path': 'VARCHAR',
    'path_bytes': 'VARCHAR',
    'error_kind': 'VARCHAR',
    'notes': 'VARCHAR[]',
    'key': 'VARCHAR',
    'key_hex': 'VARCHAR',
    'may_match': 'BOOLEAN',
    'blocks': 'UBIGINT[]',
    'error': 'VARCHAR',
    'log': 'VARCHAR',
    'by_index': 'BOOLEAN',
    'lookup_blocks': 'UBIGINT',
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
