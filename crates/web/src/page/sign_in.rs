//! Signs a browser in: the browser shows the token or a code once, and gets a cookie and a key. Together they open the
//! WebSocket of the page, and nothing else. Both are derived from the token: the server stores nothing, they survive
//! its restart, and they become invalid with the token.
//!
//! Neither suffices alone. A browser sends a cookie to every port of a host, so another server on this machine sees it,
//! but no script can read it. The key is in the storage of this very origin, where another port cannot read it, and a
//! browser sends it nowhere by itself.
//!
//! A code is valid for one sign-in at one server, and for a few minutes. It may be in the command line of a browser and
//! in a QR code, where the token must never be.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use askbridge_control::inbox::Inbox;
use askbridge_core::desk::Refusal;
use axum::{
    Extension, Json, Router,
    body::Bytes,
    extract::Request,
    http::{
        HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri,
        header::{COOKIE, ORIGIN, SEC_WEBSOCKET_PROTOCOL, SET_COOKIE, UPGRADE},
    },
    response::{IntoResponse, Response},
    routing::get,
};
use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

use crate::{
    app::App,
    body,
    host::host,
    limits,
    problem::Problem,
    token::{Token, TokenError},
    visitors::{Rate, Visitor},
};

/// Bytes of the number that makes a code unique.
const NONCE: usize = 8;
/// Bytes of a code's MAC, which is cut to half its length, as RFC 2104 allows. A shorter code makes a QR code that fits
/// a small terminal.
const MAC: usize = 16;

/// Creates a code for the server with this token at this port.
pub fn make(token: &Token, port: u16, now: SystemTime) -> Result<String, TokenError> {
    let mut nonce = [0; NONCE];
    getrandom::fill(&mut nonce).map_err(|_| TokenError::NoRandom)?;
    let expiry = seconds(now) + limits::CODE.as_secs();
    let nonce = format!("{:016x}", u64::from_be_bytes(nonce));
    let mac = HEXLOWER.encode(&mac(token, port, expiry, &nonce));
    Ok(format!("{expiry:x}.{nonce}.{mac}"))
}

/// Checks codes, and remembers those that were used.
#[derive(Debug)]
pub(crate) struct Codes {
    token: Token,
    port: u16,
    /// When the server started. It does not know which codes were used before.
    started: u64,
    /// When each used code expires, by its nonce.
    taken: Mutex<BTreeMap<String, u64>>,
}

/// Why a code is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CodeError {
    /// It is not a code of this server.
    Unknown,
    /// It has expired, or is older than the server.
    Expired,
    /// It was used before.
    Used,
    /// It came from another user of this machine.
    OtherUser,
}

impl Codes {
    /// Accepts codes for this port from now on.
    pub(crate) fn new(token: Token, port: u16, now: SystemTime) -> Self {
        Codes { token, port, started: seconds(now), taken: Mutex::default() }
    }

    /// Uses up a code. The same code is refused from then on.
    pub(crate) fn take(&self, code: &str, now: SystemTime) -> Result<(), CodeError> {
        let mut parts = code.split('.');
        let (Some(expiry), Some(nonce), Some(shown), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(CodeError::Unknown);
        };
        let expiry = u64::from_str_radix(expiry, 16).map_err(|_| CodeError::Unknown)?;
        let expected = HEXLOWER.encode(&mac(&self.token, self.port, expiry, nonce));
        if !bool::from(expected.as_bytes().ct_eq(shown.as_bytes())) {
            return Err(CodeError::Unknown);
        }
        // The server does not remember which codes were used before its start, so it refuses all codes of that time.
        let made = expiry.saturating_sub(limits::CODE.as_secs());
        if expiry < seconds(now) || made < self.started {
            return Err(CodeError::Expired);
        }
        // Nothing panics while the lock is held, so the data is consistent.
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        // An expired code is refused anyway, so it need not be remembered.
        taken.retain(|_, expiry| *expiry >= seconds(now));
        if taken.contains_key(nonce) {
            return Err(CodeError::Used);
        }
        // Only a program that has the token can make so many codes.
        if taken.len() >= limits::CODES {
            return Err(CodeError::Expired);
        }
        taken.insert(nonce.to_owned(), expiry);
        Ok(())
    }
}

fn mac(token: &Token, port: u16, expiry: u64, nonce: &str) -> [u8; MAC] {
    let mac = token.mac(&format!("open {port} {expiry:x} {nonce}"));
    std::array::from_fn(|place| mac[place])
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs()
}

/// The path of the sign-in. It needs no token in a header: the token is in the body.
pub(crate) const LOGIN: &str = "/login";

/// The header with the key. A form cannot send it, and a browser does not let a page of another site send it.
const KEY: HeaderName = HeaderName::from_static("askbridge-key");

/// The subprotocol that the page asks for, and that the server selects.
pub(crate) const SUBPROTOCOL: &str = "askbridge";
/// The prefix of the subprotocol that carries the key: a script cannot set any other header of a WebSocket.
const KEY_PROTOCOL: &str = "key.";

/// How long a browser keeps the cookie: in effect, until the token ends.
const MAX_AGE: u32 = 365 * 24 * 3600;

/// The sign-in of browsers.
#[derive(Debug)]
pub(crate) struct SignIn {
    token: Token,
    cookie: String,
    key: String,
    codes: Codes,
    failures: Rate,
}

/// Marks a request as the page's request to open its WebSocket, in the request's extensions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageRequest;

#[derive(Deserialize)]
struct LoginRequest {
    token: String,
}

#[derive(Serialize)]
struct LoginResponse {
    key: String,
}

impl SignIn {
    /// Creates the sign-in for a server with this token that has listened on `port` since `since`.
    pub(crate) fn new(token: Token, port: u16, since: SystemTime) -> Self {
        SignIn {
            cookie: HEXLOWER.encode(&token.mac("page cookie")),
            key: HEXLOWER.encode(&token.mac("page key")),
            codes: Codes::new(token.clone(), port, since),
            failures: Rate::new(limits::FAILED_SIGN_INS_PER_SECOND),
            token,
        }
    }

    /// Returns whether a request opens the page's WebSocket and shows both the cookie and the key.
    pub(crate) fn admits(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> bool {
        // This is only for the WebSocket: a POST to the same path needs the token.
        let is_upgrade =
            headers.get(UPGRADE).is_some_and(|to| to.as_bytes().eq_ignore_ascii_case(b"websocket"));
        // A browser always sends the Origin of a WebSocket. The guard has compared it with the host.
        let is_page = method == Method::GET && is_upgrade && headers.contains_key(ORIGIN);
        let mut protocols = protocols(headers);
        let key = protocols.find_map(|protocol| protocol.strip_prefix(KEY_PROTOCOL));
        is_page && key.is_some_and(|key| self.is_signed_in(key.as_bytes(), uri, headers))
    }

    fn is_signed_in(&self, key: &[u8], uri: &Uri, headers: &HeaderMap) -> bool {
        let name = cookie_name(uri, headers);
        // The comparisons take constant time: their duration must not tell how much of a guess is right.
        let is_ours = |cookie: &str| {
            cookie.trim().split_once('=').is_some_and(|(shown, value)| {
                shown == name && bool::from(self.cookie.as_bytes().ct_eq(value.as_bytes()))
            })
        };
        let mut cookies = headers
            .get_all(COOKIE)
            .iter()
            .filter_map(|cookies| cookies.to_str().ok())
            .flat_map(|cookies| cookies.split(';'));
        bool::from(self.key.as_bytes().ct_eq(key)) && cookies.any(is_ours)
    }

    /// Accepts the token, or uses up a code.
    fn take(&self, shown: &str, is_other_user: impl FnOnce() -> bool) -> Result<(), Problem> {
        if self.token.is(shown.as_bytes()) {
            return Ok(());
        }
        // Other users see the command line of a browser, so one of them could use the code before the browser does.
        let taken = if is_other_user() {
            Err(CodeError::OtherUser)
        } else {
            self.codes.take(shown, SystemTime::now())
        };
        let Err(refused) = taken else { return Ok(()) };
        // Only failures count: the right token is always accepted, so that nobody can lock the user out.
        if !self.failures.allows() {
            return Err(Refusal::TooManyRequests.into());
        }
        let (name, detail) = match refused {
            CodeError::Unknown => ("wrong_token", "this is neither the token nor a code of this server"),
            CodeError::Expired => ("code_expired", "the code has expired: run `askbridge open` again"),
            CodeError::OtherUser => (
                "other_user",
                "this browser runs as another user of this machine, where a code is not accepted: type the token",
            ),
            CodeError::Used => ("code_used", "the code was used already: run `askbridge open` again"),
        };
        Err(Problem::new(StatusCode::UNAUTHORIZED, name, detail))
    }
}

/// Returns the name of the cookie. It includes the port that the browser uses, so that two servers on one host, or two
/// tunnels to other machines, do not overwrite each other's cookies.
fn cookie_name(uri: &Uri, headers: &HeaderMap) -> String {
    match host(uri, headers).and_then(|host| host.port_u16()) {
        Some(port) => format!("askbridge-{port}"),
        None => "askbridge".to_owned(),
    }
}

/// Returns the subprotocols that a WebSocket offers.
fn protocols(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let offered = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|offered| offered.to_str().ok());
    offered.flat_map(|offered| offered.split(',')).map(str::trim)
}

/// Returns the routes.
pub(crate) fn routes<I: Inbox>(sign_in: Arc<SignIn>) -> Router<App<I>> {
    Router::new().route(LOGIN, get(check).post(login).layer(Extension(sign_in)))
}

/// Responds whether the browser is signed in. The page could not tell a refused WebSocket from a server that cannot be
/// reached.
async fn check(Extension(sign_in): Extension<Arc<SignIn>>, request: Request) -> Result<StatusCode, Problem> {
    let key = request.headers().get(KEY).map(HeaderValue::as_bytes).unwrap_or_default();
    if sign_in.is_signed_in(key, request.uri(), request.headers()) {
        Ok(StatusCode::NO_CONTENT)
    } else {
        let detail = "this browser is not signed in: run `askbridge open`";
        Err(Problem::new(StatusCode::UNAUTHORIZED, "not_signed_in", detail))
    }
}

async fn login(
    Extension(sign_in): Extension<Arc<SignIn>>,
    visitor: Option<Extension<Arc<Visitor>>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    let LoginRequest { token } = body::read(&headers, body, "{\"token\": \"…\"}")?;
    let visitor = visitor.map(|Extension(visitor)| visitor);
    let is_other_user = || visitor.as_ref().is_some_and(|visitor| visitor.is_other_user());
    sign_in.take(token.trim(), is_other_user)?;
    // The next request of this connection is most likely the WebSocket, which needs a place. If there is none, that
    // request is refused, and not this one.
    visitor.inspect(|visitor| {
        visitor.has_shown_token();
    });
    let is_encrypted = headers.get(ORIGIN).is_some_and(|origin| origin.as_bytes().starts_with(b"https://"));
    let cookie = format!(
        "{}={}; HttpOnly; SameSite=Strict; Path=/; Max-Age={MAX_AGE}{}",
        cookie_name(&uri, &headers),
        sign_in.cookie,
        // A proxy with TLS is in front of the server. Over plain HTTP, browsers may refuse a cookie with this
        // attribute.
        if is_encrypted { "; Secure" } else { "" },
    );
    let mut response = Json(LoginResponse { key: sign_in.key.clone() }).into_response();
    // The only variable parts of the cookie are digits, so this is a valid header.
    response.headers_mut().extend(HeaderValue::try_from(cookie).ok().map(|cookie| (SET_COOKIE, cookie)));
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits;

    fn codes() -> (Token, Codes, SystemTime) {
        let folder = tempfile::tempdir().expect("a folder");
        let token = Token::read_or_make(&folder.path().join("token")).expect("a token");
        let now = UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        (token.clone(), Codes::new(token, 8421, now), now)
    }

    #[test]
    fn code_is_taken_once() {
        let (token, codes, now) = codes();
        let (code, other) = (make(&token, 8421, now).unwrap(), make(&token, 8421, now).unwrap());
        assert!(code.len() < 64 && code != other, "{code}");
        assert_eq!(codes.take(&code, now), Ok(()));
        assert_eq!(codes.take(&code, now), Err(CodeError::Used));
        assert_eq!(codes.take(&other, now), Ok(()));
    }

    #[test]
    fn code_expires_and_is_forgotten_then() {
        let (token, codes, now) = codes();
        let code = make(&token, 8421, now).unwrap();
        assert_eq!(codes.take(&code, now + limits::CODE + Duration::from_secs(1)), Err(CodeError::Expired));
        assert_eq!(codes.take(&code, now + limits::CODE), Ok(()));
        let later = now + limits::CODE + Duration::from_secs(1);
        assert_eq!(codes.take(&make(&token, 8421, later).unwrap(), later), Ok(()));
        assert_eq!(codes.taken.lock().unwrap().len(), 1);
    }

    #[test]
    fn code_from_before_the_start_is_refused() {
        let (token, codes, now) = codes();
        let code = make(&token, 8421, now - Duration::from_secs(1)).unwrap();
        assert_eq!(codes.take(&code, now), Err(CodeError::Expired));
    }

    #[test]
    fn forged_codes_are_refused() {
        let (token, codes, now) = codes();
        let code = make(&token, 8421, now).unwrap();
        let (expiry, rest) = code.split_once('.').unwrap();
        let later = format!("{:x}.{rest}", u64::from_str_radix(expiry, 16).unwrap() + 1);
        let other_port = make(&token, 8422, now).unwrap();
        let (other_token, ..) = self::codes();
        let other_token = make(&other_token, 8421, now).unwrap();
        let (short, long) = (code[..code.len() - 1].to_owned(), format!("{code}0"));
        for forged in
            [later, other_port, other_token, short, long, format!("{code}.0"), "..".into(), String::new()]
        {
            assert_eq!(codes.take(&forged, now), Err(CodeError::Unknown), "{forged}");
        }
        assert_eq!(codes.take(&code, now), Ok(()));
    }

    #[test]
    fn remembered_codes_have_a_limit() {
        let (token, codes, now) = codes();
        for _ in 0..limits::CODES {
            assert_eq!(codes.take(&make(&token, 8421, now).unwrap(), now), Ok(()));
        }
        assert_eq!(codes.take(&make(&token, 8421, now).unwrap(), now), Err(CodeError::Expired));
    }

    #[test]
    fn other_user_can_neither_use_a_code_nor_use_it_up() {
        let folder = tempfile::tempdir().unwrap();
        let token = Token::read_or_make(&folder.path().join("token")).unwrap();
        let text = std::fs::read_to_string(folder.path().join("token")).unwrap();
        let now = SystemTime::now();
        let (sign_in, code) = (SignIn::new(token.clone(), 8421, now), make(&token, 8421, now).unwrap());
        let refused = sign_in.take(&code, || true).unwrap_err();
        assert_eq!((refused.status, &*refused.more.name), (401, "other_user"));
        assert_eq!(sign_in.take(&code, || false), Ok(()));
        // The token proves more than the user does.
        assert_eq!(sign_in.take(text.trim_end(), || true), Ok(()));
    }

    #[test]
    fn failed_sign_ins_are_limited_and_lock_no_person_out() {
        let folder = tempfile::tempdir().unwrap();
        let token = Token::read_or_make(&folder.path().join("token")).unwrap();
        let text = std::fs::read_to_string(folder.path().join("token")).unwrap();
        let sign_in = SignIn::new(token, 8421, SystemTime::now());
        // Another second may begin meanwhile.
        let mut refused = (0..100 * limits::FAILED_SIGN_INS_PER_SECOND)
            .map(|_| sign_in.take("wrong", || false).unwrap_err());
        let first = refused.next().unwrap();
        assert_eq!((first.status, &*first.more.name), (401, "wrong_token"));
        assert!(refused.any(|problem| (problem.status, &*problem.more.name) == (429, "too_many_requests")));
        assert_eq!(sign_in.take(text.trim_end(), || false), Ok(()));
    }
}
