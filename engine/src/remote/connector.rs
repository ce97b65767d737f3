//! The connection to a store, in which the answers with listings are read before the client sees them.
//!
//! The client signs requests, sends them, and retries them. In place of a listing, the client is given an empty one.
//! The contents of the listing bypass the client as an extension of the response.

use std::{pin::Pin, sync::Arc};

use futures_util::StreamExt as _;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
    HttpService, ReqwestConnector,
};
use object_store::list::PaginatedListResult;
use object_store::{ClientOptions, Result};

use super::answer::{self, Page};

/// The maximum size of an answer in bytes. 1,000 keys of 1,024 bytes take less, even if most bytes are written as XML
/// character references.
const MAX_ANSWER: usize = 32 << 20;
/// An empty listing for S3, Google Cloud Storage and Azure alike.
const EMPTY: &str = "<Listing><Blobs/></Listing>";

/// Marks a request for a listing.
#[derive(Clone, Copy)]
pub(super) struct ListingRequest;

/// The contents of a listing, or the reason why it cannot be read.
#[derive(Clone)]
struct Answer(Arc<std::result::Result<Page, String>>);

/// Takes the names out of the client's result.
pub(super) fn names(mut result: PaginatedListResult) -> std::result::Result<Page, String> {
    let held = result.result.extensions.remove::<Answer>();
    held.and_then(|held| Arc::into_inner(held.0)).unwrap_or_else(|| Err("expected a listing".to_owned()))
}

/// Connects with [`reqwest`].
#[derive(Debug)]
pub(super) struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> Result<HttpClient> {
        let client = ReqwestConnector::default().connect(options)?;
        Ok(HttpClient::new(Connection(client)))
    }
}

#[derive(Debug)]
struct Connection(HttpClient);

impl HttpService for Connection {
    fn call<'a, 'f>(
        &'a self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = std::result::Result<HttpResponse, HttpError>> + Send + 'f>>
    where
        'a: 'f,
    {
        Box::pin(async move {
            let is_listing = request.extensions().get::<ListingRequest>().is_some();
            let response = self.0.execute(request).await?;
            if !is_listing || !response.status().is_success() {
                return Ok(response);
            }
            let (mut parts, body) = response.into_parts();
            let read = answer::parse(&collected(body).await?);
            parts.extensions.insert(Answer(Arc::new(read)));
            Ok(HttpResponse::from_parts(parts, EMPTY.to_owned().into()))
        })
    }
}

async fn collected(body: HttpResponseBody) -> std::result::Result<Vec<u8>, HttpError> {
    let mut bytes = Vec::new();
    let mut stream = body.bytes_stream();
    while let Some(part) = stream.next().await {
        bytes.extend_from_slice(&part?);
        if bytes.len() > MAX_ANSWER {
            let message = format!("expected a listing of up to {MAX_ANSWER} bytes, found a longer one");
            return Err(HttpError::new(HttpErrorKind::Unknown, std::io::Error::other(message)));
        }
    }
    Ok(bytes)
}
