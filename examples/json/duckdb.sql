-- The tables of many databases, by the policy of their filters:
--     filterblock inspect -r --json --keep-going ~/databases > tables.jsonl
--     duckdb < examples/json/duckdb.sql
-- All lines are read before types are chosen: a field that is null in the first ones may have a value in later ones.
SELECT
    coalesce(filter.policy, 'none') AS policy,
    count(*) AS tables,
    sum(entries.value) AS entries,
    round(8 * sum(filter.size) / sum(entries.value), 1) AS bits_per_entry
FROM read_json('tables.jsonl', format = 'newline_delimited', union_by_name = true, sample_size = -1)
WHERE object = 'table' AND verdict = 'fine' AND coalesce(live, true)
GROUP BY policy
ORDER BY policy;
