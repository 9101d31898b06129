//! The files of the page, with their hashes. A release build has them in the program; a debug build reads them from the
//! source folder at each request, so that a changed file needs no build. Each file is served as it is written, compressed
//! where that is worth it. Which headers go with the files is left to `routes`.

use std::{
    collections::BTreeMap,
    io::Write,
    sync::{Arc, OnceLock},
};

use axum::body::Bytes;
use data_encoding::HEXLOWER;
use flate2::{Compression, write::GzEncoder};
use rust_embed::Embed;
use sha2::{Digest, Sha256};

/// Where the page is, and what it is made of.
pub(super) const FOLDER: &str = "/page/";

/// A smaller file is not compressed: it fits into one packet as it is.
const WORTH_COMPRESSING: usize = 1024;

/// Hexadecimal digits of a hash in an address: no two versions of a file meet by chance.
const DIGITS: usize = 32;

#[derive(Embed)]
#[folder = "src/serve/page/web/"]
struct Web;

/// The content of all files, by their names.
type Sources = BTreeMap<String, Bytes>;

/// Reads all files.
fn sources() -> Sources {
    Web::iter()
        .filter_map(|name| Some((name.to_string(), Web::get(&name)?.data.into_owned().into())))
        .collect()
}

/// All files at one moment.
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
    /// Returns the files as they are now.
    pub(super) fn now() -> Arc<Self> {
        static EMBEDDED: OnceLock<Arc<Site>> = OnceLock::new();
        match cfg!(debug_assertions) {
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
        for (name, file) in &files {
            all.update(name);
            all.update([0]);
            all.update(&file.hash);
        }
        let mut site = Site { hash: hex(&all.finalize()), files };
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
        // A document is served at a path of its own, where its policy goes with it.
        self.files.get(name).filter(|_| !name.ends_with(".html"))
    }

    /// Returns a document. Its links lead to the files of this very moment.
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
            // Such as what an editor keeps beside a file.
            _ => return None,
        };
        let hash = hex(&Sha256::digest(&content));
        Some(File { kind, hash, content, compressed: OnceLock::new() })
    }

    /// Returns the document with its links to this folder.
    fn linked_to(&self, folder: &str) -> Self {
        let text = String::from_utf8_lossy(&self.content);
        let link = |text: &str, attribute: &str| {
            text.replace(&format!("{attribute}=\"{FOLDER}"), &format!("{attribute}=\"{folder}"))
        };
        let content = Bytes::from(link(&link(&text, "href"), "src"));
        let hash = hex(&Sha256::digest(&content));
        File { kind: self.kind, hash, content, compressed: OnceLock::new() }
    }

    /// Returns the content compressed by gzip, where that is worth it.
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
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content)?;
    Ok(encoder.finish()?.into())
}

/// Returns the beginning of a hash.
fn hex(hash: &[u8]) -> String {
    HEXLOWER.encode(&hash[..DIGITS / 2])
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
