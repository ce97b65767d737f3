//! The structure of the code: no files import each other in a circle, and each room (a folder of modules) knows only
//! the rooms below it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A module's path within its crate.
type Module = Vec<String>;

/// Adds the modules below `folder` with their code, but neither tests nor the crate's root. `mod.rs` files, which only
/// put other modules together, are added if `with_parents`.
fn modules(folder: &Path, path: &[String], with_parents: bool, found: &mut BTreeMap<Module, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().path();
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let module = [path, std::slice::from_ref(&name)].concat();
        if name == "tests" {
            continue;
        }
        if file.is_dir() {
            modules(&file, &module, with_parents, found);
        } else if name == "mod" && with_parents {
            found.insert(path.to_vec(), fs::read_to_string(&file).unwrap());
        } else if !["mod", "lib", "main"].contains(&&*name) {
            found.insert(module, fs::read_to_string(&file).unwrap());
        }
    }
}

/// Code without its tests and comments.
fn bare(code: &str) -> String {
    let code = code.split("#[cfg(test)]\nmod tests").next().unwrap();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.flat_map(|line| [line, " "]).collect()
}

/// The paths in `code` that begin with one of `starts`. Names in braces give a path each.
fn paths(code: &str, starts: &[&str]) -> Vec<Vec<String>> {
    let code = bare(code);
    let starts = starts.iter().flat_map(|start| code.match_indices(start));
    let is_whole = |at: usize| !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
    let starts = starts.map(|(at, _)| at).filter(|&at| is_whole(at));
    starts.flat_map(|at| expand(&code[at..], &[])).collect()
}

fn expand(text: &str, before: &[String]) -> Vec<Vec<String>> {
    let text = text.trim_start();
    if let Some(rest) = text.strip_prefix('{') {
        let (mut depth, mut start, mut found) = (0, 0, Vec::new());
        for (at, c) in rest.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth > 0 => depth -= 1,
                ',' | '}' if depth == 0 => {
                    found.extend(expand(&rest[start..at], before));
                    start = at + 1;
                    if c == '}' {
                        break;
                    }
                }
                _ => {}
            }
        }
        return found;
    }
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let path = [before, &[text[..end].to_owned()]].concat();
    match text[end..].strip_prefix("::") {
        Some(rest) => expand(rest, &path),
        None => vec![path],
    }
}

/// Adds the names that `mod.rs` files and the crate's root re-export from the modules below them.
fn handed_on(folder: &Path, path: &[String], found: &mut BTreeMap<Module, Module>) {
    for entry in fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().path();
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        if file.is_dir() {
            handed_on(&file, &[path, &[name]].concat(), found);
        } else if name == "mod" || name == "lib" {
            let code = bare(&fs::read_to_string(&file).unwrap());
            for (at, start) in code.match_indices("pub use ").chain(code.match_indices(") use ")) {
                for names in expand(&code[at + start.len()..], &[]) {
                    let target = match names[0].as_str() {
                        "crate" => names[1..].to_vec(),
                        _ => [path, &names].concat(),
                    };
                    found.insert([path, &names[names.len() - 1..]].concat(), target);
                }
            }
        }
    }
}

/// The module that a path leads to, also by re-exported names.
fn module_of(
    path: &Module,
    modules: &BTreeMap<Module, String>,
    handed_on: &BTreeMap<Module, Module>,
) -> Option<Module> {
    for len in (1..=path.len()).rev() {
        if modules.contains_key(&path[..len]) {
            return Some(path[..len].to_vec());
        }
        if let Some(target) = handed_on.get(&path[..len]) {
            return module_of(target, modules, handed_on);
        }
    }
    None
}

/// The modules that each module names. `with_parents`: a parent names its children, since it declares them.
fn imports(
    modules: &BTreeMap<Module, String>,
    handed_on: &BTreeMap<Module, Module>,
    with_parents: bool,
) -> BTreeMap<Module, BTreeSet<Module>> {
    let of = |(module, code): (&Module, &String)| {
        let named = paths(code, &["crate::", "super::"]).into_iter().filter_map(|path| {
            let path = absolute(module, &path)?;
            module_of(&path, modules, handed_on)
        });
        let is_child =
            |other: &&Module| with_parents && other.len() == module.len() + 1 && other.starts_with(module);
        let children = modules.keys().filter(is_child).cloned();
        (module.clone(), named.chain(children).filter(|other| other != module).collect())
    };
    modules.iter().map(of).collect()
}

/// The path from the crate's root that `path` stands for in `module`.
fn absolute(module: &Module, path: &[String]) -> Option<Module> {
    let supers = path.iter().take_while(|part| *part == "super").count();
    let base = if supers > 0 { module.len().checked_sub(supers)? } else { 0 };
    Some([&module[..base], &path[supers.max(1)..]].concat())
}

/// The modules that import each other in a circle, and those that import such modules.
fn in_circles(mut imports: BTreeMap<Module, BTreeSet<Module>>) -> Vec<String> {
    loop {
        let left: BTreeSet<Module> = imports.keys().cloned().collect();
        imports.retain(|_, others| others.iter().any(|other| left.contains(other)));
        if imports.len() == left.len() {
            return left.iter().map(|module| module.join("/")).collect();
        }
    }
}

/// The modules in `folder`, a crate's source folder, with their code.
fn of_folder(folder: &str, with_parents: bool) -> BTreeMap<Module, String> {
    let mut found = BTreeMap::new();
    modules(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &[], with_parents, &mut found);
    assert!(found.len() > 20, "{} files", found.len());
    found
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    for (folder, with_parents) in
        [("src", false), ("../engine/src", false), ("../src", false), ("../python/src", false)]
    {
        let mut names = BTreeMap::new();
        if !with_parents {
            handed_on(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &[], &mut names);
        }
        let imports = imports(&of_folder(folder, with_parents), &names, with_parents);
        let named: usize = imports.values().map(BTreeSet::len).sum();
        assert!(named > imports.len(), "{} files, {named} imports", imports.len());
        assert_eq!(in_circles(imports), [""; 0]);
    }
}

/// The rooms of the engine, each with the names that must not be in it: the rooms that may use it, and crates.
const ENGINE: [(&str, &[&str]); 9] = [
    ("report", &["run", "remote", "rebuild", "repair", "page", "engine", "object_store", "maud"]),
    (
        "walk",
        &["run", "audit", "remote", "rebuild", "repair", "words", "page", "engine", "object_store", "maud"],
    ),
    ("run", &["audit", "remote", "rebuild", "repair", "words", "page", "engine", "object_store", "maud"]),
    ("audit", &["remote", "rebuild", "repair", "page", "object_store", "tokio", "serde_json", "maud"]),
    ("remote", &["rebuild", "repair", "words", "page", "engine", "serde_json", "maud"]),
    ("rebuild", &["repair", "page", "remote", "object_store", "maud"]),
    ("repair", &["page", "remote", "object_store", "maud"]),
    (
        "words",
        &["rebuild", "repair", "page", "remote", "run", "engine", "object_store", "maud", "serde_json"],
    ),
    ("page", &["run", "remote", "rebuild", "repair", "object_store", "serde_json"]),
];

/// The rooms of the tool, each with the names that must not be in it.
const TOOL: [(&str, &[&str]); 3] = [
    ("io", &["command", "text", "serde", "serde_json", "object_store", "tokio"]),
    ("text", &["command", "clap", "indicatif", "serde_json"]),
    ("command", &["anstream", "anstyle"]),
];

/// The rooms of the library, each with the names that must not be in it.
const LIBRARY: [(&str, &[&str]); 8] = [
    ("error", &["lanes", "hash", "kernel", "key", "policy", "filter_block", "table", "database"]),
    ("bytes", &["error", "lanes", "hash", "kernel", "key", "policy", "filter_block", "table", "database"]),
    ("hash", &["error", "bytes", "kernel", "key", "policy", "filter_block", "table", "database"]),
    ("kernel", &["error", "bytes", "key", "policy", "filter_block", "table", "database"]),
    ("key", &["hash", "policy", "filter_block", "table", "database"]),
    ("policy", &["filter_block", "table", "database"]),
    ("filter_block", &["hash", "table", "database"]),
    ("table", &["database"]),
];

/// The forbidden names in the files of a room, each with its file. `names`: those that the crate's root re-exports.
fn strangers(
    modules: &BTreeMap<Module, String>,
    names: &BTreeMap<Module, Module>,
    room: &str,
    forbidden: &[&str],
) -> Vec<String> {
    let room_of = |name: String| match names.get(std::slice::from_ref(&name)) {
        Some(target) => target[0].clone(),
        None => name,
    };
    let mut found = Vec::new();
    for (module, code) in modules.iter().filter(|(module, _)| module[0] == room) {
        let inside = paths(code, &["crate::", "super::"]).into_iter();
        let inside = inside.filter_map(|path| absolute(module, &path)?.into_iter().next()).map(room_of);
        let starts: Vec<String> = forbidden.iter().map(|name| format!("{name}::")).collect();
        let starts: Vec<&str> = starts.iter().map(String::as_str).collect();
        let outside = paths(code, &starts).into_iter().map(|path| path[0].clone());
        let named: BTreeSet<String> = inside.chain(outside).collect();
        let named = named.iter().filter(|name| forbidden.contains(&&***name));
        found.extend(named.map(|name| format!("{} names {name}", module.join("/"))));
    }
    found
}

#[test]
fn each_room_knows_only_what_it_may() {
    for (folder, rooms, top) in
        [("../src", &LIBRARY[..], Some("database")), ("../engine/src", &ENGINE, None), ("src", &TOOL, None)]
    {
        let modules = of_folder(folder, true);
        let mut names = BTreeMap::new();
        handed_on(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &[], &mut names);
        for (room, forbidden) in rooms {
            assert!(modules.keys().any(|module| module[0] == **room), "{room}");
            assert_eq!(strangers(&modules, &names, room, forbidden), [""; 0]);
        }
        let found: BTreeSet<&str> =
            modules.keys().filter(|module| module.len() > 1).map(|module| &*module[0]).collect();
        assert_eq!(found, rooms.iter().map(|(room, _)| *room).chain(top).collect());
    }
}

/// If the model were elsewhere, `build.rs` would leave out all tests of crashes without a word.
#[test]
fn the_model_of_crashes_is_where_the_build_script_looks_for_it() {
    let script =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../engine/build.rs")).unwrap();
    let model = script.split('"').find(|part| part.ends_with("Cargo.toml")).unwrap();
    assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(model).exists(), "{model}");
}

#[test]
fn strangers_are_found() {
    let found = |code: &str| {
        let module = ["audit", "stats", "x"].map(str::to_owned).to_vec();
        strangers(
            &[(module, code.to_owned())].into(),
            &[(vec!["Show".to_owned()], vec!["render".to_owned(), "Show".to_owned()])].into(),
            "audit",
            &["command", "render", "io", "serde", "anstream", "clap"],
        )
    };
    assert_eq!(found("use std::io::Read;\nuse crate::audit::record;\nuse super::super::query;"), [""; 0]);
    assert_eq!(
        found("// crate::io::console\nuse std::clap::X;\n#[cfg(test)]\nmod tests { use clap::X; }"),
        [""; 0]
    );
    assert_eq!(found("use crate::{audit::x, io::console::Console};"), ["audit/stats/x names io"]);
    assert_eq!(found("use crate::{Show, audit::y};"), ["audit/stats/x names render"]);
    assert_eq!(found("use super::super::super::render::numbers;"), ["audit/stats/x names render"]);
    assert_eq!(
        found("#[derive(serde::Serialize)]\nuse anstream::{\n    a,\n};"),
        ["audit/stats/x names anstream", "audit/stats/x names serde"]
    );
    assert_eq!(found("fn f() { crate::command::run() }"), ["audit/stats/x names command"]);
}

#[test]
fn circles_are_found() {
    let found = |code: [(&str, &str); 3]| {
        let module = |path: &str| path.split('/').map(str::to_owned).collect::<Module>();
        in_circles(imports(
            &code.map(|(path, code)| (module(path), code.to_owned())).into(),
            &BTreeMap::new(),
            true,
        ))
    };
    let c = ("x/c", "use std::super::a::A;\n// use crate::a;");
    assert_eq!(found([("a", "use crate::x::{c::C, b::{B, D}};"), ("x/b", "use super::c::C;"), c]), [""; 0]);
    assert_eq!(
        found([("a", "use crate::x::{c::C, b::B};"), ("x/b", "fn f() { super::super::a::g() }"), c]),
        ["a", "x/b"]
    );
    assert_eq!(
        found([("a", ""), ("x/b", "use super::{\n    c::C,\n};"), ("x/c", "use crate::x::b::B;")]),
        ["x/b", "x/c"]
    );
    // A child that uses what its parent defines, and one that uses what a sibling does.
    assert_eq!(found([("a", ""), ("x", "mod b;"), ("x/b", "use super::X;")]), ["x", "x/b"]);
    assert_eq!(found([("x", "mod b;"), ("x/b", "use super::c::X;"), c]), [""; 0]);
}
