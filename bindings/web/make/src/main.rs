//! Makes the page one file: `filterblock-web-make ENGINE.wasm OUTPUT`, in the folder `web`. Prints the sizes, and fails
//! if one is larger than it may be. The same input gives the same bytes.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use sha2::{Digest as _, Sha256};
use wasm_bindgen_cli_support::Bindgen;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The greatest size of the engine, compressed, in bytes.
const MAX_ENGINE: usize = 600_000;
/// The greatest size of the page in bytes.
const MAX_PAGE: usize = 900_000;

/// The modules of the page, each after those that it imports.
const MODULES: [&str; 5] = ["dom.js", "files.js", "engine.js", "entries.js", "page.js"];
/// The database to try the page with.
const SAMPLE: &str = "../../testdata/databases/unfiltered";

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().collect();
    let [_, engine, output] = &*arguments else { return Err("expected ENGINE.wasm and OUTPUT".into()) };
    let (glue, engine) = bindings(Path::new(engine))?;
    let compressed = gzip(&engine)?;
    let page = page(&glue, &compressed)?;
    fs::write(output, &page)?;
    let sizes = [("wasm, gzipped", compressed.len(), MAX_ENGINE), ("page", page.len(), MAX_PAGE)];
    println!("{:>9} bytes  wasm", engine.len());
    let mut is_small = true;
    for (what, size, most) in sizes {
        println!("{size:>9} bytes  {what}, of at most {most}");
        is_small &= size <= most;
    }
    is_small.then_some(()).ok_or_else(|| "larger than it may be".into())
}

/// Makes the script between JavaScript and the engine, and the engine without what only this step needs.
fn bindings(engine: &Path) -> Result<(String, Vec<u8>)> {
    let folder = engine.with_extension("bindings");
    let mut bindgen = Bindgen::new();
    bindgen.input_path(engine).no_modules(true)?.typescript(false);
    // With names, a profiler of the browser can say where the time goes.
    bindgen
        .remove_name_section(env::var_os("FILTERBLOCK_NAMES").is_none())
        .remove_producers_section(true)
        .out_name("engine");
    bindgen.generate(&folder)?;
    Ok((fs::read_to_string(folder.join("engine.js"))?, fs::read(folder.join("engine_bg.wasm"))?))
}

fn page(glue: &str, engine: &[u8]) -> Result<String> {
    let read = |name: &str| fs::read_to_string(Path::new("page").join(name));
    let script = bare(&modules(&MODULES.map(read).into_iter().collect::<std::io::Result<Vec<_>>>()?));
    let worker = bare(&[glue, &read("worker.js")?].concat());
    for script in [&script, &worker] {
        // These would end, or hide the end of, the element that the script is in.
        if script.to_ascii_lowercase().contains("</script") || script.contains("<!--") {
            return Err("a script has a tag in it".into());
        }
    }
    let hash = STANDARD.encode(Sha256::digest(&script));
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{hash}' 'wasm-unsafe-eval' blob:; worker-src blob:; \
         style-src 'unsafe-inline'; connect-src 'none'; form-action 'none'; base-uri 'none'"
    );
    let parts = [
        ("POLICY", policy),
        ("STYLE", bare(&read("style.css")?)),
        ("VERSION", env!("CARGO_PKG_VERSION").to_owned()),
        ("SAMPLE", STANDARD.encode(gzip(&sample()?)?)),
        ("ENGINE", STANDARD.encode(engine)),
        ("WORKER", STANDARD.encode(gzip(worker.as_bytes())?)),
        ("SCRIPT", script),
    ];
    let template = read("index.html")?;
    let mut page = String::new();
    for (at, piece) in template.split("{{").enumerate() {
        let Some((name, rest)) = piece.split_once("}}").filter(|_| at > 0) else {
            page.push_str(piece);
            continue;
        };
        let (_, text) =
            parts.iter().find(|(known, _)| *known == name).ok_or(format!("index.html has {name}"))?;
        page.push_str(text);
        page.push_str(rest);
    }
    Ok(page)
}

/// Several modules as one: without imports and exports.
fn modules(modules: &[String]) -> String {
    let lines = modules.iter().flat_map(|module| module.lines()).filter(|line| !line.starts_with("import "));
    let lines = lines.map(|line| line.strip_prefix("export ").unwrap_or(line));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// Returns a script or style sheet without comments on lines of their own, and without the space at the beginnings of
/// lines.
fn bare(text: &str) -> String {
    let mut bare = String::new();
    let mut is_comment = false;
    for line in text.lines() {
        let after = if is_comment { line.split_once("*/").map(|(_, after)| after) } else { Some(line) };
        let Some(line) = after.map(str::trim) else { continue };
        is_comment = line.starts_with("/*") && !line.contains("*/");
        // A line that begins with a comment and goes on after the comment's end is kept whole.
        let is_whole_comment = line.starts_with("/*") && line.ends_with("*/");
        if !is_comment && !is_whole_comment && !line.is_empty() && !line.starts_with("//") {
            bare.push_str(line);
            bare.push('\n');
        }
    }
    bare
}

/// The files of the sample: a line of JSON with their names and sizes, then their bytes.
fn sample() -> Result<Vec<u8>> {
    let mut paths: Vec<_> =
        fs::read_dir(SAMPLE)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    paths.sort();
    let (mut names, mut contents) = (Vec::new(), Vec::new());
    for path in paths {
        let bytes = fs::read(&path)?;
        let name = path.file_name().and_then(|name| name.to_str()).ok_or("a name that is not Unicode")?;
        names.push(format!("[\"{name}\",{}]", bytes.len()));
        contents.extend(bytes);
    }
    Ok([format!("[{}]\n", names.join(",")).into_bytes(), contents].concat())
}

fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut compressed = Vec::new();
    let options = zopfli::Options { maximum_block_splits: 60, ..zopfli::Options::default() };
    zopfli::compress(options, zopfli::Format::Gzip, bytes, &mut compressed)?;
    Ok(compressed)
}
