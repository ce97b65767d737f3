//! The names in a folder: the pages of its listing, put together and checked against each other.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use filterblock::escape;
use object_store::ObjectMeta;

use super::answer::{ListedObject, Page};
use super::{key, store::ObjectLocation};
use crate::{report::ErrorKind, walk::PathError};

/// The contents of a folder.
#[derive(Default, Debug)]
pub(super) struct Names {
    /// The objects by their names.
    pub(super) objects: BTreeMap<String, ObjectMeta>,
    /// The names, as bytes, of the tables and logs that the client cannot ask for, with the reasons.
    pub(super) odd: BTreeMap<Vec<u8>, PathError>,
    /// The names of the folders.
    pub(super) below: BTreeSet<Vec<u8>>,
}

impl Names {
    pub(super) fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.odd.is_empty() && self.below.is_empty()
    }
}

/// The limits for a listing.
#[derive(Clone, Copy)]
struct Limits {
    /// The maximum number of names in a folder.
    names: usize,
    /// The number of successive pages without a new name at which the listing is given up, unless it ends
    /// there. Stores may send some such pages after names were deleted.
    idle_pages: u32,
}

const LIMITS: Limits = Limits { names: 10_000_000, idle_pages: 100 };

/// Lists a folder, page by page.
pub(super) async fn names(folder: &ObjectLocation) -> Result<Names, PathError> {
    let prefix = folder.prefix();
    let mut pages = Pages::new(prefix.as_bytes(), LIMITS);
    let mut token = None;
    loop {
        let page = folder.store.page(&prefix, token).await?;
        token = pages.add(page).map_err(|broken| PathError::failed(ErrorKind::Unreadable, broken))?;
        if token.is_none() {
            return Ok(pages.names);
        }
    }
}

/// The pages so far.
struct Pages<'p> {
    prefix: &'p [u8],
    limits: Limits,
    names: Names,
    /// The tokens that the server has sent.
    tokens: HashSet<String>,
    idle_pages: u32,
}

impl<'p> Pages<'p> {
    fn new(prefix: &'p [u8], limits: Limits) -> Self {
        Self { prefix, limits, names: Names::default(), tokens: HashSet::new(), idle_pages: 0 }
    }

    fn len(&self) -> usize {
        self.names.objects.len() + self.names.odd.len() + self.names.below.len()
    }

    /// Adds a page. Returns the token for the next page, if there is one.
    fn add(&mut self, page: Page) -> Result<Option<String>, String> {
        let before = self.len();
        for object in page.objects {
            self.object(object)?;
        }
        for prefix in page.prefixes {
            let name = self.name(&prefix)?.strip_suffix(b"/").filter(|name| !name.contains(&b'/'));
            let name = name.ok_or_else(|| broken("folders", &prefix))?.to_owned();
            self.names.below.insert(name);
        }
        if self.len() > self.limits.names {
            return Err(format!("expected up to {} names in a folder, found more", self.limits.names));
        }
        self.idle_pages = if self.len() > before { 0 } else { self.idle_pages + 1 };
        let Some(token) = page.token else {
            return match page.is_truncated {
                true => Err("expected the rest of the listing, found no token to ask for it".to_owned()),
                false => Ok(None),
            };
        };
        if self.idle_pages >= self.limits.idle_pages {
            return Err(format!(
                "expected the end of the listing, found {} pages without a new name",
                self.idle_pages
            ));
        }
        match self.tokens.insert(token.clone()) {
            true => Ok(Some(token)),
            false => Err("expected a new token for the rest of the listing, found one that was there before"
                .to_owned()),
        }
    }

    fn object(&mut self, ListedObject { key, size, modified, e_tag }: ListedObject) -> Result<(), String> {
        let name = self.name(&key)?;
        if name.is_empty() {
            // The object stands for the folder itself.
            if size > 0 && is_wanted(key.strip_suffix(b"/").unwrap_or(&key)) {
                let error = key::parsed(&key).err();
                self.names.odd.extend(error.map(|error| (Vec::new(), error)));
            }
            return Ok(());
        }
        if name.contains(&b'/') {
            return Err(broken("names", &key));
        }
        let name = name.to_owned();
        match (key::parsed(&key), String::from_utf8(name)) {
            (Ok(location), Ok(name)) => {
                let meta = ObjectMeta { location, last_modified: modified, size, e_tag, version: None };
                self.names.objects.entry(name).or_insert(meta);
            }
            (Err(error), name) => {
                let name = name.map_or_else(|error| error.into_bytes(), String::into_bytes);
                if is_wanted(&name) {
                    self.names.odd.insert(name, error);
                }
            }
            // The whole key is UTF-8, and so is its end after a slash.
            (Ok(_), Err(_)) => {}
        }
        Ok(())
    }

    /// The part of a key or a prefix that follows the folder's prefix.
    fn name<'k>(&self, key: &'k [u8]) -> Result<&'k [u8], String> {
        key.strip_prefix(self.prefix).ok_or_else(|| broken("names", key))
    }
}

fn broken(what: &str, found: &[u8]) -> String {
    format!("expected a listing with {what} in the folder, found {}", escape(&found[..found.len().min(200)]))
}

/// Returns true for the name of a table or a log. An object whose key cannot be requested is reported only if it has
/// such a name.
pub(super) fn is_wanted(name: &[u8]) -> bool {
    is_log(name) || name.ends_with(b".ldb") || name.ends_with(b".sst")
}

/// Returns true for the name of a log.
pub(super) fn is_log(name: &[u8]) -> bool {
    name.ends_with(b".log")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(keys: &[&str], prefixes: &[&str], token: Option<&str>) -> Page {
        let object = |key: &&str| ListedObject {
            key: key.as_bytes().into(),
            size: 7,
            modified: chrono::DateTime::UNIX_EPOCH,
            e_tag: None,
        };
        Page {
            objects: keys.iter().map(object).collect(),
            prefixes: prefixes.iter().map(|prefix| prefix.as_bytes().into()).collect(),
            token: token.map(str::to_owned),
            is_truncated: token.is_some(),
        }
    }

    const FEW: Limits = Limits { names: 4, idle_pages: 3 };

    #[test]
    fn names_of_several_pages_are_put_together() {
        let mut pages = Pages::new(b"d/", FEW);
        assert_eq!(pages.add(page(&["d/2.ldb", "d/"], &[], Some("x"))), Ok(Some("x".to_owned())));
        assert_eq!(pages.add(page(&["d/1.ldb", "d/2.ldb", "d/\t", "d/\t.log"], &["d/e/"], None)), Ok(None));
        assert_eq!(pages.names.objects.keys().collect::<Vec<_>>(), ["1.ldb", "2.ldb"]);
        assert_eq!(pages.names.odd.keys().collect::<Vec<_>>(), [b"\t.log"]);
        assert_eq!(pages.names.below.iter().collect::<Vec<_>>(), [b"e"]);
    }

    #[test]
    fn pages_that_contradict_each_other_are_refused() {
        let refused = |given: Vec<Page>| {
            let mut pages = Pages::new(b"d/", FEW);
            let mut answers = given.into_iter().map(|page| pages.add(page)).collect::<Vec<_>>();
            let last = answers.pop().unwrap();
            assert!(answers.iter().all(|answer| matches!(answer, Ok(Some(_)))), "{answers:?}");
            last.unwrap_err()
        };
        let (x, y) = (Some("x"), Some("y"));
        let seen = refused(vec![page(&["d/1"], &[], x), page(&["d/2"], &[], y), page(&["d/3"], &[], x)]);
        assert!(seen.contains("one that was there before"), "{seen}");
        let cut = refused(vec![Page { is_truncated: true, ..page(&["d/1"], &[], None) }]);
        assert!(cut.contains("found no token"), "{cut}");
        let full = refused(vec![page(&["d/1", "d/2", "d/3.ldb"], &["d/e/", "d/f/"], None)]);
        assert!(full.contains("up to 4 names"), "{full}");
        // The first of these pages has a new name.
        let idle = ["a", "b", "c", "d"].map(|token| page(&["d/1", "d/"], &[], Some(token)));
        let idle = refused(idle.into());
        assert!(idle.contains("found 3 pages without a new name"), "{idle}");
        for (keys, prefixes) in [
            (&["e/1"][..], &[][..]),
            (&["1.ldb"], &[]),
            (&[], &["e/"]),
            (&["d/e/1"], &[]),
            (&[], &["d/"]),
            (&[], &["d/e/f/"]),
            (&[], &["d/e"]),
        ] {
            let elsewhere = refused(vec![page(keys, prefixes, None)]);
            assert!(elsewhere.contains("in the folder, found "), "{elsewhere}");
        }
    }
}
