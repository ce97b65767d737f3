//! Makes the page one file: `filterblock-web-make ENGINE.wasm OUTPUT`, in the folder `web`. Prints the sizes, and fails
//! if one is larger than it may be. The same input gives the same bytes.

mod ordered;
mod samples;

use std::error::Error;
use std::path::Path;
use std::{env, fs};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use filterblock_engine::page::{ICONS, STYLE};
use sha2::{Digest as _, Sha256};
use wasm_bindgen_cli_support::Bindgen;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The greatest size of the engine, compressed, in bytes.
const MAX_ENGINE: usize = 600_000;
/// The greatest size of the page in bytes.
const MAX_PAGE: usize = 900_000;

/// The modules of the page, each after those that it imports.
const MODULES: [&str; 8] =
    ["dom.js", "files.js", "engine.js", "zip.js", "entries.js", "verdict.js", "list.js", "page.js"];
/// The library that makes a .zip, and its licence.
const ZIP: &str = "node_modules/client-zip";

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
    bindgen.remove_producers_section(true).out_name("engine");
    bindgen.generate(&folder)?;
    // With names, a profiler of the browser can say where the time goes.
    let has_names = env::var_os("FILTERBLOCK_NAMES").is_some();
    let engine = ordered::ordered(&fs::read(folder.join("engine_bg.wasm"))?, has_names)?;
    Ok((fs::read_to_string(folder.join("engine.js"))?, engine))
}

fn page(glue: &str, engine: &[u8]) -> Result<String> {
    let read = |name: &str| fs::read_to_string(Path::new("page").join(name));
    let own = bare(&modules(&MODULES.map(read).into_iter().collect::<std::io::Result<Vec<_>>>()?));
    let script = [zip()?, own].concat();
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
        ("STYLE", [STYLE, &bare(&read("style.css")?)].concat()),
        ("ICONS", [ICONS, &read("icons.svg")?].concat()),
        ("VERSION", env!("CARGO_PKG_VERSION").to_owned()),
        ("SAMPLE", STANDARD.encode(gzip(&samples::samples()?)?)),
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

/// The library that makes a .zip, as a function of the script, below its licence.
fn zip() -> Result<String> {
    let read = |name: &str| fs::read_to_string(Path::new(ZIP).join(name));
    let code = read("index.js")?;
    let (code, exports) = code.trim().rsplit_once("export{").ok_or("client-zip exports nothing")?;
    let made =
        exports.split(',').find_map(|export| export.trim_end_matches("};").strip_suffix(" as makeZip"));
    let made = made.ok_or("client-zip has no makeZip")?;
    Ok(format!(
        "/* client-zip\n{}\n*/\nconst makeZip=(()=>{{{code}return {made}}})();\n",
        read("LICENSE.txt")?.trim()
    ))
}

fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut compressed = Vec::new();
    let options = zopfli::Options { maximum_block_splits: 60, ..zopfli::Options::default() };
    zopfli::compress(options, zopfli::Format::Gzip, bytes, &mut compressed)?;
    Ok(compressed)
}
