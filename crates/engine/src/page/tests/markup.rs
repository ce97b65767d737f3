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
        if node.name == "style" {
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

    /// The pictures in the node, without those that are parts of other pictures.
    pub(crate) fn pictures(&self) -> Vec<&Node> {
        match &*self.name {
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

/// Checks the rules for every page: there are only known elements, nothing is run and nothing loaded, pictures have
/// titles and descriptions, no `id` occurs twice, and there is no control character or mark that changes the direction
/// of text.
#[track_caller]
pub(crate) fn check(page: &str) -> Node {
    let root = read(page);
    const NAMES: &str = "html head meta title style body header main footer section div span p h1 h2 dl dt dd ul li b \
                         code pre figure details summary table thead tbody tr th td br svg desc g rect line path \
                         polyline polygon circle text tspan defs pattern clipPath use wbr figcaption small";
    for node in root.all().into_iter().filter(|node| !node.name.is_empty()) {
        assert!(NAMES.split_whitespace().any(|name| name == node.name), "<{}>", node.name);
        for (name, value) in &node.attributes {
            assert!(
                !name.starts_with("on") && !["src", "srcset", "action"].contains(&&**name),
                "{name}={value}"
            );
            assert!(!name.ends_with("href") || value.starts_with('#'), "{name}={value}");
            assert!(!value.contains("url(") || value.starts_with("url(#"), "{name}={value}");
            assert!(!value.contains("NaN") || node.name.is_empty(), "{name}={value}");
        }
    }
    for style in root.of_name("style") {
        assert!(!style.text.contains("@import") && !style.text.replace("url(#", "").contains("url("));
    }
    let policy =
        root.of_name("meta").into_iter().find(|meta| meta.attribute("http-equiv").is_some()).unwrap();
    assert_eq!(policy.attribute("content"), Some("default-src 'none'; style-src 'unsafe-inline'"));
    for svg in root.pictures() {
        assert_eq!(svg.attribute("role"), Some("img"));
        for name in ["title", "desc"] {
            let found = svg.children.iter().find(|child| child.name == name);
            assert!(found.is_some_and(|node| !node.words().trim().is_empty()), "a picture without {name}");
        }
    }
    let mut ids: Vec<_> = root.all().into_iter().filter_map(|node| node.attribute("id")).collect();
    let number = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), number, "an id twice");
    for scheme in ["http:", "https:", "//", "data:", "javascript:"] {
        let elsewhere = page.replace("http://www.w3.org/2000/svg", "").replace("/* */", "");
        let in_attributes = root.all().into_iter().flat_map(|node| &node.attributes);
        let mut values = in_attributes.filter(|(name, _)| name != "xmlns" && name != "class");
        assert!(
            !elsewhere.contains("src=http") && values.all(|(_, value)| !value.contains(scheme)),
            "{scheme}"
        );
    }
    let is_active = |c: &char| {
        (c.is_control() && *c != '\n')
            || matches!(c, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert_eq!(page.chars().find(is_active), None);
    root
}
