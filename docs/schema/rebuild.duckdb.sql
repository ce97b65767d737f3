-- Made from rebuild.json by docs/check. Reads lines of JSON: SELECT * FROM filterblock_rebuild('lines.jsonl')
CREATE OR REPLACE MACRO filterblock_rebuild(files) AS TABLE
SELECT * FROM read_json(files, format = 'newline_delimited', columns = {
    'schema_version': 'INTEGER',
    'object': 'VARCHAR',
    'input': 'VARCHAR',
    'path': 'VARCHAR',
    'path_bytes': 'VARCHAR',
    'error_kind': 'VARCHAR',
    'notes': 'VARCHAR[]',
    'status': 'VARCHAR',
    'error': 'VARCHAR',
    'level': 'INTEGER',
    'new_name': 'VARCHAR',
    'entries': 'UBIGINT',
    'old_size': 'UBIGINT',
    'new_size': 'UBIGINT',
    'old_filter': 'STRUCT("policy" VARCHAR, "size" UBIGINT, "base_lg" INTEGER, "bits_per_key" UBIGINT)',
    'new_filter': 'STRUCT("policy" VARCHAR, "size" UBIGINT, "base_lg" INTEGER, "bits_per_key" UBIGINT)',
    'tables': 'UBIGINT',
    'kept': 'UBIGINT',
    'old_filter_size': 'UBIGINT',
    'new_filter_size': 'UBIGINT',
    'policy': 'VARCHAR',
    'manifest': 'VARCHAR',
    'verified': 'BOOLEAN',
    'target': 'VARCHAR',
    'undo': 'VARCHAR'
});
