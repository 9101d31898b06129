//! Code in the words of a command, in languages that people use to look at data: Python and JavaScript. Code that has
//! nothing but names from a short list, and its own, is plain: it computes and prints. All other code is dangerous.

use super::scripts;

/// What a language has that does nothing but compute and print.
struct Language {
    /// Words and functions.
    names: &'static str,
    /// Names behind a dot.
    members: &'static str,
    /// Modules that can be imported.
    modules: &'static str,
    /// Words behind which a module is named.
    importing: &'static str,
    /// Names that mean something else than what the code itself makes of them.
    refused: &'static str,
    /// The beginning of a comment.
    comment: &'static str,
}

const PYTHON: Language = Language {
    names: "and as assert break class continue def del elif else except False finally for if in is lambda None not or pass \
            raise return True try while with yield match case print len sum min max sorted reversed range enumerate zip map \
            filter list dict set tuple str int float bool bytes repr round abs any all isinstance type ord chr hex bin oct \
            format next iter divmod pow hash id complex frozenset bytearray Exception ValueError KeyError TypeError \
            IndexError StopIteration SystemExit exit quit object super property staticmethod slice callable",
    members: "argv stdin stdout stderr read readline readlines write version version_info executable platform path exit \
              maxsize byteorder implementation name prefix flush major minor micro load loads dump dumps keys values items get \
              split rsplit splitlines strip lstrip rstrip join replace lower upper title startswith endswith find index \
              count append extend pop insert sort reverse copy update setdefault add union intersection difference format \
              encode decode isdigit isalpha isoformat strftime strptime now utcnow today fromisoformat fromtimestamp \
              timestamp total_seconds timedelta datetime date time perf_counter monotonic days seconds year month day sub \
              match search findall finditer fullmatch group groups compile escape IGNORECASE MULTILINE sqrt pi e floor ceil \
              log log2 log10 sin cos tan exp inf nan gcd mean median stdev Counter defaultdict OrderedDict namedtuple deque \
              most_common chain product combinations permutations groupby islice choice randint random shuffle seed uniform \
              sample b64encode b64decode urlsafe_b64encode hexdigest digest sha256 sha1 md5 sha512 pprint pformat reader \
              DictReader parse quote unquote urlparse parse_qs urlencode netloc dedent ascii_letters digits punctuation machine \
              system node release python_version hex uuid4 token_hex token_urlsafe __version__ __name__ __file__ __doc__ \
              __len__ zfill rjust ljust center partition is_integer real imag bit_length to_bytes from_bytes",
    modules: "json sys re math datetime time collections itertools functools string textwrap platform statistics random \
              base64 hashlib pprint csv urllib.parse uuid secrets decimal fractions operator typing dataclasses enum tomllib \
              calendar zlib struct unicodedata difflib bisect heapq copy html",
    importing: "import from",
    refused: "exec eval compile open input getattr setattr delattr globals locals vars dir help breakpoint memoryview import \
              from __import__ __builtins__ __loader__ __spec__ os subprocess shutil builtins",
    comment: "#",
};

const JAVASCRIPT: Language = Language {
    names: "async await break case catch class const continue default delete do else extends false finally for function if in \
            instanceof let new null of return static super switch this throw true try typeof undefined var void while yield \
            console JSON Math Object Array String Number Boolean Date Map Set RegExp Promise Error TypeError parseInt \
            parseFloat isNaN isFinite NaN Infinity Intl BigInt Symbol encodeURIComponent decodeURIComponent process require",
    members: "log error table info warn parse stringify keys values entries fromEntries assign freeze map filter reduce forEach \
              find findIndex some every includes indexOf join split slice splice concat push pop shift unshift sort reverse \
              length toString toFixed toUpperCase toLowerCase trim replace replaceAll match matchAll test startsWith endsWith \
              padStart padEnd repeat charAt charCodeAt codePointAt fromCharCode get set has add size now getTime toISOString \
              getFullYear floor ceil round max min abs random sqrt pow PI from of isArray isInteger flat flatMap at fill then \
              version versions node v8 arch platform argv pid uptime memoryUsage heapUsed hrtime cwd title resolve name \
              dependencies devDependencies scripts main type engines workspaces peerDependencies message toLocaleString",
    modules: "",
    importing: "import",
    refused: "eval Function require process module exports global globalThis window constructor prototype __proto__ Reflect \
              Proxy import fetch setTimeout setInterval setImmediate Bun Deno WebAssembly Worker Buffer console JSON Object",
    comment: "//",
};

/// Returns whether code in a language does nothing but compute and print.
pub(super) fn is_plain(language: &str, code: &str) -> bool {
    match language {
        "python" => PYTHON.is_plain(code, 0),
        "perl" | "ruby" => scripts::is_substitution(code),
        "js" => !code.contains('`') && JAVASCRIPT.is_plain(code, 0),
        _ => false,
    }
}

/// A part of code.
#[derive(Clone, Debug, PartialEq)]
enum Token<'a> {
    Name(&'a str),
    Number,
    /// A text in quotes. `Some` has what stands in the braces of one that Python formats.
    Text(&'a str, Option<&'a str>),
    Sign(char),
}

fn has(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == name)
}

impl Language {
    fn is_plain(&self, code: &str, depth: usize) -> bool {
        if depth > 2 || code.len() > 4096 {
            return false;
        }
        let Some(tokens) = self.tokens(code) else { return false };
        let own = self.own(&tokens);
        let is_js = self.comment == "//";
        (0..tokens.len()).all(|at| match &tokens[at] {
            Token::Number => true,
            // In JavaScript, a text in brackets may name any member.
            Token::Sign('[') if is_js => {
                let before = at.checked_sub(1).map(|before| &tokens[before]);
                !matches!(before, Some(Token::Name(_) | Token::Sign(')' | ']') | Token::Text(..)))
                    || matches!(
                        (tokens.get(at + 1), tokens.get(at + 2)),
                        (Some(Token::Number), Some(Token::Sign(']')))
                    )
            }
            Token::Sign(char) => !matches!(char, '@' | '\\' | '$'),
            Token::Text(_, inner) => inner.is_none_or(|inner| self.is_plain_format(inner, &own, depth)),
            Token::Name(name) => self.knows(name, &tokens, at, &own),
        })
    }

    fn knows(&self, name: &str, tokens: &[Token<'_>], at: usize, own: &[&str]) -> bool {
        let before = at.checked_sub(1).map(|before| &tokens[before]);
        if before == Some(&Token::Sign('.')) {
            // `urllib.parse` is one name of a module.
            return has(self.members, name) || self.is_imported(tokens, at);
        }
        if has(self.importing, name) {
            return self.comment == "#";
        }
        if self.is_imported(tokens, at) {
            return true;
        }
        if name == "require" {
            // A file of data.
            return matches!((tokens.get(at + 1), tokens.get(at + 2), tokens.get(at + 3)),
                (Some(Token::Sign('(')), Some(Token::Text(file, None)), Some(Token::Sign(')')))
                    if file.starts_with("./") && file.ends_with(".json") && !file.contains(".."));
        }
        if name == "open" {
            // A file that is read.
            return self.comment == "#"
                && matches!(
                    (tokens.get(at + 1), tokens.get(at + 2), tokens.get(at + 3)),
                    (Some(Token::Sign('(')), Some(Token::Text(_, None)), Some(Token::Sign(')')))
                );
        }
        has(self.names, name)
            || own.contains(&name)
            || (self.is_module(name) && self.has_imported(tokens, name))
    }

    /// Returns whether this name is a module behind `import`, or what is taken from one.
    fn is_imported(&self, tokens: &[Token<'_>], at: usize) -> bool {
        let is_between = |token: &&Token<'_>| matches!(token, Token::Name(_) | Token::Sign('.' | ','));
        let begin = at - tokens[..at].iter().rev().take_while(|token| is_between(token)).count();
        let statement = &tokens[begin..=at];
        let Some(place) = statement.iter().position(|token| matches!(token, Token::Name("import" | "from")))
        else {
            return false;
        };
        let is_from = statement[place] == Token::Name("from");
        let rest = &statement[place + 1..];
        let import = rest.iter().position(|token| *token == Token::Name("import"));
        match (is_from, import) {
            // `from json import loads`.
            (true, Some(import)) => {
                let module = joined(&rest[..import]);
                let Token::Name(name) = tokens[at] else { return false };
                has(self.modules, &module) && (has(self.members, name) || at == begin + place + 1 + import)
            }
            (true, None) => {
                self.modules.split_ascii_whitespace().any(|known| known.starts_with(&joined(rest)))
            }
            (false, _) => {
                let last = rest.split(|token| *token == Token::Sign(',')).next_back().unwrap_or_default();
                let module = joined(last);
                self.modules.split_ascii_whitespace().any(|known| {
                    known == module || known.strip_prefix(&*module).is_some_and(|rest| rest.starts_with('.'))
                })
            }
        }
    }

    /// Returns whether a module has this name, or one that begins with it.
    fn is_module(&self, name: &str) -> bool {
        self.modules.split_ascii_whitespace().any(|known| known.split('.').next() == Some(name))
    }

    fn has_imported(&self, tokens: &[Token<'_>], name: &str) -> bool {
        let is_it = |at: &usize| tokens[*at] == Token::Name(name) && self.is_imported(tokens, *at);
        (0..tokens.len()).any(|at| is_it(&at))
    }

    /// Returns the names that the code itself gives a value.
    fn own<'t>(&self, tokens: &[Token<'t>]) -> Vec<&'t str> {
        let is_given = |at: usize| {
            let before = at.checked_sub(1).map(|before| &tokens[before]);
            let after = (tokens.get(at + 1), tokens.get(at + 2));
            let is_target = matches!(
                before,
                Some(Token::Name("for" | "const" | "let" | "var" | "as" | "lambda" | "def" | "function"))
            );
            let is_listed = matches!(before, Some(Token::Sign(',' | '(' | '{')));
            let is_set =
                matches!(after, (Some(Token::Sign('=')), next) if !matches!(next, Some(Token::Sign('='))));
            let is_parameter =
                matches!(after.0, Some(Token::Sign(')' | ',' | ':'))) || after.0 == Some(&Token::Name("in"));
            is_target || is_set || (is_listed && is_parameter)
        };
        let names = (0..tokens.len()).filter(|at| is_given(*at)).filter_map(|at| match tokens[at] {
            Token::Name(name) if !has(self.refused, name) && !name.starts_with("__") => Some(name),
            _ => None,
        });
        names.collect()
    }

    fn is_plain_format(&self, text: &str, own: &[&str], depth: usize) -> bool {
        let mut rest = text.replace("{{", "").replace("}}", "");
        while let Some(begin) = rest.find('{') {
            let Some(length) = rest[begin..].find('}') else { return false };
            let inner = rest[begin + 1..begin + length].to_owned();
            let given: String = own.iter().map(|name| format!("{name} = 0\n")).collect();
            let inner = inner.split_once(':').map_or(&*inner, |(value, _)| value);
            if depth > 1 || !self.is_plain(&format!("{given}({inner})"), depth + 1) {
                return false;
            }
            rest = rest[begin + length + 1..].to_owned();
        }
        true
    }

    /// Splits code. `None` if it has a part that is not known.
    fn tokens<'t>(&self, code: &'t str) -> Option<Vec<Token<'t>>> {
        let mut tokens = Vec::new();
        let mut rest = code;
        while let Some(char) = rest.chars().next() {
            let is_name = |char: char| char.is_ascii_alphanumeric() || char == '_';
            if rest.starts_with(self.comment) {
                rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
            } else if char.is_ascii_digit() {
                let length = rest.find(|char: char| !is_name(char) && char != '.').unwrap_or(rest.len());
                tokens.push(Token::Number);
                rest = &rest[length..];
            } else if is_name(char) {
                let length = rest.find(|char: char| !is_name(char)).unwrap_or(rest.len());
                let (name, after) = rest.split_at(length);
                rest = after;
                let is_mark = after.starts_with(['\'', '"']) && self.comment == "#";
                match name.to_ascii_lowercase().as_str() {
                    prefix @ ("f" | "r" | "b" | "u" | "rb" | "br" | "rf" | "fr") if is_mark => {
                        let (text, after) = quoted(rest)?;
                        tokens.push(Token::Text(text, prefix.contains('f').then_some(text)));
                        rest = after;
                    }
                    _ => tokens.push(Token::Name(name)),
                }
            } else if matches!(char, '\'' | '"') {
                let (text, after) = quoted(rest)?;
                tokens.push(Token::Text(text, None));
                rest = after;
            } else if char.is_ascii() && !char.is_ascii_control() || matches!(char, '\n' | '\t') {
                match char {
                    ' ' | '\t' => {}
                    '\n' => tokens.push(Token::Sign(';')),
                    // A regular expression of JavaScript cannot be told from a division.
                    '/' if self.comment == "//" => return None,
                    _ => tokens.push(Token::Sign(char)),
                }
                rest = &rest[1..];
            } else {
                return None;
            }
        }
        Some(tokens)
    }
}

/// Returns the text in quotes that begins here, and what stands behind it.
fn quoted(rest: &str) -> Option<(&str, &str)> {
    let mark = rest.chars().next()?;
    let triple: String = [mark; 3].iter().collect();
    let marks = if rest.starts_with(&triple) { 3 } else { 1 };
    let inner = &rest[marks..];
    let mut is_escaped = false;
    for (at, char) in inner.char_indices() {
        match char {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\n' if marks == 1 => return None,
            char if char == mark && (marks == 1 || inner[at..].starts_with(&triple)) => {
                return Some((&inner[..at], &inner[at + marks..]));
            }
            _ => {}
        }
    }
    None
}

fn joined(tokens: &[Token<'_>]) -> String {
    let parts = tokens.iter().map_while(|token| match token {
        Token::Name("as") => None,
        Token::Name(name) => Some(*name),
        Token::Sign('.') => Some("."),
        _ => None,
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_computes_and_prints_is_plain() {
        for code in [
            "print(1)",
            "print('rm -rf x')",
            "import sys; print(sys.version)",
            "import json,sys; print(json.load(sys.stdin)['a'])",
            "import json\nd = json.load(open('package.json'))\nprint(d['version'])",
            "import json,sys;d=json.load(sys.stdin);[print(x['name']) for x in d]",
            "print(f'{1+1}')",
            "import sys\nfor line in sys.stdin:\n    print(line.strip())",
            "from datetime import datetime; print(datetime.now().isoformat())",
            "import urllib.parse; print(urllib.parse.quote('a b'))",
            "",
        ] {
            assert!(is_plain("python", code), "{code}");
        }
        for code in [
            "console.log(1)",
            "console.log(require('./package.json').version)",
            "console.log(process.version)",
            "console.log(JSON.stringify({a: 1}))",
            "const a = [1, 2]; console.log(a.map(x => x + 1)[0])",
        ] {
            assert!(is_plain("js", code), "{code}");
        }
    }

    #[test]
    fn code_that_may_do_more_is_not() {
        for code in [
            "import os",
            "import os; os.remove('a')",
            "__import__('os').system('x')",
            "exec('x')",
            "exec = 1; exec('x')",
            "print(f'{exec(1)}')",
            "open('a', 'w')",
            "open(x)",
            "import sys; sys.modules['os'].system('x')",
            "from json import os",
            "from os import system as x",
            "import json as j, os as k",
            "system = 1; import os; os.system('x')",
            "().__class__.__bases__",
            "import json; json.codecs",
            "import subprocess",
            "@exec\nclass a: pass",
            "import importlib",
            "for exec in [1]: exec('x')",
            "getattr(1, 'x')",
            "print(1)\\\nexec(1)",
            "input()",
            "(lambda: exec)()",
            "e\u{301}",
        ] {
            assert!(!is_plain("python", code), "{code}");
        }
        for code in [
            "require('child_process').exec('x')",
            "require('fs')",
            "require(x)",
            "eval('x')",
            "[]['constructor']['constructor']('x')()",
            "''.constructor.constructor('x')()",
            "process.binding('x')",
            "process['mainModule']",
            "globalThis.x",
            "import('fs')",
            "`${require('fs')}`",
            "const require2 = require; require2('fs')",
            "let a = 'x'; this[a]",
            "fetch('x')",
            "console.log(1 / eval(1))",
        ] {
            assert!(!is_plain("js", code), "{code}");
        }
        assert!(!is_plain("perl", "print 1"));
    }
}
