//! Codes that sign a browser in: each is good for one sign-in at one server, and for a few minutes. A code is shown in
//! the command line of a browser and in a QR code, where the token must never be. What a sign-in gives is left to
//! `sign_in`.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use data_encoding::HEXLOWER;
use subtle::ConstantTimeEq;

use crate::{
    limits,
    serve::token::{Token, TokenError},
};

/// Bytes of the number that makes a code unique.
const NONCE: usize = 8;
/// Bytes of a code's MAC: half of it, as RFC 2104 allows. A shorter code makes a QR code that fits a small terminal.
const MAC: usize = 16;

/// Makes a code for the server of this token at this port.
pub fn make(token: &Token, port: u16, now: SystemTime) -> Result<String, TokenError> {
    let mut nonce = [0; NONCE];
    getrandom::fill(&mut nonce).map_err(|_| TokenError::NoRandom)?;
    let expiry = seconds(now) + limits::CODE.as_secs();
    let nonce = format!("{:016x}", u64::from_be_bytes(nonce));
    let mac = HEXLOWER.encode(&mac(token, port, expiry, &nonce));
    Ok(format!("{expiry:x}.{nonce}.{mac}"))
}

/// The codes that a server has taken.
#[derive(Debug)]
pub(in crate::serve) struct Codes {
    token: Token,
    port: u16,
    /// When the server started. It knows only which codes it has taken since then.
    started: u64,
    /// When each taken code expires.
    taken: Mutex<BTreeMap<String, u64>>,
}

/// Why a code is not good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::serve) enum CodeError {
    /// It is no code of this server.
    Unknown,
    /// It is too old, or older than the server.
    Expired,
    /// It was used already.
    Used,
    /// It came from another user of this machine.
    OtherUser,
}

impl Codes {
    /// Accepts codes for this port from now on.
    pub(in crate::serve) fn new(token: Token, port: u16, now: SystemTime) -> Self {
        Codes { token, port, started: seconds(now), taken: Mutex::default() }
    }

    /// Takes a code. The same code is refused from then on.
    pub(in crate::serve) fn take(&self, code: &str, now: SystemTime) -> Result<(), CodeError> {
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
        // What was taken before a restart is not remembered, so that a code of that time could be used again.
        let made = expiry.saturating_sub(limits::CODE.as_secs());
        if expiry < seconds(now) || made < self.started {
            return Err(CodeError::Expired);
        }
        // Nothing that holds it can leave it half changed.
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.retain(|_, expiry| *expiry >= seconds(now));
        if taken.contains_key(nonce) {
            return Err(CodeError::Used);
        }
        // Only a program that has the token makes so many.
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
