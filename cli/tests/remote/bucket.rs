//! Buckets on a local server that answers like S3 and Google Cloud Storage: listings, sizes and ranges.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::server::{Reply, Request, Server, part};

/// A bucket's objects by their keys.
#[derive(Clone, Default)]
pub(crate) struct Bucket {
    pub(crate) objects: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The maximum number of names in one answer.
    pub(crate) page: usize,
}

impl Bucket {
    pub(crate) fn new<'a>(objects: impl IntoIterator<Item = (&'a [u8], Vec<u8>)>) -> Self {
        let objects = objects.into_iter().map(|(key, bytes)| (key.to_vec(), bytes)).collect();
        Self { objects, page: 1000 }
    }

    /// Starts a server with this bucket alone, called `bucket`.
    pub(crate) fn serve(self) -> Server {
        Server::start(move |_, request| answer(&[("bucket", &self)], request))
    }

    fn list(&self, query: &BTreeMap<String, Vec<u8>>) -> String {
        let prefix = query.get("prefix").cloned().unwrap_or_default();
        // Keys, and with `true`, the beginnings of keys up to the next slash.
        let mut names: BTreeSet<(&[u8], bool)> = BTreeSet::new();
        for key in self.objects.keys().filter(|key| key.starts_with(&prefix)) {
            let slash = key[prefix.len()..].iter().position(|byte| *byte == b'/');
            names.insert(slash.map_or((key, false), |at| (&key[..=prefix.len() + at], true)));
        }
        let start = query
            .get("continuation-token")
            .map_or(0, |token| str::from_utf8(token).unwrap().parse().unwrap());
        let mut text = String::new();
        for (name, is_prefix) in names.iter().skip(start).take(self.page) {
            match is_prefix {
                false => text += &contents(&written(name), self.objects[*name].len()),
                true => write!(text, "<CommonPrefixes><Prefix>{}</Prefix></CommonPrefixes>", written(name))
                    .unwrap(),
            }
        }
        let end = start + self.page;
        let more = names.len() > end;
        let token = if more {
            format!("<NextContinuationToken>{end}</NextContinuationToken>")
        } else {
            String::new()
        };
        listing(&format!("{text}<IsTruncated>{more}</IsTruncated>{token}"))
    }
}

/// The XML of an object in a listing. `key` is XML already.
pub(crate) fn contents(key: &str, size: usize) -> String {
    format!(
        "<Contents><Key>{key}</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified><ETag>&quot;a&quot;</ETag>\
         <Size>{size}</Size></Contents>"
    )
}

pub(crate) fn listing(inner: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">{inner}</ListBucketResult>"
    )
}

/// A key as XML. Bytes that are not UTF-8 are each written as the character U+E000 plus the byte. [`listed`] puts them
/// back.
fn written(key: &[u8]) -> String {
    let mut text = String::new();
    for chunk in key.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '&' | '<' | '>' | '"' | '\0'..='\x1f' => write!(text, "&#x{:x};", u32::from(c)).unwrap(),
                c => text.push(c),
            }
        }
        text.extend(chunk.invalid().iter().map(|byte| char::from_u32(0xe000 + u32::from(*byte)).unwrap()));
    }
    text
}

/// Answers a request to one of these buckets, which the beginning of the path names.
pub(crate) fn answer(buckets: &[(&str, &Bucket)], request: &Request) -> Reply {
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let path = decoded(path);
    let found = buckets.iter().find_map(|(name, bucket)| {
        let key = path.strip_prefix(b"/")?.strip_prefix(name.as_bytes())?;
        (key.is_empty() || key[0] == b'/').then(|| (*bucket, key.get(1..).unwrap_or_default()))
    });
    let Some((bucket, key)) = found else {
        return Reply::Answer(
            "404 Not Found",
            Vec::new(),
            b"<Error><Code>NoSuchBucket</Code></Error>".to_vec(),
        );
    };
    let query: BTreeMap<_, _> = query.split('&').filter_map(|pair| pair.split_once('=')).collect();
    if key.is_empty() && query.contains_key("list-type") {
        let query =
            query.into_iter().map(|(name, value)| (name.to_owned(), decoded(&value.replace('+', "%20"))));
        return listed(&bucket.list(&query.collect()));
    }
    match bucket.objects.get(key) {
        Some(bytes) => {
            let reply = part(request, bytes, Some("\"a\""));
            let Reply::Answer(status, mut headers, body) = reply else { return reply };
            headers.push("Last-Modified: Fri, 02 Jan 2026 03:04:05 GMT".to_owned());
            Reply::Answer(status, headers, body)
        }
        None => Reply::Answer("404 Not Found", Vec::new(), b"<Error><Code>NoSuchKey</Code></Error>".to_vec()),
    }
}

/// An answer with this listing, in which the bytes that [`written`] replaced are put back.
pub(crate) fn listed(text: &str) -> Reply {
    let mut body = Vec::new();
    for c in text.chars() {
        match u32::from(c) {
            byte @ 0xe080..=0xe0ff => body.push((byte - 0xe000) as u8),
            _ => body.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Reply::Answer("200 OK", vec!["Content-Type: application/xml".to_owned()], body)
}

/// Replaces `%20` and the like by the bytes that they stand for.
pub(crate) fn decoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut parts = text.split('%');
    bytes.extend_from_slice(parts.next().unwrap().as_bytes());
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    bytes
}
