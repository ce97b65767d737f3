//! The tables of `docs/json.md`.

use std::fmt::Write as _;

use serde_json::Value;

use crate::schema::{FRAME, Schema, properties, title};

/// Returns the page `text` with its tables made anew.
///
/// # Errors
///
/// If an object has no table to be replaced below its heading, a table is below another heading, or the schemas
/// describe the fields of every object differently.
pub(crate) fn page(text: &str, schemas: &[Schema]) -> Result<String, String> {
    let mut tables: Vec<_> = schemas.iter().flat_map(Schema::page_tables).collect();
    for schema in schemas {
        let frame = ("## Every object".to_owned(), schema.page_frame());
        match tables.iter().any(|(heading, _)| *heading == frame.0) {
            false => tables.push(frame),
            true if tables.contains(&frame) => {}
            true => return Err(format!("{}: the fields of every object are others here", schema.name)),
        }
    }
    let (mut page, mut heading, mut is_table) = (String::new(), "", false);
    for line in text.lines() {
        if line.starts_with('#') {
            heading = line;
        }
        if !line.starts_with('|') {
            page.extend([line, "\n"]);
        } else if !is_table {
            let at = tables.iter().position(|(title, _)| title == heading);
            let at = at.ok_or_else(|| format!("json.md: below {heading} is a table of no object"))?;
            page.push_str(&tables.swap_remove(at).1);
        }
        is_table = line.starts_with('|');
    }
    match tables.first() {
        None => Ok(page),
        Some((title, _)) => Err(format!(
            "json.md: below the heading {title}, expected a line that begins with |, for its table"
        )),
    }
}

impl Schema {
    /// The tables of this schema's objects, each with its heading in `docs/json.md`.
    fn page_tables(&self) -> Vec<(String, String)> {
        let definitions = self.document["$defs"].as_object().unwrap();
        let tables = definitions.iter().map(|(definition, schema)| {
            let is_root = self.roots().any(|(root, _)| root == definition);
            let own =
                properties(schema).iter().filter(|(name, _)| !(is_root && FRAME.contains(&name.as_str())));
            let of = if is_root { format!("{}: ", title(self.name)) } else { String::new() };
            (format!("### {of}{definition}"), self.page_table(own))
        });
        tables.collect()
    }

    /// Returns the table of the fields that all objects have. Panics if these fields differ in anything but the words
    /// of `object`, which the page leaves out.
    fn page_frame(&self) -> String {
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
            // Too many words for a cell: the field's meaning names them.
            Some(_) if types.len() > 8 => "a word".to_owned(),
            Some((last, [])) => last.clone(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => unreachable!("no type"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::commands::schemas;

    #[test]
    fn a_table_is_where_its_object_is_and_nowhere_else() {
        let text = |headings: &[&str]| headings.join("\n\n| outdated |\n\n") + "\n\n| outdated |\n";
        let verify = || schemas().into_iter().find(|schema| schema.name == "verify").unwrap();
        let known =
            ["## Every object", "### verify: verdict", "### neighbour_rate", "### finding", "### lost"];
        let made = page(&text(&known), &[verify()]).unwrap();
        assert!(made.contains("### lost\n\n| field | type | meaning |\n|---|---|---|\n| `from` |"), "{made}");
        assert_eq!(page(&made, &[verify()]), Ok(made.clone()));

        let error = page(&text(&known[..4]), &[verify()]).unwrap_err();
        assert!(error.contains("below the heading ### lost, expected"), "{error}");
        let twice = [&known[..], &known[4..]].concat();
        let error = page(&text(&twice), &[verify()]).unwrap_err();
        assert_eq!(error, "json.md: below ### lost is a table of no object");
        let mut other = verify();
        other.document["$defs"]["verdict"]["properties"]["notes"]["description"] = Value::from("Others.");
        let error = page(&made, &[verify(), other]).unwrap_err();
        assert_eq!(error, "verify: the fields of every object are others here");
    }
}
