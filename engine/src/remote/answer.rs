//! One answer to the request for a listing, in the XML of S3 and Google Cloud Storage or in that of Azure.
//!
//! The client can read such answers, too, but it refuses an entire answer because of one key that its type for keys
//! does not allow, and drops the note that more pages follow. So answers are read here, and nothing about a key is
//! assumed.

use chrono::{DateTime, Utc};
use filterblock::escape;
use object_store::ListResult;
use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};

use crate::walk::url;

/// The maximum number of bytes in the names of elements that are open at a time. A listing needs fewer than 100.
const MAX_PATH: usize = 1000;

/// The names in an answer.
#[derive(Default, PartialEq, Eq, Debug)]
pub(super) struct Page {
    pub(super) objects: Vec<ListedObject>,
    /// The prefixes of further keys, up to and including the next slash.
    pub(super) prefixes: Vec<Vec<u8>>,
    /// The token with which to request the next page.
    pub(super) token: Option<String>,
    /// The server says that more pages follow.
    pub(super) is_truncated: bool,
}

/// An object in a listing.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct ListedObject {
    pub(super) key: Vec<u8>,
    /// The object's size in bytes.
    pub(super) size: u64,
    pub(super) modified: DateTime<Utc>,
    pub(super) e_tag: Option<String>,
}

impl From<ListResult> for Page {
    fn from(listed: ListResult) -> Self {
        let objects = listed.objects.into_iter().map(|meta| ListedObject {
            key: meta.location.as_ref().into(),
            size: meta.size,
            modified: meta.last_modified,
            e_tag: meta.e_tag,
        });
        let prefixes = listed.common_prefixes.into_iter().map(|prefix| format!("{prefix}/").into_bytes());
        Self { objects: objects.collect(), prefixes: prefixes.collect(), ..Self::default() }
    }
}

/// Reads an answer. The error says what was expected and what was found.
pub(super) fn parse(body: &[u8]) -> Result<Page, String> {
    let mut reader = Reader::from_reader(body);
    reader.config_mut().expand_empty_elements = true;
    let mut reading = Reading::default();
    loop {
        let event = reader
            .read_event()
            .map_err(|error| format!("expected XML, found at byte {}: {error}", reader.error_position()))?;
        match event {
            Event::Start(start) => reading.open(&start)?,
            Event::Text(text) => reading.text.extend_from_slice(&text),
            Event::CData(text) => reading.text.extend_from_slice(&text),
            Event::GeneralRef(reference) => reading.refer(&reference)?,
            Event::End(_) => reading.close()?,
            Event::Eof => return reading.end(),
            _ => {}
        }
    }
}

/// An answer that has been read up to some point.
#[derive(Default)]
struct Reading {
    page: Page,
    /// The names of the open elements, each after a slash.
    path: String,
    has_root: bool,
    /// The text of the innermost element so far.
    text: Vec<u8>,
    /// In the text of the innermost element, `%20` and the like stand for characters that XML cannot hold.
    is_encoded: bool,
    object: Draft,
}

/// An object whose element is open.
#[derive(Default)]
struct Draft {
    key: Option<Vec<u8>>,
    size: Option<u64>,
    modified: Option<DateTime<Utc>>,
    e_tag: Option<String>,
    /// The entry is for a folder, which Azure's hierarchical namespaces list among the objects.
    is_folder: bool,
}

impl Reading {
    fn open(&mut self, start: &BytesStart<'_>) -> Result<(), String> {
        let name = start.local_name();
        let name = String::from_utf8_lossy(name.as_ref());
        if self.path.is_empty() {
            let is_known = matches!(&*name, "ListBucketResult" | "EnumerationResults" | "Error");
            if !is_known || self.has_root {
                return Err(format!("expected a listing, found the element {}", escape(name.as_bytes())));
            }
            self.has_root = true;
        }
        if self.path.len() + name.len() > MAX_PATH {
            return Err("expected a listing, found elements within elements without end".to_owned());
        }
        self.path.push('/');
        self.path.push_str(&name);
        self.text.clear();
        let encoded = start.attributes().flatten().find(|attribute| attribute.key.as_ref() == b"Encoded");
        self.is_encoded = encoded.is_some_and(|attribute| *attribute.value == *b"true");
        Ok(())
    }

    /// Adds the character that a reference such as `&amp;` or `&#10;` stands for.
    fn refer(&mut self, reference: &BytesRef<'_>) -> Result<(), String> {
        let invalid = || format!("expected a reference that XML knows, found {}", escape(reference));
        match reference.resolve_char_ref().map_err(|_| invalid())? {
            Some(character) => self.text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
            None => {
                let known =
                    str::from_utf8(reference).ok().and_then(resolve_xml_entity).ok_or_else(invalid)?;
                self.text.extend_from_slice(known.as_bytes());
            }
        }
        Ok(())
    }

    /// Ends the innermost element, and adds the value, the object or the prefix that it holds.
    fn close(&mut self) -> Result<(), String> {
        match &*self.path {
            "/ListBucketResult/Contents/Key" | "/EnumerationResults/Blobs/Blob/Name" => {
                self.object.key = Some(self.name());
            }
            "/ListBucketResult/Contents/Size"
            | "/EnumerationResults/Blobs/Blob/Properties/Content-Length" => {
                let size = self.value().parse().map_err(|_| self.unlike("a size"))?;
                self.object.size = Some(size);
            }
            "/ListBucketResult/Contents/LastModified" => {
                self.object.modified = Some(self.time(DateTime::parse_from_rfc3339)?);
            }
            "/EnumerationResults/Blobs/Blob/Properties/Last-Modified" => {
                self.object.modified = Some(self.time(DateTime::parse_from_rfc2822)?);
            }
            "/ListBucketResult/Contents/ETag" | "/EnumerationResults/Blobs/Blob/Properties/Etag" => {
                self.object.e_tag = Some(self.value());
            }
            "/EnumerationResults/Blobs/Blob/Properties/ResourceType" => {
                self.object.is_folder = self.text == b"directory";
            }
            "/ListBucketResult/Contents" | "/EnumerationResults/Blobs/Blob" => self.object()?,
            "/ListBucketResult/CommonPrefixes/Prefix" | "/EnumerationResults/Blobs/BlobPrefix/Name" => {
                let prefix = self.name();
                self.page.prefixes.push(prefix);
            }
            "/ListBucketResult/NextContinuationToken" | "/EnumerationResults/NextMarker" => {
                self.page.token = Some(self.value()).filter(|token| !token.is_empty());
            }
            "/ListBucketResult/IsTruncated" => self.page.is_truncated = self.text == b"true",
            "/Error/Code" => return Err(format!("expected a listing, found the error {}", self.value())),
            "/Error" => return Err("expected a listing, found an error".to_owned()),
            _ => {}
        }
        self.path.truncate(self.path.rfind('/').unwrap_or_default());
        self.text.clear();
        Ok(())
    }

    fn object(&mut self) -> Result<(), String> {
        let draft = std::mem::take(&mut self.object);
        if draft.is_folder {
            return Ok(());
        }
        match draft {
            Draft { key: Some(key), size: Some(size), modified: Some(modified), e_tag, .. } => {
                self.page.objects.push(ListedObject { key, size, modified, e_tag });
                Ok(())
            }
            _ => Err("expected the key, size and time of each object, found one without".to_owned()),
        }
    }

    fn end(self) -> Result<Page, String> {
        match (self.has_root, self.path.is_empty()) {
            (true, true) => Ok(self.page),
            (true, false) => Err("expected a listing, found one that is cut off".to_owned()),
            _ => Err("expected a listing, found no XML".to_owned()),
        }
    }

    /// The text as a key or the beginning of a key.
    fn name(&self) -> Vec<u8> {
        match str::from_utf8(&self.text) {
            Ok(text) if self.is_encoded => url::decoded(text),
            _ => self.text.clone(),
        }
    }

    fn value(&self) -> String {
        String::from_utf8_lossy(&self.text).trim().to_owned()
    }

    fn time<T: Into<DateTime<Utc>>, E>(
        &self,
        parse: fn(&str) -> Result<T, E>,
    ) -> Result<DateTime<Utc>, String> {
        parse(&self.value()).map(Into::into).map_err(|_| self.unlike("a time"))
    }

    fn unlike(&self, expected: &str) -> String {
        let found: String = self.value().chars().take(80).collect();
        format!("expected {expected}, found {}", escape(found.as_bytes()))
    }
}

#[cfg(test)]
mod tests;
