//! The schemas in `docs/schema`, in the few keywords that they use.

use std::path::PathBuf;

use serde_json::{Map, Value};

/// The name of the schema of `query --count`, whose lines differ from those of `query`.
pub(crate) const COUNT: &str = "query-count";

/// The fields that every line of the output begins with.
pub(crate) const FRAME: [&str; 7] =
    ["schema_version", "object", "input", "path", "path_bytes", "error_kind", "notes"];

pub(crate) fn docs() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Returns the words of the command whose schema has this name.
pub(crate) fn title(name: &str) -> &str {
    if name == COUNT { "query --count" } else { name }
}

/// The schema of the lines of a command.
pub(crate) struct Schema {
    pub(crate) name: &'static str,
    pub(crate) document: Value,
}

impl Schema {
    /// Returns the definition that `schema` refers to, with its name. `None` if `schema` is not a
    /// reference.
    pub(crate) fn definition<'a>(&'a self, schema: &'a Value) -> Option<(&'a str, &'a Value)> {
        let name = schema.get("$ref")?.as_str()?.strip_prefix("#/$defs/")?;
        Some((name, &self.document["$defs"][name]))
    }

    /// Returns the types that a value may have, of which an object's is the name of its definition,
    /// or the value's words as JSON.
    pub(crate) fn types(&self, schema: &Value) -> Vec<String> {
        if let Some((name, _)) = self.definition(schema) {
            return vec![name.to_owned()];
        }
        let of = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
        match (&schema["type"], of("type"), of("enum"), of("anyOf")) {
            (Value::String(one), ..) => vec![one.clone()],
            (_, Some(types), ..) => types.iter().map(|one| one.as_str().unwrap().to_owned()).collect(),
            (_, _, Some(words), _) => words.iter().map(Value::to_string).collect(),
            (_, _, _, Some(schemas)) => schemas.iter().flat_map(|schema| self.types(schema)).collect(),
            _ => panic!("{}: {schema} has no type", self.name),
        }
    }

    /// The definitions of the objects that are lines of the output.
    pub(crate) fn roots(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.document["oneOf"].as_array().unwrap().iter().map(|root| self.definition(root).unwrap())
    }
}

/// The fields of a definition, in the order of the file.
///
/// Panics if the definition is not strict: each field has a description, each field but `list` is
/// required, no other field is allowed, and no keyword is misspelt.
pub(crate) fn properties(schema: &Value) -> &Map<String, Value> {
    const OF_OBJECTS: [&str; 4] = ["type", "additionalProperties", "required", "properties"];
    const OF_FIELDS: [&str; 8] =
        ["description", "type", "enum", "anyOf", "items", "minimum", "maximum", "pattern"];
    let known = |object: &Value, keywords: &[&str]| {
        let mut names = object.as_object().unwrap().keys();
        names.all(|name| keywords.contains(&name.as_str()))
    };
    let fields = schema["properties"].as_object().unwrap();
    assert!(known(schema, &OF_OBJECTS) && schema["type"] == "object", "{schema}");
    assert_eq!(schema["additionalProperties"], false, "{schema}");
    let required: Vec<_> =
        schema["required"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    let expected: Vec<_> = fields.keys().map(String::as_str).filter(|&name| name != "list").collect();
    assert_eq!(required, expected);
    for (name, field) in fields {
        assert!(known(field, &OF_FIELDS), "{name}: {field}");
        assert!(
            field["description"].as_str().is_some_and(|text| !text.contains(['|', '\n'])),
            "{name}: {field}"
        );
    }
    fields
}
