//! Reads HTML strictly: anything that a browser would mend is an error.

/// An element, or a run of text.
#[derive(Debug)]
pub(crate) struct Node {
    /// The name of the element; empty for text.
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) children: Vec<Node>,
    pub(crate) text: String,
}

/// The elements that have no end tag.
const VOID: [&str; 4] = ["meta", "br", "hr", "wbr"];

/// Reads a page. Panics at anything that is not well-formed.
pub(crate) fn read(page: &str) -> Node {
    let rest = page.strip_prefix("<!DOCTYPE html>").expect("a document type");
    let mut reader = Reader { page: rest, at: 0 };
    let root = reader.element();
    assert_eq!(reader.page[reader.at..].trim(), "", "behind the root");
    root
}

struct Reader<'a> {
    page: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.page[self.at..]
    }

    #[track_caller]
    fn fail(&self, what: &str) -> ! {
        let rest: String = self.rest().chars().take(80).collect();
        panic!("{what} at {}: {rest}", self.at);
    }

    fn take(&mut self, text: &str) -> bool {
        let is_there = self.rest().starts_with(text);
        self.at += if is_there { text.len() } else { 0 };
        is_there
    }

    fn until(&mut self, end: impl Fn(char) -> bool) -> String {
        let len = self.rest().find(end).unwrap_or_else(|| self.fail("the end"));
        let text = self.rest()[..len].to_owned();
        self.at += len;
        text
    }

    fn name(&mut self) -> String {
        let name = self.until(|c| !c.is_ascii_alphanumeric() && !"-:".contains(c));
        if name.is_empty() { self.fail("no name") } else { name }
    }

    fn element(&mut self) -> Node {
        if !self.take("<") {
            self.fail("no element");
        }
        let name = self.name();
        let mut attributes: Vec<(String, String)> = Vec::new();
        while !self.take(">") {
            if !self.take(" ") {
                self.fail("no space");
            }
            let attribute = self.name();
            assert!(attributes.iter().all(|(known, _)| *known != attribute), "{name}: {attribute} twice");
            let value = if self.take("=\"") {
                let value = self.until(|c| c == '"');
                self.at += 1;
                self.decoded(&value)
            } else {
                String::new()
            };
            attributes.push((attribute, value));
        }
        let mut node = Node { name, attributes, children: Vec::new(), text: String::new() };
        if VOID.contains(&&*node.name) {
            return node;
        }
        if ["style", "script"].contains(&&*node.name) {
            node.text = self.until(|c| c == '<');
        }
        let end = format!("</{}>", node.name);
        while !self.take(&end) {
            if self.rest().starts_with('<') {
                node.children.push(self.element());
            } else {
                let text = self.until(|c| c == '<');
                let text = self.decoded(&text);
                node.children.push(Node {
                    name: String::new(),
                    attributes: Vec::new(),
                    children: Vec::new(),
                    text,
                });
            }
        }
        node
    }

    fn decoded(&self, text: &str) -> String {
        if text.contains(['<', '>']) {
            self.fail("a bracket in text");
        }
        let mut parts = text.split('&');
        let mut decoded = parts.next().unwrap().to_owned();
        for part in parts {
            let (entity, behind) = part.split_once(';').unwrap_or_else(|| self.fail("a bare &"));
            decoded.push(match entity {
                "amp" => '&',
                "lt" => '<',
                "gt" => '>',
                "quot" => '"',
                _ => self.fail("an unknown entity"),
            });
            decoded.push_str(behind);
        }
        decoded
    }
}

impl Node {
    /// The node itself and all nodes below it.
    pub(crate) fn all(&self) -> Vec<&Node> {
        std::iter::once(self).chain(self.children.iter().flat_map(Node::all)).collect()
    }

    pub(crate) fn of_name(&self, name: &str) -> Vec<&Node> {
        self.all().into_iter().filter(|node| node.name == name).collect()
    }

    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| &**value)
    }

    /// The pictures in the node, without those that are parts of other pictures, or only repeat words beside them.
    pub(crate) fn pictures(&self) -> Vec<&Node> {
        match &*self.name {
            _ if self.attribute("aria-hidden") == Some("true") => Vec::new(),
            "svg" => vec![self],
            _ => self.children.iter().flat_map(Node::pictures).collect(),
        }
    }

    /// All text below the node, without styles.
    pub(crate) fn words(&self) -> String {
        let texts = self.all().into_iter().filter(|node| node.name.is_empty());
        texts.map(|node| &*node.text).collect()
    }
}

/// Checks the rules for every page: there are only known elements, nothing is loaded and nothing run but the script that
/// the policy allows, pictures have a label or stand beside words that say the same, no `id` occurs twice, and there is no
/// control character or mark that changes the direction of text.
#[track_caller]
pub(crate) fn check(page: &str) -> Node {
    let root = read(page);
    const NAMES: &str = "html head meta title style body header main footer section div span p h1 h2 h3 dl dt dd ul ol li \
                         b code figure details summary table thead tbody tr th td br svg g rect line path circle \
                         defs pattern symbol use figcaption small button script pre desc text";
    let mut ids: Vec<_> = root.all().into_iter().filter_map(|node| node.attribute("id")).collect();
    for node in root.all().into_iter().filter(|node| !node.name.is_empty()) {
        assert!(NAMES.split_whitespace().any(|name| name == node.name), "<{}>", node.name);
        for (name, value) in &node.attributes {
            assert!(
                !name.starts_with("on") && !["src", "srcset", "action"].contains(&&**name),
                "{name}={value}"
            );
            let target = value.strip_prefix('#').filter(|id| ids.contains(id));
            assert!(!name.ends_with("href") || target.is_some(), "{name}={value}");
            assert!(!value.contains("url(") || value.starts_with("url(#"), "{name}={value}");
            assert!(!value.contains("NaN"), "{name}={value}");
        }
    }
    for style in root.of_name("style") {
        assert!(!style.text.contains("@import") && !style.text.replace("url(#", "").contains("url("));
    }
    let [script] = root.of_name("script")[..] else { panic!("not one script") };
    let policy =
        root.of_name("meta").into_iter().find(|meta| meta.attribute("http-equiv").is_some()).unwrap();
    let allowed = format!("script-src 'sha256-{}'", base64(&sha256(script.text.as_bytes())));
    let expected = format!("default-src 'none'; style-src 'unsafe-inline'; {allowed}");
    assert_eq!(policy.attribute("content"), Some(&*expected));
    // Without the script, buttons do nothing.
    assert!(root.of_name("button").iter().all(|button| button.attribute("hidden").is_some()));
    for svg in root.pictures() {
        assert_eq!(svg.attribute("role"), Some("img"));
        let has = |name: &str| {
            svg.children.iter().any(|child| child.name == name && !child.words().trim().is_empty())
        };
        let has_label = svg.attribute("aria-label").is_some_and(|label| !label.trim().is_empty());
        assert!(has_label || has("title") && has("desc"), "a picture without words");
    }
    let number = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), number, "an id twice");
    for scheme in ["http:", "https:", "//", "data:", "javascript:"] {
        let mut values = root.all().into_iter().flat_map(|node| &node.attributes);
        assert!(values.all(|(name, value)| name == "xmlns" || !value.contains(scheme)), "{scheme}");
    }
    let is_active = |c: &char| {
        (c.is_control() && *c != '\n')
            || matches!(c, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert_eq!(page.chars().find(is_active), None);
    root
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |group: &[u8]| {
        let bits =
            (0..3).fold(0_usize, |bits, at| bits << 8 | group.get(at).map_or(0, |&byte| byte as usize));
        let letter =
            |at: usize| if at > group.len() { '=' } else { LETTERS[bits >> (18 - 6 * at) & 63] as char };
        (0..4).map(letter).collect::<String>()
    };
    bytes.chunks(3).map(group).collect()
}

/// FIPS 180-4.
fn sha256(text: &[u8]) -> [u8; 32] {
    let mut primes = Vec::new();
    primes.extend((2_u64..).filter(|n| (2..*n).all(|by| n % by != 0)).take(64));
    // The first 32 bits of the fractions of the roots.
    let fraction = |root: f64| (root.fract() * 2_f64.powi(32)) as u32;
    let constants: Vec<u32> = primes.iter().map(|prime| fraction((*prime as f64).cbrt())).collect();
    let mut hash: Vec<u32> = primes[..8].iter().map(|prime| fraction((*prime as f64).sqrt())).collect();
    let mut bytes = [text, &[0x80]].concat();
    bytes.resize(bytes.len().next_multiple_of(64) + if bytes.len() % 64 > 56 { 64 } else { 0 }, 0);
    let end = bytes.len() - 8;
    bytes[end..].copy_from_slice(&(text.len() as u64 * 8).to_be_bytes());
    for chunk in bytes.chunks(64) {
        let mut w: Vec<u32> =
            chunk.chunks(4).map(|word| u32::from_be_bytes(word.try_into().unwrap())).collect();
        for at in 16..64 {
            let (a, b) = (w[at - 15], w[at - 2]);
            let (a, b) = (
                a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3),
                b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10),
            );
            w.push(w[at - 16].wrapping_add(a).wrapping_add(w[at - 7]).wrapping_add(b));
        }
        let mut s = hash.clone();
        for (word, constant) in w.iter().zip(&constants) {
            let e = s[4].rotate_right(6) ^ s[4].rotate_right(11) ^ s[4].rotate_right(25);
            let chosen = s[4] & s[5] ^ !s[4] & s[6];
            let one = [s[7], e, chosen, *constant, *word].into_iter().fold(0, u32::wrapping_add);
            let a = s[0].rotate_right(2) ^ s[0].rotate_right(13) ^ s[0].rotate_right(22);
            let two = a.wrapping_add(s[0] & s[1] ^ s[0] & s[2] ^ s[1] & s[2]);
            s.rotate_right(1);
            (s[0], s[4]) = (one.wrapping_add(two), s[4].wrapping_add(one));
        }
        hash.iter_mut().zip(s).for_each(|(sum, word)| *sum = sum.wrapping_add(word));
    }
    let mut digest = [0; 32];
    digest.chunks_mut(4).zip(hash).for_each(|(to, word)| to.copy_from_slice(&word.to_be_bytes()));
    digest
}
