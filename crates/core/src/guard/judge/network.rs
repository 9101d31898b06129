//! What a script fetches and then runs, and what it sends in the words of a program that fetches.

use super::state::{Input, Judge, is_fetching};
use crate::guard::{
    argument::Argument,
    degree::Danger,
    grammar::{self, Row},
    places,
    shell::{Node, Piece, Simple, Word},
};

/// Programs that connect to the machine that one of their words names.
const CONNECTING: [&str; 7] = ["dig", "drill", "host", "nslookup", "ping", "traceroute", "whois"];

/// Programs whose output says nothing of this machine or its person.
const TELLING: [&str; 26] = [
    "arch", "awk", "basename", "cut", "date", "dirname", "echo", "expr", "git", "go", "head", "jq", "mktemp",
    "node", "npm", "nproc", "printf", "pwd", "python", "python3", "rustc", "sed", "seq", "tr", "uname", "wc",
];

/// Parts of the names of variables with secrets.
const SECRETS: [&str; 6] = ["SECRET", "PASSWORD", "PASSWD", "TOKEN", "API_KEY", "PRIVATE_KEY"];

impl<'a> Judge<'a> {
    /// Checks what a program sends to an address elsewhere: what other programs print, and secrets.
    pub(super) fn check_sent(&self, simple: &'a Simple, words: &[Argument<'_>]) -> Result<(), Danger> {
        let Some(name) = words.first().map(|program| grammar::name(&program.text)) else { return Ok(()) };
        let is_connecting = CONNECTING.contains(&&*name);
        let sends = is_fetching(&name) || is_connecting;
        if !sends || places::is_here(words.iter().map(|word| &*word.text)) {
            return Ok(());
        }
        for word in simple.words.iter().skip(1) {
            let is_address = is_connecting || self.argument(word).text.contains("://");
            if let Some(program) = word.pieces.iter().find_map(printed) {
                return Err(format!("`{name}` sends what `{program}` prints").into());
            }
            let secret = word.pieces.iter().find_map(|piece| match piece {
                Piece::Variable { name, .. } if SECRETS.iter().any(|part| name.contains(part)) => Some(name),
                _ => None,
            });
            if let Some(variable) = secret.filter(|_| is_address) {
                return Err(format!("`{name}` sends `${variable}` in an address").into());
            }
        }
        Ok(())
    }

    /// Remembers the files and folders that a program fetches under the names of their addresses.
    pub(super) fn remember_fetched(&mut self, words: &[Argument<'_>], input: &Input) {
        let Some((program, words)) = words.split_first() else { return };
        let name = grammar::name(&program.text);
        let texts: Vec<_> = words.iter().map(|word| word.text.to_string()).collect();
        let is_address = |text: &&String| {
            text.contains("://") || text.starts_with("git@") || (name != "git" && text.contains('/'))
        };
        let has = |sub: &str| texts.iter().any(|text| text == sub);
        let is_from = matches!(input, Input::Pipe(source) if is_fetching(&source.name))
            || texts.iter().any(|text| self.is_made(text));
        self.has_unpacked |=
            is_from && matches!(&*name, "tar" | "bsdtar" | "gtar" | "unzip" | "7z" | "cpio" | "ar");
        if is_fetching(&name) {
            texts.iter().filter(|text| text.contains("://")).for_each(|text| self.has_made(base(text)));
        } else if name == "go" && has("install") {
            // Its name has a machine in it; those of the project's own begin with `./`.
            for text in texts.iter().filter(|text| text.contains('.') && !text.starts_with('.')) {
                let name = base(text.split('@').next().unwrap_or_default()).to_owned();
                self.has_made(&format!("~/go/bin/{name}"));
                self.has_made(&name);
            }
        } else if has("clone") && matches!(&*name, "git" | "hub" | "gh" | "glab" | "hg" | "jj") {
            let Some(at) = texts.iter().position(|text| is_address(&text)) else { return };
            let folder = texts.get(at + 1).filter(|next| !next.starts_with('-')).cloned();
            let folder = folder.unwrap_or_else(|| base(&texts[at]).trim_end_matches(".git").to_owned());
            self.place.is_fetched |= matches!(folder.trim_end_matches('/'), "." | "./.");
            self.has_made(folder.trim_end_matches('/'));
        } else if let Some(at) = copier(&name, &texts) {
            // They copy a repository into a folder, or into this one.
            match texts[at + 1..].iter().filter(|text| !text.starts_with('-')).nth(1) {
                Some(folder) if !matches!(folder.as_str(), "." | "./") => self.has_made(&folder.clone()),
                _ => self.place.is_fetched = true,
            }
        }
    }

    /// Checks that a program does not run what the files of a fetched folder say, or of one that is not the agent's.
    pub(super) fn check_folder(&self, name: &str, row: &Row) -> Result<(), Danger> {
        if !row.flags.builds {
            return Ok(());
        }
        match (self.place.is_fetched, self.place.is_far) {
            (true, _) if name != "git" => {
                Err(format!("`{name}` runs what stands in a folder that the command itself fetches").into())
            }
            (_, true) => Err(format!("`{name}` works in a folder that is not the agent's").into()),
            _ => Ok(()),
        }
    }
}

/// Returns where the words behind a program begin that copies a repository, if this is one.
fn copier(name: &str, words: &[String]) -> Option<usize> {
    const COPIERS: [&str; 5] = ["degit", "tiged", "giget", "gitpick", "cookiecutter"];
    const RUNNERS: [&str; 7] = ["npx", "bunx", "pnpx", "pnpm", "yarn", "npm", "uvx"];
    let is_it = |word: &String| COPIERS.contains(&grammar::name(word).as_str());
    words.iter().position(is_it).filter(|_| RUNNERS.contains(&name))
}

/// Returns the last part of an address.
fn base(address: &str) -> &str {
    let path = address.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    path.rsplit(['/', ':']).next().unwrap_or_default()
}

/// Returns a program whose output a piece of a word is, if it may tell of this machine.
fn printed(piece: &Piece) -> Option<String> {
    let lists = match piece {
        Piece::Output { list, .. } => std::slice::from_ref(list),
        Piece::Unknown { lists, .. } => lists,
        _ => return None,
    };
    lists.iter().flatten().find_map(telling)
}

fn telling(node: &Node) -> Option<String> {
    match node {
        Node::Simple(simple) => {
            let name = grammar::name(simple.words.first().and_then(Word::literal)?);
            // These words name files, or not, by what they do.
            let reads = matches!(&*name, "awk" | "cut" | "head" | "sed" | "tr" | "wc")
                && simple.words.len() > 2
                && simple.words.last().and_then(Word::literal).is_some_and(|last| last.contains(['.', '/']));
            (!is_fetching(&name) && (reads || !TELLING.contains(&&*name))).then_some(name)
        }
        Node::Pipeline(parts) | Node::Chain { parts, .. } => parts.iter().find_map(telling),
        Node::Compound(compound) => compound.lists.iter().flatten().find_map(telling),
        Node::Function { .. } => None,
    }
}
