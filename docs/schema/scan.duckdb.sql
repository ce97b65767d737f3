-- Made from scan.json by docs/check. Reads lines of JSON: SELECT * FROM filterblock_scan('lines.jsonl')
CREATE OR REPLACE MACRO filterblock_scan(files) AS TABLE
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
    'value': 'VARCHAR',
    'value_hex': 'VARCHAR',
    'value_size': 'UBIGINT',
    'sequence': 'UBIGINT',
    'type': 'VARCHAR',
    'state': 'VARCHAR',
    'offset': 'UBIGINT',
    'corrected': 'UBIGINT',
    'error': 'VARCHAR',
    'entries': 'UBIGINT'
});
