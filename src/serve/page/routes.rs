//! The paths of the page: the two documents, and the files that they load. None needs the token, since none shows a
//! question. Other sites may load the files, to use the elements; the documents are for this origin alone.

use axum::{
    Router,
    extract::{Path, Request},
    http::{
        HeaderMap, HeaderName, HeaderValue, Method, StatusCode,
        header::{
            ACCEPT_ENCODING, ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE,
            ETAG, IF_NONE_MATCH, VARY,
        },
    },
    response::{IntoResponse, Response},
    routing::get,
};

use super::{
    files::{FOLDER, File, Site},
    policy,
};
use crate::{
    control::inbox::Inbox,
    serve::{app::App, host::host, problem::Problem},
};

/// The path of the page.
pub(in crate::serve) const PAGE: &str = "/";
/// The path of the example page of the elements.
pub(in crate::serve) const ELEMENTS: &str = "/elements";

/// A content that its address names never changes.
const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
/// Kept, and asked for each time whether it is still the same.
const ASK_AGAIN: HeaderValue = HeaderValue::from_static("no-cache");

/// Returns whether a request is for a file that other sites may load.
pub(in crate::serve) fn is_file(method: &Method, path: &str) -> bool {
    [Method::GET, Method::HEAD].contains(method) && path.starts_with(FOLDER)
}

/// Returns the routes.
pub(in crate::serve) fn routes<I: Inbox>() -> Router<App<I>> {
    Router::new()
        .route(PAGE, get(async |request: Request| document("index.html", &request)))
        .route(ELEMENTS, get(async |request: Request| document("elements.html", &request)))
        .route("/page/{name}", get(file))
        .route("/page/{hash}/{name}", get(file_of_hash))
}

fn document(name: &str, request: &Request) -> Result<Response, Problem> {
    let site = Site::now();
    let file = site.document(name).ok_or_else(not_there)?;
    let mut response = reply(file, request.headers(), ASK_AGAIN);
    let requested = request.headers();
    policy::confine(response.headers_mut(), host(request.uri(), requested).as_ref(), requested);
    Ok(response)
}

async fn file(Path(name): Path<String>, headers: HeaderMap) -> Result<Response, Problem> {
    let site = Site::now();
    site.file(&name).map(|file| shared(reply(file, &headers, ASK_AGAIN))).ok_or_else(not_there)
}

async fn file_of_hash(
    Path((hash, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let site = Site::now();
    let file = site.file(&name).filter(|_| hash == site.hash);
    // A file of another version would stay in caches under this address.
    file.map(|file| shared(reply(file, &headers, FOR_EVER))).ok_or_else(not_there)
}

fn not_there() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "no_such_path", "the page has no such file")
}

/// Lets other sites load a file.
fn shared(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(policy::RESOURCE, HeaderValue::from_static("cross-origin"));
    response
}

fn reply(file: &File, headers: &HeaderMap, caching: HeaderValue) -> Response {
    let compressed = if lists(headers, ACCEPT_ENCODING, is_gzip) { file.compressed() } else { None };
    // Each representation has a tag of its own, by RFC 9110.
    let tags = [format!("\"{}\"", file.hash), format!("\"{}-gzip\"", file.hash)];
    let tag = &tags[usize::from(compressed.is_some())];
    let is_known = lists(headers, IF_NONE_MATCH, |known| {
        let known = known.strip_prefix("W/").unwrap_or(known);
        known == "*" || tags.iter().any(|tag| tag == known)
    });
    let encoding = compressed.is_some().then_some((CONTENT_ENCODING, HeaderValue::from_static("gzip")));
    let mut response = match is_known {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => {
            ([(CONTENT_TYPE, file.kind)], compressed.unwrap_or_else(|| file.content.clone())).into_response()
        }
    };
    let replied = response.headers_mut();
    replied.insert(CACHE_CONTROL, caching);
    replied.insert(VARY, HeaderValue::from_static("accept-encoding"));
    replied.extend(HeaderValue::try_from(tag).ok().map(|tag| (ETAG, tag)));
    replied.extend(encoding.filter(|_| !is_known));
    response
}

/// Returns whether a header lists a value of which this holds.
fn lists(headers: &HeaderMap, name: HeaderName, holds: impl Fn(&str) -> bool) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|value| holds(value.trim()))
}

/// Returns whether an accepted encoding is gzip. With a weight of zero it is refused.
fn is_gzip(accepted: &str) -> bool {
    let (name, weight) = accepted.split_once(';').unwrap_or((accepted, ""));
    let weight = weight.trim().strip_prefix("q=").map(str::parse::<f32>);
    name.trim().eq_ignore_ascii_case("gzip") && !matches!(weight, Some(Ok(0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_sent_only_where_it_is_accepted() {
        for (accepted, expected) in [
            ("gzip", true),
            ("GZIP;q=0.5", true),
            ("gzip; q=0", false),
            ("gzip;q=0.0", false),
            ("br", false),
            ("", false),
        ] {
            assert_eq!(is_gzip(accepted), expected, "{accepted}");
        }
        let headers =
            HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static("br, gzip;q=0.9, *;q=0"))]);
        assert!(lists(&headers, ACCEPT_ENCODING, is_gzip));
    }
}
