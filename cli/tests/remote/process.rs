//! The program as a process: its environment, and signals.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::server::{Reply, Server, part};
use super::table;

/// The command for the program, without the environment variables of cloud services and proxies, and with a home folder
/// that does not exist.
pub(crate) fn program(arguments: &[&str], environment: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_filterblock"));
    let is_about_clouds = |name: &str| {
        let clouds = ["AWS_", "AZURE_", "GOOGLE_"];
        clouds.iter().any(|cloud| name.starts_with(cloud)) || name.to_lowercase().ends_with("_proxy")
    };
    let about_clouds = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    about_clouds.filter(|name| is_about_clouds(name)).for_each(|name| {
        command.env_remove(name);
    });
    let nowhere = concat!(env!("CARGO_TARGET_TMPDIR"), "/nowhere");
    command.env("HOME", nowhere).env("USERPROFILE", nowhere);
    command.args(arguments).envs(environment.iter().copied()).stdin(Stdio::null());
    command
}

/// The results of a run of the program as a process.
#[derive(Debug)]
pub(crate) struct Found {
    /// The lines of the output as JSON, or none if they are not all JSON.
    pub(crate) lines: Vec<Value>,
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Found {
    pub(crate) fn of(mut command: Command) -> Self {
        let found = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let (out, err) = (text(found.stdout), text(found.stderr));
        let lines = out.lines().map(serde_json::from_str).collect::<Result<_, _>>().unwrap_or_default();
        Self { lines, status: found.status.code().unwrap(), out, err }
    }
}

/// Runs the program with the server as S3's endpoint, and with the credentials `key` and `secret`.
pub(crate) fn with_s3(server: &Server, arguments: &[&str]) -> Found {
    let endpoint = format!("http://{}", server.address);
    let environment = [
        ("AWS_ENDPOINT_URL", &*endpoint),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_ACCESS_KEY_ID", "key"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
    ];
    Found::of(program(arguments, &environment))
}

fn one_line(arguments: &[&str], environment: &[(&str, &str)]) -> Value {
    let found = program(arguments, environment).output().unwrap();
    let text = String::from_utf8(found.stdout).unwrap();
    assert_eq!((text.lines().count(), found.status.code()), (1, Some(2)), "{text}");
    serde_json::from_str(&text).unwrap()
}

#[test]
fn credentials_that_are_not_accepted_are_named() {
    let answer =
        b"<?xml version=\"1.0\"?>\n<Error><Code>Invalid\x1bAccessKeyId</Code>\n<Message>No</Message></Error>";
    let server = Server::start(move |_, _| {
        Reply::Answer("403 Forbidden", vec!["Content-Type: application/xml".to_owned()], answer.to_vec())
    });
    let endpoint = format!("http://{}", server.address);
    let environment = [
        ("AWS_ENDPOINT_URL", &*endpoint),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_ACCESS_KEY_ID", "wrong"),
        ("AWS_SECRET_ACCESS_KEY", "wrong"),
    ];
    let line = one_line(&["inspect", "--json", "s3://bucket/db/"], &environment);
    assert_eq!(line["error_kind"], "denied", "{line:#}");
    assert_eq!(line["error"], "access denied: Invalid\\x1bAccessKeyId");
}

#[test]
fn missing_credentials_are_named() {
    let server = Server::start(|_, _| Reply::Answer("404 Not Found", Vec::new(), Vec::new()));
    let endpoint = format!("http://{}", server.address);
    let environment = [("AWS_METADATA_ENDPOINT", &*endpoint)];
    let line = one_line(&["inspect", "--json", "--timeout", "1", "s3://bucket/db/"], &environment);
    assert_eq!(line["error_kind"], "denied", "{line:#}");
    assert!(line["error"].as_str().unwrap().starts_with("no credentials"), "{line:#}");
}

#[test]
fn an_endpoint_with_http_needs_a_permission() {
    let server = Server::start(|_, _| Reply::Stall);
    let endpoint = format!("http://{}", server.address);
    let environment =
        [("AWS_ENDPOINT_URL", &*endpoint), ("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b")];
    let line = one_line(&["verify", "--json", "s3://bucket/db/"], &environment);
    assert!(line.to_string().contains("AWS_ALLOW_HTTP=true"), "{line:#}");
    assert_eq!(server.requests().len(), 0);
}

/// The help of each command that reads from object storage names the same variables as the documentation's page.
#[test]
fn help_names_the_variables() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/fleets.md");
    let page = std::fs::read_to_string(page).unwrap();
    let names = |text: &str| -> BTreeSet<String> {
        let is_part = |c: char| c.is_ascii_uppercase() || c == '_';
        let words = text.split(|c| !is_part(c));
        let clouds = ["AWS_", "AZURE_", "GOOGLE_"];
        words.filter(|word| clouds.iter().any(|cloud| word.starts_with(cloud))).map(str::to_owned).collect()
    };
    let on_page = names(&page);
    assert!(on_page.len() > 25, "{on_page:?}");
    for command in ["inspect", "verify", "query"] {
        let help = Found::of(program(&[command, "--help"], &[])).out;
        assert_eq!(names(&help), on_page, "{command}");
        assert!(help.contains("Exit status: ") && help.lines().all(|line| line.len() <= 100), "{help}");
        assert!(names(&Found::of(program(&[command, "-h"], &[])).out).is_empty());
    }
}

/// Ends the child process even if a test fails.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns true if this process was started with Ctrl-C ignored. Then the processes that it starts ignore Ctrl-C, too.
#[cfg(unix)]
fn ignores_ctrl_c() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_none_or(|mask| mask >> 1 & 1 == 1)
}

/// Ctrl-C comes while the program waits for an answer that never comes.
#[cfg(unix)]
#[test]
fn a_signal_ends_the_program_with_what_there_is_shown() {
    use std::os::unix::process::ExitStatusExt as _;

    for (command, is_ordered) in [("inspect", false), ("inspect", true), ("verify", false)] {
        let bytes = table(300);
        let server = Server::start(move |_, request| match request.path.contains("stalls") {
            true => Reply::Stall,
            false => part(request, &bytes, Some("\"a\"")),
        });
        let url = |name: &str| format!("http://{}/{name}.ldb", server.address);
        let urls = [url("000001"), url("000002"), url("stalls"), url("000003")];
        let mut arguments = vec![command, "--json"];
        arguments.extend(is_ordered.then_some("--ordered"));
        arguments.extend(urls.iter().map(String::as_str));
        let mut command = program(&arguments, &[]);
        let mut running = Running(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
        let mut out = BufReader::new(running.0.stdout.take().unwrap());
        let expected = if is_ordered { 2 } else { 3 };
        for _ in 0..expected {
            let mut line = String::new();
            out.read_line(&mut line).unwrap();
            let line: Value = serde_json::from_str(&line).unwrap();
            assert_eq!(line["error_kind"], Value::Null, "{line:#}");
        }
        let start = Instant::now();
        let (signal, number) = if ignores_ctrl_c() { ("TERM", 15) } else { ("INT", 2) };
        let kill = format!("kill -{signal} {}", running.0.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        let status = running.0.wait().unwrap();
        assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
        assert_eq!(status.signal(), Some(number), "{status}");
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "");
    }
}
