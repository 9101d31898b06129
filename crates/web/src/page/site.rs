//! The documents and files of the page: their paths, their hashes, and the headers that restrict what the page may load
//! and send. A release build embeds the files in the program; a debug build reads them from the source folder at each
//! request.
//! None of the paths needs the token, since none discloses a question. Other sites may load the files, to use the
//! elements; only this origin may use the documents.
//! Signing in is left to `sign_in.rs`.

use std::{
    collections::BTreeMap,
    io::Write,
    sync::{Arc, OnceLock},
};

use askbridge_control::inbox::Inbox;
use axum::{
    Router,
    body::Bytes,
    extract::{Path, Request},
    http::{
        HeaderMap, HeaderName, HeaderValue, Method, StatusCode,
        header::{
            ACCEPT_ENCODING, ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_ENCODING,
            CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, REFERRER_POLICY, VARY,
            X_FRAME_OPTIONS,
        },
        uri::Authority,
    },
    response::{IntoResponse, Response},
    routing::get,
};
use data_encoding::HEXLOWER;
use flate2::{Compression, write::GzEncoder};
use rust_embed::Embed;
use sha2::{Digest, Sha256};

use crate::{
    app::App,
    host::{SEC_FETCH_SITE, host},
    problem::Problem,
};

/// The prefix of the paths of all files.
pub(super) const FOLDER: &str = "/page/";

/// A smaller file is not compressed, since that would save little. In bytes.
const WORTH_COMPRESSING: usize = 512;

/// Hexadecimal digits of a hash in an address: enough that two versions never share a hash by chance.
const DIGITS: usize = 32;

#[derive(Embed)]
#[folder = "src/page/web/"]
struct Web;

/// The content of all files, by their names.
type Sources = BTreeMap<String, Bytes>;

/// Reads all files.
fn sources() -> Sources {
    Web::iter()
        .filter_map(|name| {
            let content = Web::get(&name)?.data;
            let is_code = name.ends_with(".js") || name.ends_with(".css");
            let content = if is_code { without_comments(&content) } else { content.into_owned() };
            Some((name.to_string(), content.into()))
        })
        .collect()
}

/// Returns a script or a style without the lines that are comments: they are for those who read the source, and are an
/// eighth of what would be sent.
fn without_comments(content: &[u8]) -> Vec<u8> {
    let mut is_within = false;
    let is_code = |line: &&[u8]| {
        let text = line.trim_ascii();
        let is_block = is_within || text.starts_with(b"/*");
        is_within = is_block && !text.ends_with(b"*/");
        !is_block && !text.starts_with(b"//")
    };
    content.split_inclusive(|byte| *byte == b'\n').filter(is_code).collect::<Vec<_>>().concat()
}

/// A snapshot of all files.
#[derive(Debug)]
pub(super) struct Site {
    /// The hash of all files together, hexadecimal.
    pub(super) hash: String,
    files: BTreeMap<String, Arc<File>>,
}

/// One file.
#[derive(Debug)]
pub(super) struct File {
    /// Its MIME type.
    pub(super) kind: &'static str,
    /// The hash of its content, hexadecimal.
    pub(super) hash: String,
    /// Its content.
    pub(super) content: Bytes,
    compressed: OnceLock<Bytes>,
}

impl Site {
    /// Returns the current files.
    pub(super) fn now() -> Arc<Self> {
        static EMBEDDED: OnceLock<Arc<Site>> = OnceLock::new();
        match cfg!(debug_assertions) {
            // A debug build reads the files again, so that a change of them shows with the next reload.
            true => Arc::new(Self::new(sources())),
            false => Arc::clone(EMBEDDED.get_or_init(|| Arc::new(Self::new(sources())))),
        }
    }

    fn new(sources: Sources) -> Self {
        let files: BTreeMap<_, _> = sources
            .into_iter()
            .filter_map(|(name, content)| {
                let file = File::new(&name, content)?;
                Some((name, Arc::new(file)))
            })
            .collect();
        let mut all = Sha256::new();
        // The separator keeps different names and hashes from resulting in the same bytes.
        for (name, file) in &files {
            all.update(name);
            all.update([0]);
            all.update(&file.hash);
        }
        let mut site = Site { hash: hex(&all.finalize()), files };
        // The links are changed only after the hash is known: the hash covers the documents before their links have it.
        let linked = format!("{FOLDER}{}/", site.hash);
        for (name, file) in &mut site.files {
            if name.ends_with(".html") {
                *file = Arc::new(file.linked_to(&linked));
            }
        }
        site
    }

    /// Returns a file that other files link to.
    pub(super) fn file(&self, name: &str) -> Option<&Arc<File>> {
        // A document is served only at its own path, together with its policy.
        self.files.get(name).filter(|_| !name.ends_with(".html"))
    }

    /// Returns a document. Its links lead to the files of this snapshot.
    pub(super) fn document(&self, name: &str) -> Option<&Arc<File>> {
        self.files.get(name)
    }
}

impl File {
    fn new(name: &str, content: Bytes) -> Option<Self> {
        let (_, extension) = name.rsplit_once('.')?;
        let kind = match extension {
            "css" => "text/css; charset=utf-8",
            "html" => "text/html; charset=utf-8",
            "js" => "text/javascript; charset=utf-8",
            "json" => "application/json",
            "svg" => "image/svg+xml",
            // Other files are left out, such as a backup that an editor keeps beside a file.
            _ => return None,
        };
        let hash = hex(&Sha256::digest(&content));
        Some(File { kind, hash, content, compressed: OnceLock::new() })
    }

    /// Returns the document with its links changed to `folder`.
    fn linked_to(&self, folder: &str) -> Self {
        let text = String::from_utf8_lossy(&self.content);
        let link = |text: &str, attribute: &str| {
            text.replace(&format!("{attribute}=\"{FOLDER}"), &format!("{attribute}=\"{folder}"))
        };
        let content = Bytes::from(link(&link(&text, "href"), "src"));
        let hash = hex(&Sha256::digest(&content));
        File { kind: self.kind, hash, content, compressed: OnceLock::new() }
    }

    /// Returns the content compressed by gzip, if that is worthwhile.
    pub(super) fn compressed(&self) -> Option<Bytes> {
        if self.content.len() < WORTH_COMPRESSING {
            return None;
        }
        let compressed = self.compressed.get_or_init(|| gzip(&self.content).unwrap_or_default());
        let is_smaller = !compressed.is_empty() && compressed.len() < self.content.len();
        is_smaller.then(|| compressed.clone())
    }
}

fn gzip(content: &[u8]) -> std::io::Result<Bytes> {
    // Each file is compressed once, so the slowest level costs little.
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content)?;
    Ok(encoder.finish()?.into())
}

/// Returns the beginning of a hash.
fn hex(hash: &[u8]) -> String {
    HEXLOWER.encode(&hash[..DIGITS / 2])
}

const OPENER: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const PERMISSIONS: HeaderName = HeaderName::from_static("permissions-policy");

/// The name of a header that says which pages may load a file.
pub(super) const RESOURCE: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// The browser features that the page does not need.
const NO_DEVICES: &str = "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), \
                          magnetometer=(), microphone=(), midi=(), payment=(), usb=()";

/// Adds the headers that restrict a document. `host` and `requested` are the host and the headers of the request.
pub(super) fn confine(headers: &mut HeaderMap, host: Option<&Authority>, requested: &HeaderMap) {
    // The only variable part of the policy is a host that the guard has accepted.
    headers.extend(HeaderValue::try_from(policy(host)).ok().map(|policy| (CONTENT_SECURITY_POLICY, policy)));
    for (name, value) in [
        (REFERRER_POLICY, "no-referrer"),
        (RESOURCE, "same-origin"),
        (X_FRAME_OPTIONS, "DENY"),
        (PERMISSIONS, NO_DEVICES),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // A page that the user opens has no opener to be isolated from. With the header, browsers switch to another process
    // after they have read it, and paint the page a third later.
    headers.append(VARY, HeaderValue::from_name(SEC_FETCH_SITE));
    if requested.get(SEC_FETCH_SITE).is_none_or(|site| site != "none") {
        headers.insert(OPENER, HeaderValue::from_static("same-origin"));
    }
}

fn policy(host: Option<&Authority>) -> String {
    // By CSP 3, 'self' includes the WebSocket of this host; older browsers need it by name.
    let websocket = host.map(|host| format!(" ws://{host}")).unwrap_or_default();
    // Agents' previews have inline styles. They are in a frame without scripts, which inherits this policy.
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
         connect-src 'self'{websocket}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; frame-src 'none'; \
         require-trusted-types-for 'script'; trusted-types askbridge-preview"
    )
}

/// The path of the page.
pub(crate) const PAGE: &str = "/";
/// The path of the example page of the elements.
pub(crate) const ELEMENTS: &str = "/elements";

/// For content whose address has its hash: it never changes.
const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
/// For content that is cached, but revalidated each time.
const ASK_AGAIN: HeaderValue = HeaderValue::from_static("no-cache");

/// Returns whether a request is for a file that other sites may load.
pub(crate) fn is_file(method: &Method, path: &str) -> bool {
    [Method::GET, Method::HEAD].contains(method) && path.starts_with(FOLDER)
}

/// Returns the routes.
pub(crate) fn routes<I: Inbox>() -> Router<App<I>> {
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
    confine(response.headers_mut(), host(request.uri(), requested).as_ref(), requested);
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
    // A wrong hash is refused: caches would keep the file of another version under this address.
    file.map(|file| shared(reply(file, &headers, FOR_EVER))).ok_or_else(not_there)
}

fn not_there() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "no_such_path", "the page has no such file")
}

/// Lets other sites load a file.
fn shared(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(RESOURCE, HeaderValue::from_static("cross-origin"));
    response
}

fn reply(file: &File, headers: &HeaderMap, caching: HeaderValue) -> Response {
    let compressed = if lists(headers, ACCEPT_ENCODING, is_gzip) { file.compressed() } else { None };
    // By RFC 9110, each representation has an entity tag of its own.
    let tags = [format!("\"{}\"", file.hash), format!("\"{}-gzip\"", file.hash)];
    let tag = &tags[usize::from(compressed.is_some())];
    let is_known = lists(headers, IF_NONE_MATCH, |known| {
        // By RFC 9110, If-None-Match uses the weak comparison.
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
    // A 304 has no body that could be encoded.
    replied.extend(encoding.filter(|_| !is_known));
    response
}

/// Returns whether a header lists a value for which the predicate holds.
fn lists(headers: &HeaderMap, name: HeaderName, holds: impl Fn(&str) -> bool) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|value| holds(value.trim()))
}

/// Returns whether an entry of Accept-Encoding accepts gzip. A weight of zero refuses it.
fn is_gzip(accepted: &str) -> bool {
    let (name, weight) = accepted.split_once(';').unwrap_or((accepted, ""));
    let weight = weight.trim().strip_prefix("q=").map(str::parse::<f32>);
    name.trim().eq_ignore_ascii_case("gzip") && !matches!(weight, Some(Ok(0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_left_out_and_no_line_of_code() {
        let source = "// a\nlet b = 1; // c\n  /** d */\n/*\n e\n */\nconst f = `/* g`;\n/* h\ni */\nj";
        let code = "let b = 1; // c\nconst f = `/* g`;\nj";
        assert_eq!(String::from_utf8(without_comments(source.as_bytes())).unwrap(), code);
    }

    #[test]
    fn hash_of_all_files_is_in_the_links_of_a_document() {
        let document =
            File::new("index.html", r#"<link href="/page/a.css"><script src="/page/b.js">"#.into());
        let linked = document.expect("HTML").linked_to("/page/0f/");
        assert_eq!(&*linked.content, br#"<link href="/page/0f/a.css"><script src="/page/0f/b.js">"#);
    }

    #[test]
    fn documents_are_no_files_and_only_known_kinds_are_files() {
        let site = Site::now();
        assert!(site.file("dom.js").is_some() && site.file("index.html").is_none());
        assert!(File::new("dom.js.orig", Bytes::new()).is_none());
        assert!(File::new("README", Bytes::new()).is_none());
    }

    #[test]
    fn files_are_served_as_they_are_written() {
        for name in ["a.js", "a.css", "a.html", "a.json"] {
            let file = File::new(name, "/* A */\n  b {}\n".into()).expect("a file");
            assert_eq!(file.content, "/* A */\n  b {}\n", "{name}");
        }
    }

    #[test]
    fn compressed_content_is_the_content() {
        use std::io::Read;
        let text = "answer ".repeat(1000);
        let file = File::new("a.css", text.clone().into()).expect("a style");
        let compressed = file.compressed().expect("it is worth it");
        assert!(compressed.len() < text.len() / 10);
        let mut read = String::new();
        flate2::read::GzDecoder::new(&*compressed).read_to_string(&mut read).expect("gzip");
        assert_eq!(read, text);
        assert!(File::new("a.css", "short".into()).expect("a style").compressed().is_none());
    }

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
