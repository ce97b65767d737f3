use super::*;

const TIME: &str = "2026-01-02T03:04:05.000Z";

fn s3(inner: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">{inner}\
         </ListBucketResult>"
    )
}

fn object(key: &str) -> String {
    format!("<Contents><Key>{key}</Key><LastModified>{TIME}</LastModified><Size>7</Size></Contents>")
}

#[test]
fn a_key_is_its_text_to_the_last_space() {
    for (written, key) in [
        ("a.ldb", "a.ldb"),
        (" a ", " a "),
        ("&#9;a&#xA;\n&amp;&lt;&quot;", "\ta\n\n&<\""),
        ("<![CDATA[a<b]]>", "a<b"),
        ("a%2Fb", "a%2Fb"),
        ("", ""),
    ] {
        let page = parse(s3(&object(written)).as_bytes()).unwrap();
        assert_eq!(page.objects[0].key, key.as_bytes(), "{written}");
    }
    let mut bytes = s3(&object("a?b")).into_bytes();
    let at = bytes.windows(3).position(|part| part == b"a?b").unwrap();
    bytes[at + 1] = 0xff;
    assert_eq!(parse(&bytes).unwrap().objects[0].key, b"a\xffb");
}

#[test]
fn all_of_a_listing_of_s3_is_taken() {
    let text = format!(
        "<Name>b</Name><Prefix>d/</Prefix><IsTruncated>true</IsTruncated><NextContinuationToken>a&amp;b\
         </NextContinuationToken><Contents><Key>d/1.ldb</Key><ETag>&quot;x&quot;</ETag><Size>7</Size><Owner><ID>o</ID>\
         </Owner><LastModified>{TIME}</LastModified></Contents>{}<CommonPrefixes><Prefix>d/e/</Prefix></CommonPrefixes>",
        object("d/2.ldb")
    );
    let page = parse(s3(&text).as_bytes()).unwrap();
    let modified = TIME.parse().unwrap();
    assert_eq!(
        page,
        Page {
            objects: vec![
                ListedObject { key: b"d/1.ldb".into(), size: 7, modified, e_tag: Some("\"x\"".to_owned()) },
                ListedObject { key: b"d/2.ldb".into(), size: 7, modified, e_tag: None },
            ],
            prefixes: vec![b"d/e/".into()],
            token: Some("a&b".to_owned()),
            is_truncated: true,
        }
    );
}

/// The answer has the mark that Azure puts before its answers, a folder of a hierarchical namespace, and a name that
/// XML cannot hold.
#[test]
fn all_of_a_listing_of_azure_is_taken() {
    let blob = |name: &str, more: &str| {
        format!(
            "<Blob>{name}<Properties><Last-Modified>Fri, 02 Jan 2026 03:04:05 GMT</Last-Modified><Etag>0x8</Etag>\
             <Content-Length>7</Content-Length>{more}</Properties></Blob>"
        )
    };
    let text = format!(
        "\u{feff}<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults ContainerName=\"b\"><Prefix>d/</Prefix>\
         <Blobs>{}{}{}<BlobPrefix><Name>d/e/</Name></BlobPrefix></Blobs><NextMarker>m</NextMarker></EnumerationResults>",
        blob("<Name>d/%20.ldb</Name>", ""),
        blob("<Name>d/f</Name>", "<ResourceType>directory</ResourceType>"),
        blob("<Name Encoded=\"true\">d/%EF%BF%BF%20.ldb</Name>", "<ResourceType>file</ResourceType>"),
    );
    let page = parse(text.as_bytes()).unwrap();
    let keys: Vec<_> = page.objects.iter().map(|object| str::from_utf8(&object.key).unwrap()).collect();
    assert_eq!(keys, ["d/%20.ldb", "d/\u{ffff} .ldb"]);
    assert_eq!(page.objects[0].modified, TIME.parse::<DateTime<Utc>>().unwrap());
    assert_eq!((page.objects[0].size, page.objects[0].e_tag.as_deref()), (7, Some("0x8")));
    assert_eq!((page.prefixes, page.token.as_deref()), (vec![b"d/e/".to_vec()], Some("m")));
    let last = parse(b"<EnumerationResults><Blobs/><NextMarker/></EnumerationResults>").unwrap();
    assert_eq!(last, Page::default());
}

#[test]
fn what_is_no_listing_is_named() {
    let sound = s3(&object("a"));
    for cut in 0..sound.len() {
        assert!(parse(&sound.as_bytes()[..cut]).is_err(), "{}", &sound[..cut]);
    }
    for (text, found) in [
        ("", "found no XML"),
        ("ok", "found no XML"),
        ("<!DOCTYPE html><html><br></html>", "found the element html"),
        ("<Error><Code>SlowDown</Code></Error>", "found the error SlowDown"),
        ("<Error/>", "found an error"),
        (&s3("<Contents><Key>a</Key></Contents>"), "found one without"),
        (&s3(&object("a").replace(">7<", ">-7<")), "expected a size, found -7"),
        (&s3(&object("a").replace(TIME, "now")), "expected a time, found now"),
        (&s3("&unknown;"), "found unknown"),
        (&s3("</x>"), "expected XML, found at byte"),
        (&"<ListBucketResult>".repeat(1000), "elements within elements without end"),
        (&[&*sound, &sound].concat(), "found the element ListBucketResult"),
    ] {
        let error = parse(text.as_bytes()).unwrap_err();
        assert!(error.contains(found), "{text}: {error}");
    }
}
