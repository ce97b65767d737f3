//! The columns of the lines that a command prints, for Spark and DuckDB, made from its JSON Schema.
//!
//! A file of lines has objects of several kinds, so its columns are those of all kinds. Columns of one name are of the
//! type that holds the values of each kind.

use std::fmt::{self, Write as _};

use serde_json::Value;

/// The endings of the names of the files that are made from each schema.
pub(crate) const ENDINGS: [&str; 2] = ["spark.ddl", "duckdb.sql"];

/// Returns the contents of the files of [`ENDINGS`], in that order, for the schema of `command`.
///
/// # Errors
///
/// If the schema has a type, a word or a reference that is not known here, a field that is always null, an object that
/// holds itself, or columns of one name and unlike types.
pub(crate) fn files(command: &str, schema: &Value) -> Result<[String; 2], String> {
    let columns = columns(schema).map_err(|error| format!("{command}.json: {error}"))?;
    Ok([spark(&columns), duckdb(command, &columns)])
}

type Fields = Vec<(String, Type)>;

#[derive(Clone, Debug, PartialEq)]
enum Type {
    Boolean,
    /// An integer with a maximum below 2^31.
    Small,
    /// An unsigned 64-bit integer.
    Integer,
    Number,
    Text,
    Array(Box<Type>),
    Struct(Fields),
}

/// The columns of all kinds of lines.
fn columns(schema: &Value) -> Result<Fields, String> {
    let mut all = Fields::new();
    for kind in schema["oneOf"].as_array().ok_or("expected `oneOf`, an array of the kinds of lines")? {
        match reference(schema, kind, &mut Vec::new())? {
            Type::Struct(fields) => merge_fields(&mut all, fields)?,
            other => return Err(format!("oneOf: expected objects, found {other:?}")),
        }
    }
    Ok(all)
}

/// Returns the type of what `$ref` refers to. `within`: the definitions that the reference is part of.
fn reference<'a>(document: &'a Value, schema: &'a Value, within: &mut Vec<&'a str>) -> Result<Type, String> {
    let target = schema["$ref"].as_str().ok_or_else(|| format!("expected `$ref`, found {schema}"))?;
    let name = target.strip_prefix("#/$defs/").ok_or_else(|| format!("`$ref` is {target}"))?;
    let fields = document["$defs"][name]["properties"].as_object();
    let fields = fields.ok_or_else(|| format!("{target} is no definition of an object"))?;
    if within.contains(&name) {
        return Err(format!("{target} holds itself"));
    }
    within.push(name);
    let fields = fields.iter().map(|(field, schema)| {
        let one = field_type(document, schema, within).map_err(|error| format!("{name}.{field}: {error}"))?;
        Ok((field.clone(), one.ok_or_else(|| format!("{name}.{field}: is always null"))?))
    });
    let fields = fields.collect::<Result<_, String>>()?;
    within.pop();
    Ok(Type::Struct(fields))
}

/// Returns the type of a field. `None` if the field is always null.
fn field_type<'a>(
    document: &'a Value,
    schema: &'a Value,
    within: &mut Vec<&'a str>,
) -> Result<Option<Type>, String> {
    if schema.get("$ref").is_some() {
        return reference(document, schema, within).map(Some);
    }
    let mut found = None;
    if let Some(words) = schema["enum"].as_array() {
        for word in words {
            match word {
                Value::Null => {}
                Value::String(_) => merge_into(&mut found, Type::Text)?,
                other => return Err(format!("`enum` has {other}, expected texts and null")),
            }
        }
    } else if let Some(choices) = schema["anyOf"].as_array() {
        for choice in choices {
            if let Some(one) = field_type(document, choice, within)? {
                merge_into(&mut found, one)?;
            }
        }
    } else {
        let names = match &schema["type"] {
            Value::Array(names) => names.as_slice(),
            name => std::slice::from_ref(name),
        };
        for name in names {
            let one = match name.as_str() {
                Some("null") => continue,
                Some("boolean") => Type::Boolean,
                Some("integer") if schema["maximum"].as_u64().is_some_and(|most| most < 1 << 31) => {
                    Type::Small
                }
                Some("integer") => Type::Integer,
                Some("number") => Type::Number,
                Some("string") => Type::Text,
                Some("array") => {
                    let items = field_type(document, &schema["items"], within)?;
                    Type::Array(Box::new(items.ok_or("`items` are always null")?))
                }
                _ => return Err(format!("type {name} is not known here: {schema}")),
            };
            merge_into(&mut found, one)?;
        }
    }
    Ok(found)
}

fn merge_into(known: &mut Option<Type>, other: Type) -> Result<(), String> {
    *known = Some(match known.take() {
        None => other,
        Some(known) => merge(known, other)?,
    });
    Ok(())
}

/// Returns the type that holds the values of both types.
fn merge(known: Type, other: Type) -> Result<Type, String> {
    Ok(match (known, other) {
        (known, other) if known == other => known,
        (Type::Small | Type::Integer, Type::Small | Type::Integer) => Type::Integer,
        (Type::Array(known), Type::Array(other)) => Type::Array(Box::new(merge(*known, *other)?)),
        (Type::Struct(mut known), Type::Struct(other)) => {
            merge_fields(&mut known, other)?;
            Type::Struct(known)
        }
        (known, other) => return Err(format!("is {known:?} and {other:?}, which no column can hold")),
    })
}

fn merge_fields(known: &mut Fields, other: Fields) -> Result<(), String> {
    for (name, one) in other {
        match known.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => {
                *known = merge(known.clone(), one).map_err(|error| format!("{name}: {error}"))?
            }
            None => known.push((name, one)),
        }
    }
    Ok(())
}

/// Spark's DDL, a column a line. All names are quoted: some are words of SQL.
fn spark(columns: &Fields) -> String {
    let columns = columns.iter().map(|(name, one)| format!("{} {}", backquoted(name), Spark(one)));
    columns.collect::<Vec<_>>().join(",\n") + "\n"
}

/// A macro that reads files of lines with the types of their columns.
fn duckdb(command: &str, columns: &Fields) -> String {
    let name = command.replace('-', "_");
    let mut sql = format!(
        "-- Made from {command}.json by docs/check. Reads lines of JSON: SELECT * FROM filterblock_{name}('lines.jsonl')\n\
         CREATE OR REPLACE MACRO filterblock_{name}(files) AS TABLE\n\
         SELECT * FROM read_json(files, format = 'newline_delimited', columns = {{\n"
    );
    for (at, (name, one)) in columns.iter().enumerate() {
        let comma = if at + 1 < columns.len() { "," } else { "" };
        writeln!(sql, "    {}: {}{comma}", single_quoted(name), single_quoted(&DuckDb(one).to_string()))
            .unwrap();
    }
    sql + "});\n"
}

fn backquoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

fn double_quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn single_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

struct Spark<'a>(&'a Type);

impl fmt::Display for Spark<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Type::Boolean => out.write_str("BOOLEAN"),
            Type::Small => out.write_str("INT"),
            // Spark has no integers without sign: BIGINT ends at 2^63.
            Type::Integer => out.write_str("DECIMAL(20,0)"),
            Type::Number => out.write_str("DOUBLE"),
            Type::Text => out.write_str("STRING"),
            Type::Array(items) => write!(out, "ARRAY<{}>", Spark(items)),
            Type::Struct(fields) => {
                let fields = fields.iter().map(|(name, one)| format!("{}: {}", backquoted(name), Spark(one)));
                write!(out, "STRUCT<{}>", fields.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

struct DuckDb<'a>(&'a Type);

impl fmt::Display for DuckDb<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Type::Boolean => out.write_str("BOOLEAN"),
            Type::Small => out.write_str("INTEGER"),
            Type::Integer => out.write_str("UBIGINT"),
            Type::Number => out.write_str("DOUBLE"),
            Type::Text => out.write_str("VARCHAR"),
            Type::Array(items) => write!(out, "{}[]", DuckDb(items)),
            Type::Struct(fields) => {
                let fields =
                    fields.iter().map(|(name, one)| format!("{} {}", double_quoted(name), DuckDb(one)));
                write!(out, "STRUCT({})", fields.collect::<Vec<_>>().join(", "))
            }
        }
    }
}
