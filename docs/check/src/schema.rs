//! The schemas in `docs/schema`, in the few keywords that they use.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use serde_json::{Map, Value};

/// The commands that have `--json`, and `query --count`, whose lines are others.
pub(crate) const SCHEMAS: [&str; 7] = ["inspect", "query", COUNT, "scan", "verify", "tune", "rebuild"];
pub(crate) const COUNT: &str = "query-count";

/// The fields that every line of the output begins with.
const FRAME: [&str; 7] = ["schema_version", "object", "input", "path", "path_bytes", "error_kind", "notes"];

pub(crate) fn docs() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

pub(crate) struct Schema {
    pub(crate) name: &'static str,
    document: Value,
    compiled: (boon::Schemas, boon::SchemaIndex),
}

impl Schema {
    /// Fails if the file is not a valid schema.
    pub(crate) fn load(name: &'static str) -> Self {
        let path = docs().join("schema").join(format!("{name}.json"));
        let document = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let mut schemas = boon::Schemas::new();
        let index = boon::Compiler::new().compile(path.to_str().unwrap(), &mut schemas);
        let index = index.unwrap_or_else(|error| panic!("{error:#}"));
        Self { name, document, compiled: (schemas, index) }
    }

    pub(crate) fn validate(&self, value: &Value) -> Result<(), String> {
        let (schemas, index) = &self.compiled;
        schemas.validate(value, *index).map_err(|error| format!("{error:#}"))
    }

    /// The definition that `schema` refers to, with its name.
    fn definition<'a>(&'a self, schema: &'a Value) -> Option<(&'a str, &'a Value)> {
        let name = schema.get("$ref")?.as_str()?.strip_prefix("#/$defs/")?;
        Some((name, &self.document["$defs"][name]))
    }

    /// All fields of an object, all types of a field and all words of an enumeration, as lines of
    /// text.
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

    /// The types that a value may have, or its words, as JSON.
    fn types(&self, schema: &Value) -> Vec<String> {
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
    fn roots(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.document["oneOf"].as_array().unwrap().iter().map(|root| self.definition(root).unwrap())
    }

    /// Adds to `all` those of the [`alternatives`](Self::alternatives) that `value` is.
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

    /// The tables of `docs/json.md`, each with its heading.
    pub(crate) fn page_tables(&self) -> Vec<(String, String)> {
        let definitions = self.document["$defs"].as_object().unwrap();
        let tables = definitions.iter().map(|(definition, schema)| {
            let is_root = self.roots().any(|(root, _)| root == definition);
            let own =
                properties(schema).iter().filter(|(name, _)| !(is_root && FRAME.contains(&name.as_str())));
            let of = if is_root { format!("{}: ", self.title()) } else { String::new() };
            (format!("### {of}{definition}"), self.page_table(own))
        });
        tables.collect()
    }

    /// The table of the fields that all objects have. Fails if they are not the same in each, but for
    /// the words of `object`, of which the page has none.
    pub(crate) fn page_frame(&self) -> String {
        let mut frames = self.roots().map(|(_, schema)| {
            let mut fields = properties(schema).clone();
            fields.retain(|name, _| FRAME.contains(&name.as_str()));
            let object = fields["object"].as_object_mut().unwrap();
            object.remove("enum");
            object.insert("type".to_owned(), "a word".into());
            assert_eq!(fields.keys().collect::<Vec<_>>(), FRAME);
            fields
        });
        let first = frames.next().unwrap();
        assert!(frames.all(|other| other == first), "{}: objects of different frames", self.name);
        self.page_table(first.iter())
    }

    fn page_table<'a>(&self, fields: impl Iterator<Item = (&'a String, &'a Value)>) -> String {
        let mut table = "| field | type | meaning |\n|---|---|---|\n".to_owned();
        for (name, field) in fields {
            let types = self.page_type(field);
            let meaning = field["description"].as_str().unwrap();
            writeln!(table, "| `{name}` | {types} | {meaning} |").unwrap();
        }
        table
    }

    fn title(&self) -> &'static str {
        if self.name == COUNT { "query --count" } else { self.name }
    }

    fn page_type(&self, field: &Value) -> String {
        let shown = |field: &Value| {
            let words = self.types(field).into_iter().map(|one| match one.strip_prefix('"') {
                Some(word) => format!("`{}`", word.trim_end_matches('"')),
                None if self.document["$defs"].get(&one).is_some() => format!("[{one}](#{one})"),
                None => one,
            });
            words.collect::<Vec<_>>()
        };
        let mut types = shown(field);
        if let Some(items) = field.get("items") {
            types.retain(|one| one == "null");
            types.insert(0, format!("array of {}", shown(items).join(" or ")));
        }
        match types.split_last() {
            // One of many words: the meaning tells.
            Some(_) if types.len() > 8 => "a word".to_owned(),
            Some((last, [])) => last.clone(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => unreachable!("no type"),
        }
    }
}

/// The fields of a definition, in the order of the file.
///
/// Fails if it is not strict: each field described and required but for `list`, nothing else
/// allowed, no keyword misspelt.
fn properties(schema: &Value) -> &Map<String, Value> {
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
