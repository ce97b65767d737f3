//! JSON laid out for readers: a value that fits takes one line, unless it has a description.

use serde_json::Value;

const WIDTH: usize = 118;

/// Lays `value` out as the contents of a file.
pub(crate) fn layout(value: &Value) -> String {
    put(value, 0, 0) + "\n"
}

/// Lays `value` out at an indentation, after `before` characters of its line.
fn put(value: &Value, indent: usize, before: usize) -> String {
    let one_line = line(value);
    // With room for a comma.
    if value.get("description").is_none() && indent + before + one_line.len() < WIDTH {
        return one_line;
    }
    let inner = " ".repeat(indent + 2);
    let lines = match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, field)| {
                let name = format!("\"{name}\": ");
                format!("{name}{}", put(field, indent + 2, name.len()))
            })
            .collect::<Vec<_>>(),
        // Words, as many in a line as fit.
        Value::Array(items) if items.iter().all(|item| !item.is_object()) => {
            let mut lines = vec![String::new()];
            for item in items.iter().map(Value::to_string) {
                match lines.last_mut() {
                    Some(last) if last.is_empty() => *last = item,
                    Some(last) if indent + last.len() + item.len() + 4 < WIDTH => {
                        *last += &format!(", {item}")
                    }
                    _ => lines.push(item),
                }
            }
            lines
        }
        Value::Array(items) => items.iter().map(|item| put(item, indent + 2, 0)).collect(),
        _ => return one_line,
    };
    let [open, close] = if value.is_object() { ["{", "}"] } else { ["[", "]"] };
    format!("{open}\n{inner}{}\n{}{close}", lines.join(&format!(",\n{inner}")), " ".repeat(indent))
}

fn line(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, field)| format!("\"{name}\": {}", line(field)));
            format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(line).collect::<Vec<_>>().join(", ")),
        one => one.to_string(),
    }
}
