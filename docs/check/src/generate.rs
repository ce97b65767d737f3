//! Generates the schemas of the commands' lines from the types of the results, with few keywords.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::schema::{Schema, title};

/// A kind of line in the JSON output.
pub(crate) struct Kind {
    /// The name of the kind's definition.
    name: &'static str,
    /// The words that the field `object` has in lines of this kind.
    objects: &'static [&'static str],
    generate: fn(&mut SchemaGenerator) -> schemars::Schema,
}

impl Kind {
    /// The lines that `T` serializes to.
    pub(crate) fn of<T: JsonSchema>(name: &'static str, objects: &'static [&'static str]) -> Self {
        Self { name, objects, generate: T::json_schema }
    }
}

impl Schema {
    /// Makes the schema of a command's lines, which are of these kinds.
    ///
    /// `names`: types whose definitions are not called like the type, with the names of the definitions.
    /// `particulars`: keywords of fields that have another meaning, or fewer values, than their type says.
    pub(crate) fn of(
        name: &'static str,
        kinds: &[Kind],
        names: &[(&str, &'static str)],
        particulars: &Value,
    ) -> Self {
        let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
        let of_kinds: Vec<_> = kinds.iter().map(|kind| (kind.generate)(&mut generator).to_value()).collect();
        let mut types = generator.take_definitions(false);
        for schema in types.values_mut().filter_map(Value::as_object_mut) {
            schema.remove("description");
        }
        let mut definitions = Definitions { types, names, made: Map::new() };
        for (kind, schema) in kinds.iter().zip(&of_kinds) {
            definitions.define(kind.name, schema);
            let object = &mut definitions.made[kind.name]["properties"]["object"];
            *object = json!({"description": object["description"], "enum": kind.objects});
        }
        for (definition, fields) in particulars.as_object().into_iter().flatten() {
            for (field, keywords) in fields.as_object().into_iter().flatten() {
                for (keyword, value) in keywords.as_object().into_iter().flatten() {
                    definitions.made[definition]["properties"][field][keyword] = value.clone();
                }
            }
        }
        let document = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": format!("A line of filterblock {} --json", title(name)),
            "oneOf": kinds.iter().map(|kind| reference(kind.name)).collect::<Vec<_>>(),
            "$defs": definitions.made,
        });
        Self { name, document }
    }
}

/// The definitions of objects, and the types that they are made from.
struct Definitions<'a> {
    types: Map<String, Value>,
    names: &'a [(&'a str, &'static str)],
    made: Map<String, Value>,
}

impl Definitions<'_> {
    /// Adds the definition of an object, and after it those of the objects in it.
    fn define(&mut self, name: &str, schema: &Value) {
        self.made.insert(name.to_owned(), Value::Null);
        let is_required = |name: &str| {
            schema["required"].as_array().is_some_and(|required| required.iter().any(|one| one == name))
        };
        let mut properties = Map::new();
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let mut field = self.plain(field);
            // An optional field without a value is null. Only `list`, which may be as long as a table, is left out of
            // some lines.
            if !is_required(name) && name != "list" {
                or_null(&mut field);
            }
            properties.insert(name.clone(), field.into());
        }
        let required: Vec<_> = properties.keys().filter(|name| *name != "list").cloned().collect();
        self.made[name] = json!({
            "type": "object",
            "additionalProperties": false,
            "required": required,
            "properties": properties,
        });
    }

    /// Returns the schema of a field or an item. A type that is no object stands in place of the reference to it.
    fn plain(&mut self, schema: &Value) -> Map<String, Value> {
        let mut plain = Map::new();
        if let Some(text) = schema["description"].as_str() {
            plain.insert("description".to_owned(), meaning(text).into());
        }
        if let Some(choices) = schema["anyOf"].as_array() {
            assert!(choices.len() == 2 && choices[1] == json!({"type": "null"}), "{schema}");
            let mut one = self.plain(&choices[0]);
            or_null(&mut one);
            plain.extend(one);
        } else if let Some(target) = schema["$ref"].as_str() {
            let target = target.trim_start_matches("#/$defs/");
            let of_type = self.types[target].clone();
            if of_type.get("properties").is_none() {
                plain.extend(self.plain(&of_type));
            } else {
                let other = self.names.iter().find(|(name, _)| *name == target);
                let name = other.map_or_else(|| snake_case(target), |(_, name)| (*name).to_owned());
                if !self.made.contains_key(&name) {
                    self.define(&name, &of_type);
                }
                match plain.is_empty() {
                    true => plain.extend([("$ref".to_owned(), reference(&name)["$ref"].take())]),
                    false => plain.extend([("anyOf".to_owned(), json!([reference(&name)]))]),
                }
            }
        } else if let Some(words) = words(schema) {
            plain.insert("enum".to_owned(), words.into());
        } else {
            for keyword in ["type", "items", "minimum", "maximum", "pattern"] {
                if let Some(value) = schema.get(keyword) {
                    let value = if keyword == "items" { self.plain(value).into() } else { value.clone() };
                    plain.insert(keyword.to_owned(), value);
                }
            }
        }
        plain
    }
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/$defs/{name}")})
}

/// Returns the words of an enumeration. `None` if the schema is not one.
fn words(schema: &Value) -> Option<Vec<Value>> {
    if let Some(variants) = schema["oneOf"].as_array() {
        return variants.iter().map(words).collect::<Option<Vec<_>>>().map(|words| words.concat());
    }
    let word = schema.get("const").map(|word| vec![word.clone()]);
    word.or_else(|| schema["enum"].as_array().cloned())
}

/// Allows null, too.
fn or_null(schema: &mut Map<String, Value>) {
    if let Some(reference) = schema.remove("$ref") {
        schema.insert("anyOf".to_owned(), json!([{"$ref": reference}]));
    }
    let mut push = |keyword: &str, none: Value| match schema.get_mut(keyword) {
        Some(Value::Array(all)) if !all.contains(&none) => all.push(none),
        Some(one @ Value::String(_)) => *one = vec![one.take(), none].into(),
        _ => {}
    };
    push("type", "null".into());
    push("enum", Value::Null);
    push("anyOf", json!({"type": "null"}));
}

/// Turns a comment in the code into a description, in one line and with null in place of `None`.
fn meaning(comment: &str) -> String {
    let text = format!(". {}", comment.split_whitespace().collect::<Vec<_>>().join(" "));
    text.replace(". `None`", ". Null").replace("`None`", "null").split_off(2)
}

fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}
