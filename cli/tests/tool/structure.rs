//! The structure of the code: no files that import each other in a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A module's path within its crate.
type Module = Vec<String>;

/// The modules below `folder` with their code. `mod.rs` and the crate's root only put others together, and are left out.
fn modules(folder: &Path, path: &[String], found: &mut BTreeMap<Module, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().path();
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let module = [path, std::slice::from_ref(&name)].concat();
        if file.is_dir() {
            modules(&file, &module, found);
        } else if !["mod", "lib", "main"].contains(&&*name) {
            found.insert(module, fs::read_to_string(&file).unwrap());
        }
    }
}

/// The paths that begin with `crate` or `super` in code that is no test, with what stands in braces one by one.
fn paths(code: &str) -> Vec<Vec<String>> {
    let code = code.split("#[cfg(test)]\nmod tests").next().unwrap();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code: String = lines.flat_map(|line| [line, " "]).collect();
    let starts = ["crate::", "super::"].into_iter().flat_map(|start| code.match_indices(start));
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

/// Which modules each one names.
fn imports(modules: &BTreeMap<Module, String>) -> BTreeMap<Module, BTreeSet<Module>> {
    let of = |(module, code): (&Module, &String)| {
        let named = paths(code).into_iter().filter_map(|path| {
            let supers = path.iter().take_while(|part| *part == "super").count();
            let base = if supers > 0 { module.len().checked_sub(supers)? } else { 0 };
            let path = [&module[..base], &path[supers.max(1)..]].concat();
            (1..=path.len()).rev().map(|len| path[..len].to_vec()).find(|path| modules.contains_key(path))
        });
        (module.clone(), named.filter(|other| other != module).collect())
    };
    modules.iter().map(of).collect()
}

/// The modules that are in circles, or import such.
fn in_circles(mut imports: BTreeMap<Module, BTreeSet<Module>>) -> Vec<String> {
    loop {
        let left: BTreeSet<Module> = imports.keys().cloned().collect();
        imports.retain(|_, others| others.iter().any(|other| left.contains(other)));
        if imports.len() == left.len() {
            return left.iter().map(|module| module.join("/")).collect();
        }
    }
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let cli = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in [cli.join("src"), cli.parent().unwrap().join("src")] {
        let mut found = BTreeMap::new();
        modules(&folder, &[], &mut found);
        let imports = imports(&found);
        let named: usize = imports.values().map(BTreeSet::len).sum();
        assert!(imports.len() > 40 && named > imports.len(), "{} files, {named} imports", imports.len());
        assert_eq!(in_circles(imports), [""; 0]);
    }
}

#[test]
fn circles_are_found() {
    let found = |code: [(&str, &str); 3]| {
        let module = |path: &str| path.split('/').map(str::to_owned).collect::<Module>();
        in_circles(imports(&code.map(|(path, code)| (module(path), code.to_owned())).into()))
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
}
