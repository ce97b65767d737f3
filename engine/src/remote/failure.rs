//! The reasons why requests fail, in one line each.

use std::error::Error as StdError;

use filterblock::escape;
use object_store::Error;

use crate::{report::ErrorKind, walk::PathError};

/// The maximum number of characters of a response quoted in a message.
const MAX_TEXT: usize = 240;
/// The last places where clients look for credentials: services that only the machines of a cloud have.
const METADATA_SERVICES: [&str; 4] =
    ["169.254.169.254", "169.254.170.2", "metadata.google.internal", "/latest/api/token"];

/// The words with which stores report a bucket that does not exist.
const BUCKET_MISSING: [&str; 3] =
    ["NoSuchBucket", "ContainerNotFound", "The specified bucket does not exist"];
const NO_CREDENTIALS: &str = "no credentials: none in the environment or in the files of the cloud's tools, and no service of the machine that has some";
const HTTP_NOT_PERMITTED: &str = "expected an endpoint with https, found http, which is not permitted: \
    AWS_ALLOW_HTTP=true, GOOGLE_ALLOW_HTTP=true or AZURE_ALLOW_HTTP=true permits it";

/// The error for an object that was replaced while it was read. `what`: the property in which the versions
/// differ.
pub(super) fn changed(what: &str, expected: &str, found: &str) -> PathError {
    let expected = escape(expected.as_bytes());
    let found = escape(found.as_bytes());
    let message = format!("changed while it was read: expected {what} {expected}, found {found}");
    PathError::failed(ErrorKind::Changed, message)
}

/// The reason why a request failed. `listed`: the object was in a listing.
pub(super) fn of(error: &Error, listed: bool) -> PathError {
    let text = chain(error);
    let has = |part: &&str| text.contains(part);
    let failed = |kind, message: &str| PathError::failed(kind, message);
    match error {
        _ if BUCKET_MISSING.iter().any(has) => failed(ErrorKind::Missing, "no such bucket"),
        _ if METADATA_SERVICES.iter().any(has) => failed(ErrorKind::Denied, NO_CREDENTIALS),
        _ if has(&"URL scheme is not allowed") => failed(ErrorKind::Unreadable, HTTP_NOT_PERMITTED),
        Error::NotSupported { .. } if has(&"Range request not supported") => {
            let message =
                "expected a part of the object, found an answer with all of it: the server ignores ranges";
            failed(ErrorKind::Unsupported, message)
        }
        Error::NotFound { .. } if listed => PathError::vanished(),
        Error::NotFound { .. } => failed(ErrorKind::Missing, "no such object, or no such bucket"),
        Error::Precondition { .. } => {
            failed(ErrorKind::Changed, "changed while it was read: the store has another version now")
        }
        // The error for a listing to which access is denied has no variant of its own.
        _ if matches!(error, Error::PermissionDenied { .. }) || has(&"403 Forbidden") => {
            failed(ErrorKind::Denied, &format!("access denied: {}", code(&text)))
        }
        Error::Unauthenticated { .. } => {
            failed(ErrorKind::Denied, &format!("credentials not accepted: {}", code(&text)))
        }
        _ => failed(ErrorKind::Unreadable, &short(&text)),
    }
}

/// The messages of an error and of its sources, each once.
fn chain(error: &Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        let more = source.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        next = source.source();
    }
    text
}

/// The error code in an XML response, as S3, Google and Azure send it, or else the text. Both are shortened.
fn code(text: &str) -> String {
    let code = text.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
    code.map_or_else(|| short(text), |(code, _)| short(code))
}

/// The beginning of a text, as one printable line.
fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = line.chars().take(MAX_TEXT).collect();
    let dots = if cut.len() < line.len() { "..." } else { "" };
    format!("{}{dots}", escape(cut.as_bytes()).to_string().replace("\\\"", "\""))
}
