//! Validates printed lines against a schema, and records the parts of the schema that occur in
//! them.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use super::schema::{COUNT, Schema, docs, properties};

/// The commands that have `--json`, and `query --count`, whose lines differ from those of `query`.
pub(crate) const SCHEMAS: [&str; 9] =
    ["inspect", "query", COUNT, "scan", "manifest", "verify", "tune", "rebuild", "repair"];

/// A schema that lines are validated against.
pub(crate) struct Validator(boon::Schemas, boon::SchemaIndex);

impl Validator {
    /// Compiles a schema. Panics if the schema is not valid.
    pub(crate) fn of(schema: &Schema) -> Self {
        let mut schemas = boon::Schemas::new();
        let mut compiler = boon::Compiler::new();
        compiler.add_resource(schema.name, schema.document.clone()).unwrap();
        let index = compiler.compile(schema.name, &mut schemas);
        Self(schemas, index.unwrap_or_else(|error| panic!("{error:#}")))
    }

    pub(crate) fn validate(&self, value: &Value) -> Result<(), String> {
        self.0.validate(value, self.1).map_err(|error| format!("{error:#}"))
    }
}

impl Schema {
    /// Reads the schema that is committed.
    pub(crate) fn load(name: &'static str) -> Self {
        let text = fs::read_to_string(docs().join("schema").join(format!("{name}.json"))).unwrap();
        Self { name, document: serde_json::from_str(&text).unwrap() }
    }

    /// Returns each field of each object, once with each of its types or words, as lines of text.
    /// An array's items are listed in the same way.
    pub(crate) fn alternatives(&self) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        for (definition, schema) in self.document["$defs"].as_object().unwrap() {
            for (name, field) in properties(schema) {
                let at = format!("{definition}.{name}");
                all.extend(self.types(field).into_iter().map(|one| format!("{at}: {one}")));
                if let Some(items) = field.get("items") {
                    all.extend(self.types(items).into_iter().map(|one| format!("{at}[]: {one}")));
                }
            }
        }
        all
    }

    /// Adds to `all` those of the [`alternatives`](Self::alternatives) that occur in `value`.
    pub(crate) fn record(&self, value: &Value, all: &mut BTreeSet<String>) {
        let is_it = |schema: &Value| {
            schema["properties"]["object"]["enum"].as_array().unwrap().contains(&value["object"])
        };
        let (definition, schema) = self.roots().find(|(_, schema)| is_it(schema)).unwrap();
        self.record_object(definition, schema, value, all);
    }

    fn record_object(&self, definition: &str, schema: &Value, value: &Value, all: &mut BTreeSet<String>) {
        for (name, value) in value.as_object().unwrap() {
            let field = &schema["properties"][name];
            let at = format!("{definition}.{name}");
            self.record_field(&at, field, value, all);
            for item in value.as_array().into_iter().flatten() {
                self.record_field(&format!("{at}[]"), &field["items"], item, all);
            }
        }
    }

    fn record_field(&self, at: &str, field: &Value, value: &Value, all: &mut BTreeSet<String>) {
        let choices = field["anyOf"].as_array().map_or(std::slice::from_ref(field), Vec::as_slice);
        let object = choices.iter().find_map(|choice| self.definition(choice)).filter(|_| value.is_object());
        if let Some((definition, schema)) = object {
            all.insert(format!("{at}: {definition}"));
            return self.record_object(definition, schema, value, all);
        }
        let one = match value {
            _ if field.get("enum").is_some() => value.to_string(),
            Value::Null => "null".to_owned(),
            Value::Bool(_) => "boolean".to_owned(),
            Value::String(_) => "string".to_owned(),
            Value::Array(_) => "array".to_owned(),
            Value::Number(number) if number.is_f64() => "number".to_owned(),
            Value::Number(_) => "integer".to_owned(),
            Value::Object(_) => "object".to_owned(),
        };
        all.insert(format!("{at}: {one}"));
    }
}
