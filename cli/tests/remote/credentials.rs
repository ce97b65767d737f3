//! Six ways to give credentials. The files for them are in a home folder of the test, and the servers on this machine.

use std::sync::Arc;

use serde_json::{Value, json};

use super::bucket::{Bucket, answer, decoded};
use super::process::{Found, program};
use super::server::{Reply, Request, Server};
use super::table;

const INSPECT: [&str; 4] = ["inspect", "--json", "--timeout", "1"];

/// A server with a table in a bucket. It refuses requests that `admits` does not accept.
fn guarded(admits: impl Fn(&Request) -> bool + Send + Sync + 'static) -> Server {
    let bucket = Bucket::new([(&b"d/000005.ldb"[..], table(300))]);
    Server::start(move |_, request| match admits(request) {
        true => answer(&[("bucket", &bucket)], request),
        false => {
            Reply::Answer("403 Forbidden", Vec::new(), b"<Error><Code>AccessDenied</Code></Error>".to_vec())
        }
    })
}

/// A server that accepts requests whose signature names this key and this region, and that have this token.
fn signed(key: &'static str, region: &'static str, token: Option<&'static str>) -> Server {
    guarded(move |request| {
        let authorization = request.header("authorization").unwrap_or_default();
        authorization.starts_with("AWS4-HMAC-SHA256 Credential=")
            && authorization.contains(&format!("Credential={key}/"))
            && authorization.contains(&format!("/{region}/s3/aws4_request"))
            && request.header("x-amz-security-token") == token
    })
}

fn inspect(url: &str, environment: &[(&str, &str)]) -> Found {
    Found::of(program(&[&INSPECT[..], &[url]].concat(), environment))
}

#[track_caller]
fn admitted(found: &Found) {
    assert_eq!((found.lines.len(), found.status), (3, 0), "{found:#?}");
}

#[track_caller]
fn denied(found: &Found, text: &str) {
    let Some(error) = found.lines[0]["error"].as_str() else { panic!("{found:#?}") };
    assert!(error.contains(text), "{found:#?}");
    assert_eq!((&found.lines[0]["error_kind"], found.status), (&"denied".into(), 2), "{found:#?}");
}

fn endpoint(server: &Server) -> String {
    format!("http://{}", server.address)
}

/// A home folder with the configuration files of AWS's tools.
fn home(credentials: &str, config: &str) -> tempfile::TempDir {
    let home = tempfile::Builder::new().prefix("home ü ").tempdir().unwrap();
    let folder = home.path().join(".aws");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("credentials"), credentials).unwrap();
    std::fs::write(folder.join("config"), config).unwrap();
    home
}

#[test]
fn keys_in_the_environment() {
    let server = signed("ENV", "eu-west-3", Some("TOKEN"));
    let endpoint = endpoint(&server);
    let environment = [
        ("AWS_ENDPOINT_URL", &*endpoint),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_ACCESS_KEY_ID", "ENV"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_SESSION_TOKEN", "TOKEN"),
        ("AWS_REGION", "eu-west-3"),
    ];
    admitted(&inspect("s3://bucket/d/", &environment));
    denied(&inspect("s3://bucket/d/", &environment[..4]), "AccessDenied");
}

#[test]
fn a_profile_in_the_files_of_the_tools() {
    let server = signed("WORK", "sa-east-1", None);
    let config = format!("[profile work]\nregion = sa-east-1\nendpoint_url = {}\n", endpoint(&server));
    let credentials = "[default]\naws_access_key_id = DEFAULT\naws_secret_access_key = a\n\
        [work]\naws_access_key_id = WORK\naws_secret_access_key = b\n";
    let home = home(credentials, &config);
    let path = home.path().to_str().unwrap();
    let at_home = [("HOME", path), ("USERPROFILE", path), ("AWS_ALLOW_HTTP", "true")];
    let with = |more: &[(&str, &str)]| inspect("s3://bucket/d/", &[&at_home[..], more].concat());
    admitted(&with(&[("AWS_PROFILE", "work")]));
    let url = endpoint(&server);
    denied(&with(&[("AWS_ENDPOINT_URL", &url)]), "AccessDenied");
    // An empty variable counts as not set, so the profile is the usual one.
    denied(&with(&[("AWS_ENDPOINT_URL", &url), ("AWS_PROFILE", "")]), "AccessDenied");
    // The environment comes first.
    let keys = [("AWS_ACCESS_KEY_ID", "ENV"), ("AWS_SECRET_ACCESS_KEY", "b"), ("AWS_PROFILE", "work")];
    denied(&with(&keys), "AccessDenied");
    denied(&with(&[("AWS_PROFILE", "other")]), "no profile other in ");
}

const ISSUED: &str = "2125-01-01T00:00:00Z";

/// The service that exchanges a token for keys is asked over TLS only.
#[test]
fn a_web_identity() {
    let service = Server::start_tls(|_, request| {
        let query = request.path.split_once('?').map_or(String::new(), |(_, query)| query.to_owned());
        let expected = [
            "Action=AssumeRoleWithWebIdentity",
            "RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr",
            "WebIdentityToken=e.y.J",
        ];
        match request.method == "POST" && expected.iter().all(|part| query.split('&').any(|given| given == *part)) {
            true => Reply::Answer(
                "200 OK",
                Vec::new(),
                format!(
                    "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>ROLE\
                     </AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>SESSION</SessionToken><Expiration>\
                     {ISSUED}</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>"
                )
                .into(),
            ),
            false => Reply::Answer("403 Forbidden", Vec::new(), Vec::new()),
        }
    });
    let server = signed("ROLE", "us-east-1", Some("SESSION"));
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, "e.y.J").unwrap();
    let (url, services) = (endpoint(&server), format!("https://{}", service.address));
    let both = [
        ("AWS_ENDPOINT_URL_S3", &*url),
        ("AWS_ENDPOINT_URL_STS", &services),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_ALLOW_INVALID_CERTIFICATES", "true"),
    ];
    let identity =
        [("AWS_WEB_IDENTITY_TOKEN_FILE", token.to_str().unwrap()), ("AWS_ROLE_ARN", "arn:aws:iam::1:role/r")];
    admitted(&inspect("s3://bucket/d/", &[&both[..], &identity].concat()));
    assert_eq!(service.requests().len(), 1);
    // The same with a profile.
    let config =
        format!("[profile web]\nrole_arn = {}\nweb_identity_token_file = {}\n", identity[1].1, identity[0].1);
    let home = home("", &config);
    let path = home.path().to_str().unwrap();
    let at_home = [("HOME", path), ("USERPROFILE", path), ("AWS_PROFILE", "web")];
    admitted(&inspect("s3://bucket/d/", &[&both[..], &at_home].concat()));
}

/// Version 2 of the metadata service of a machine in the cloud: a `PUT` request gets a token, which the next requests
/// send.
#[test]
fn the_metadata_of_an_instance() {
    let service = Server::start(|_, request| {
        let text = |text: &str| Reply::Answer("200 OK", Vec::new(), text.into());
        let roles = "/latest/meta-data/iam/security-credentials/";
        let has_token = request.header("x-aws-ec2-metadata-token") == Some("SESSION");
        match (&*request.method, request.path.strip_prefix(roles), has_token) {
            ("PUT", None, _) if request.path == "/latest/api/token" => text("SESSION"),
            ("GET", Some(""), true) => text("machine"),
            ("GET", Some("machine"), true) => text(&format!(
                "{{\"AccessKeyId\":\"MACHINE\",\"SecretAccessKey\":\"s\",\"Token\":\"T\",\"Expiration\":\"{ISSUED}\"}}"
            )),
            _ => Reply::Answer("401 Unauthorized", Vec::new(), Vec::new()),
        }
    });
    let server = signed("MACHINE", "us-east-1", Some("T"));
    let (url, metadata) = (endpoint(&server), endpoint(&service));
    let environment =
        [("AWS_ENDPOINT_URL", &*url), ("AWS_ALLOW_HTTP", "true"), ("AWS_METADATA_ENDPOINT", &metadata)];
    admitted(&inspect("s3://bucket/d/", &environment));
    assert_eq!(service.requests().len(), 3);
    // Files come before the metadata service.
    let home = home("[default]\naws_access_key_id = FILE\naws_secret_access_key = s\n", "");
    let path = home.path().to_str().unwrap();
    denied(
        &inspect("s3://bucket/d/", &[&environment[..], &[("HOME", path), ("USERPROFILE", path)]].concat()),
        "AccessDenied",
    );
    assert_eq!(service.requests().len(), 3);
}

const KEY: &str = include_str!("tls/key.pem");

/// Decodes base64 for URLs.
fn from_base64(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'-' => 62,
        _ => 63,
    };
    let bits: Vec<u8> = text.bytes().flat_map(|c| (0..6).rev().map(move |bit| value(c) >> bit & 1)).collect();
    bits.chunks_exact(8).map(|bits| bits.iter().fold(0, |byte, bit| byte << 1 | bit)).collect()
}

/// Returns true if a request has a token of this account, signed with its key.
fn has_token_of(request: &Request, account: &str) -> bool {
    use rustls::pki_types::{PrivateKeyDer, pem::PemObject as _};

    let Some(token) = request.header("authorization").and_then(|text| text.strip_prefix("Bearer ")) else {
        return false;
    };
    let (message, signature) = token.rsplit_once('.').unwrap();
    let claims: Value = serde_json::from_slice(&from_base64(message.split_once('.').unwrap().1)).unwrap();
    let key = PrivateKeyDer::from_pem_slice(KEY.as_bytes()).unwrap();
    let key = rustls::crypto::ring::sign::any_supported_type(&key).unwrap();
    let signer = key.choose_scheme(&[rustls::SignatureScheme::RSA_PKCS1_SHA256]).unwrap();
    claims["iss"] == account && signer.sign(message.as_bytes()).unwrap() == from_base64(signature)
}

#[test]
fn the_application_credentials_of_google() {
    let server = guarded(|request| has_token_of(request, "reader@example.org"));
    let folder = tempfile::tempdir().unwrap();
    let url = endpoint(&server);
    let file = |name: &str, account: &str| {
        let path = folder.path().join(name);
        let text = json!({
            "type": "service_account", "client_email": account, "private_key": KEY, "private_key_id": "1"
        });
        std::fs::write(&path, text.to_string()).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let with = |path: &str| {
        inspect("gs://bucket/d/", &[("GOOGLE_APPLICATION_CREDENTIALS", path), ("GOOGLE_BASE_URL", &url)])
    };
    admitted(&with(&file("reader.json", "reader@example.org")));
    denied(&with(&file("other.json", "other@example.org")), "AccessDenied");
    let missing = with("not there.json");
    assert!(missing.out.contains("not there.json") && missing.status == 2, "{missing:#?}");
}

/// A server that answers like Azure's. Each request's path begins with the account, as the endpoint's path does.
fn azure(admits: impl Fn(&Request) -> bool + Send + Sync + 'static) -> Server {
    let table = Arc::new(table(300));
    Server::start(move |_, request| {
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        match (decoded(path), query.contains("comp=list")) {
            _ if !admits(request) => Reply::Answer("403 Forbidden", Vec::new(), Vec::new()),
            (path, true) if path == b"/account/box" && query.contains("prefix=d%2F") => {
                let blob = format!(
                    "<Blob><Name>d/000005.ldb</Name><Properties><Last-Modified>Fri, 02 Jan 2026 03:04:05 GMT</Last-Modified>\
                     <Etag>a</Etag><Content-Length>{}</Content-Length></Properties></Blob>",
                    table.len()
                );
                let text = format!(
                    "\u{feff}<EnumerationResults><Blobs>{blob}</Blobs><NextMarker/></EnumerationResults>"
                );
                Reply::Answer("200 OK", Vec::new(), text.into())
            }
            (path, false) if path == b"/account/box/d/000005.ldb" => {
                let reply = super::server::part(request, &table, Some("\"a\""));
                let Reply::Answer(status, mut headers, body) = reply else { return reply };
                headers.push("Last-Modified: Fri, 02 Jan 2026 03:04:05 GMT".to_owned());
                Reply::Answer(status, headers, body)
            }
            _ => Reply::Answer("404 Not Found", Vec::new(), Vec::new()),
        }
    })
}

#[test]
fn a_connection_string_of_azure() {
    let by_key = azure(|request| {
        request.header("authorization").is_some_and(|text| text.starts_with("SharedKey account:"))
    });
    let with = |server: &Server, secret: &str| {
        let text = format!("AccountName=account;{secret};BlobEndpoint={}/account", endpoint(server));
        let environment = [
            ("AZURE_STORAGE_CONNECTION_STRING", &*text),
            ("AZURE_ALLOW_HTTP", "true"),
            // The connection string comes before these.
            ("AZURE_STORAGE_ACCOUNT_NAME", "other"),
            ("AZURE_STORAGE_ACCOUNT_KEY", "b3RoZXI="),
        ];
        inspect("az://box/d/", &environment)
    };
    admitted(&with(&by_key, "AccountKey=c2VjcmV0"));
    let by_signature = azure(|request| {
        request.path.contains("sig=a%2Fb")
            && request.path.contains("sv=2021-01-01")
            && request.header("authorization").is_none()
    });
    let signature = "SharedAccessSignature=sv=2021-01-01&sig=a%2Fb";
    admitted(&with(&by_signature, signature));
    denied(&with(&by_key, signature), "access denied");
    denied(&with(&by_key, "AccountKey="), "AZURE_STORAGE_CONNECTION_STRING: expected AccountKey");
}
