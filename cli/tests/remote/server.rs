//! A server on this machine that answers requests as a script says, and ends by itself.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// The time after which the server ends, whatever requests there were.
const LIFETIME: Duration = Duration::from_secs(20);

/// A request to the server.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    headers: Vec<String>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find_map(|line| {
            let (key, value) = line.split_once(": ")?;
            key.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    /// The first and the last offset of the requested range.
    pub(crate) fn range(&self) -> Option<(usize, usize)> {
        let (first, last) = self.header("range")?.strip_prefix("bytes=")?.split_once('-')?;
        Some((first.parse().ok()?, last.parse().ok()?))
    }
}

/// The server's reaction to a request.
pub(crate) enum Reply {
    /// A status line, headers, and a body.
    Answer(&'static str, Vec<String>, Vec<u8>),
    /// The connection is closed after this many bytes of the answer, which declares more.
    CutOff(Vec<u8>, usize),
    /// The connection is reset before an answer.
    Reset,
    /// The connection stays open without an answer.
    Stall,
}

/// The usual answer to a request for `body` or a range of it.
pub(crate) fn part(request: &Request, body: &[u8], e_tag: Option<&str>) -> Reply {
    let mut headers: Vec<String> = e_tag.iter().map(|tag| format!("ETag: {tag}")).collect();
    if request.method == "HEAD" {
        headers.push(format!("Content-Length: {}", body.len()));
        return Reply::Answer("200 OK", headers, Vec::new());
    }
    let Some((first, last)) = request.range() else {
        return Reply::Answer("200 OK", headers, body.to_vec());
    };
    let last = last.min(body.len() - 1);
    headers.push(format!("Content-Range: bytes {first}-{last}/{}", body.len()));
    Reply::Answer("206 Partial Content", headers, body[first..=last].to_vec())
}

pub(crate) struct Server {
    pub(crate) address: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Starts a server that answers with `script`. The script is given the request and its number.
    pub(crate) fn start(script: impl Fn(usize, &Request) -> Reply + Send + Sync + 'static) -> Self {
        Self::run(None, script)
    }

    /// Starts a server with TLS and a self-signed certificate.
    pub(crate) fn start_tls(script: impl Fn(usize, &Request) -> Reply + Send + Sync + 'static) -> Self {
        use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _};

        let certificate = CertificateDer::from_pem_slice(include_bytes!("tls/certificate.pem")).unwrap();
        let key = PrivateKeyDer::from_pem_slice(include_bytes!("tls/key.pem")).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .unwrap();
        Self::run(Some(Arc::new(config)), script)
    }

    fn run(
        tls: Option<Arc<rustls::ServerConfig>>,
        script: impl Fn(usize, &Request) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let requests: Arc<Mutex<Vec<Request>>> = Arc::default();
        let (script, seen) = (Arc::new(script), Arc::clone(&requests));
        thread::spawn(move || {
            let start = Instant::now();
            while start.elapsed() < LIFETIME {
                let Ok((stream, _)) = listener.accept() else {
                    thread::sleep(Duration::from_millis(2));
                    continue;
                };
                let (script, seen) = (Arc::clone(&script), Arc::clone(&seen));
                stream.set_nonblocking(false).unwrap();
                stream.set_read_timeout(Some(LIFETIME)).unwrap();
                let tls = tls.clone();
                thread::spawn(move || match tls {
                    None => serve(stream, &*script, &seen),
                    Some(config) => {
                        let connection = rustls::ServerConnection::new(config).unwrap();
                        serve(rustls::StreamOwned::new(connection, stream), &*script, &seen);
                    }
                });
            }
        });
        Self { address, requests }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve(stream: impl Read + Write, script: &dyn Fn(usize, &Request) -> Reply, seen: &Mutex<Vec<Request>>) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            match reader.read_line(&mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) if line.trim_end().is_empty() => break,
                Ok(_) => lines.push(line.trim_end().to_owned()),
            }
        }
        let mut first = lines[0].split(' ').map(str::to_owned);
        let (method, path) = (first.next().unwrap(), first.next().unwrap());
        let request = Request { method, path, headers: lines.split_off(1) };
        let number = {
            let mut seen = seen.lock().unwrap();
            seen.push(request.clone());
            seen.len() - 1
        };
        match script(number, &request) {
            Reply::Answer(status, headers, body) => {
                let mut head = format!("HTTP/1.1 {status}\r\n");
                headers.iter().for_each(|header| head += &format!("{header}\r\n"));
                if !head.contains("Content-Length") {
                    head += &format!("Content-Length: {}\r\n", body.len());
                }
                let answer = [head.as_bytes(), b"\r\n", &body[..]].concat();
                if reader.get_mut().write_all(&answer).is_err() {
                    return;
                }
            }
            Reply::CutOff(answer, len) => {
                let _ = reader.get_mut().write_all(&answer[..len.min(answer.len())]);
                return;
            }
            Reply::Reset => {
                // Unread bytes make the system reset the connection.
                return;
            }
            Reply::Stall => {
                thread::sleep(LIFETIME);
                return;
            }
        }
    }
}
