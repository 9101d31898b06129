//! Statements for databases, as they stand in the words of their programs. Only those that plainly look are known.

use super::argument::Argument;

/// How a statement that looks begins.
const LOOKING: [&str; 11] =
    ["select", "explain", "show", "describe", "desc", "pragma", "with", "table", "values", "help", "analyze"];

/// Words of statements that do more, and functions that reach out of the database.
const DOING: [&str; 55] = [
    "insert",
    "update",
    "delete",
    "drop",
    "alter",
    "create",
    "truncate",
    "grant",
    "revoke",
    "copy",
    "into",
    "do",
    "call",
    "execute",
    "exec",
    "set",
    "attach",
    "detach",
    "vacuum",
    "replace",
    "merge",
    "lock",
    "kill",
    "load",
    "import",
    "export",
    "install",
    "reindex",
    "refresh",
    "writefile",
    "readfile",
    "load_extension",
    "edit",
    "fts3_tokenizer",
    "lo_export",
    "lo_import",
    "dblink",
    "pg_terminate_backend",
    "pg_cancel_backend",
    "pg_read_file",
    "pg_write_file",
    "pg_reload_conf",
    "nextval",
    "setval",
    "set_config",
    "load_file",
    "sleep",
    "outfile",
    "query_to_xml",
    "query_to_xmlschema",
    "query_to_xml_and_xmlschema",
    "dblink_exec",
    "dblink_connect",
    "crosstab",
    "ts_stat",
];

/// Commands of the programs themselves that look.
const COMMANDS: [&str; 24] = [
    ".tables",
    ".schema",
    ".headers",
    ".mode",
    ".indexes",
    ".databases",
    ".dbinfo",
    ".quit",
    ".exit",
    "\\l",
    "\\d",
    "\\dt",
    "\\dt+",
    "\\d+",
    "\\dn",
    "\\du",
    "\\di",
    "\\dv",
    "\\df",
    "\\x",
    "\\conninfo",
    "\\q",
    "\\timing",
    "\\dx",
];

/// Returns whether the words of a database's program have statements, all of which only look.
pub(super) fn only_looks(arguments: &[Argument<'_>]) -> bool {
    statements(arguments).is_some_and(|count| count > 0)
}

/// Returns whether the words of a database's program only name a database, whose statements come from its input.
pub(super) fn only_connects(arguments: &[Argument<'_>]) -> bool {
    statements(arguments) == Some(0)
}

/// Returns how many statements the words of a database's program have. `None` if they may do more than to look.
fn statements(arguments: &[Argument<'_>]) -> Option<usize> {
    let mut statements = 0;
    let mut words = arguments.iter().peekable();
    let mut operands = 0;
    while let Some(word) = words.next() {
        let text = &*word.text;
        let glued = ["--command=", "--execute=", "-c", "-e"].iter().find_map(|name| text.strip_prefix(name));
        let statement = match text {
            "-l" | "--list" | "-lqt" | "--version" | "-V" => {
                statements += 1;
                continue;
            }
            "-c" | "-e" | "--command" | "--execute" | "-cmd" => words.next().map(|next| &*next.text),
            "-h" | "-p" | "-U" | "-u" | "-d" | "-D" | "-P" | "--host" | "--port" | "--username"
            | "--dbname" | "--user" => {
                words.next();
                continue;
            }
            _ if glued.is_some_and(|glued| glued.contains(' ')) => glued,
            "-t" | "-A" | "-q" | "-tA" | "-At" | "-tAc" | "-x" | "-json" | "-header" | "-csv" | "-column"
            | "-readonly" | "-line" | "-box" | "-table" | "-markdown" | "-X" | "-w" | "-N" | "-B" | "-s"
            | "-headers" | "-batch" => {
                if text.ends_with('c') && text == "-tAc" {
                    words.next().map(|next| &*next.text)
                } else {
                    continue;
                }
            }
            _ if text.starts_with('-') => return None,
            _ => {
                operands += 1;
                // The first is a database, or a file with one.
                if operands == 1 && !text.contains(' ') && !text.starts_with('.') {
                    continue;
                }
                Some(text)
            }
        };
        match statement {
            Some(statement) if is_looking(statement) => statements += 1,
            _ => return None,
        }
    }
    Some(statements)
}

/// Returns a statement without what stands in its texts, if it is plain where they end.
fn without_texts(statement: &str) -> String {
    let parts: Vec<_> = statement.split('\'').collect();
    if parts.len() % 2 == 0 || statement.contains(['$', '\\', '#', '`']) || statement.contains("--") {
        return statement.to_owned();
    }
    parts.into_iter().step_by(2).collect::<Vec<_>>().join("''")
}

/// What the shell of MongoDB has that only looks.
const MONGO: [&str; 32] = [
    "find",
    "findOne",
    "count",
    "countDocuments",
    "estimatedDocumentCount",
    "distinct",
    "limit",
    "skip",
    "sort",
    "pretty",
    "toArray",
    "explain",
    "getIndexes",
    "getCollectionNames",
    "getCollectionInfos",
    "getCollection",
    "getSiblingDB",
    "stats",
    "dataSize",
    "storageSize",
    "totalSize",
    "serverStatus",
    "version",
    "getName",
    "hello",
    "isMaster",
    "print",
    "printjson",
    "ObjectId",
    "ISODate",
    "projection",
    "status",
];

/// Returns whether the words of the shell of MongoDB have code, which does nothing but to call what only looks.
pub(super) fn only_counts(arguments: &[Argument<'_>]) -> bool {
    let mut words = arguments.iter().map(|word| &*word.text);
    let mut has_code = false;
    while let Some(word) = words.next() {
        match word {
            "--eval" => match words.next() {
                Some(code) if only_calls(code) => has_code = true,
                _ => return false,
            },
            "--quiet" | "--norc" | "--json" | "--json=canonical" | "--json=relaxed" => {}
            "--host" | "--port" => drop(words.next()),
            option if option.starts_with("--eval=") && only_calls(&option[7..]) => has_code = true,
            option if option.starts_with('-') => return false,
            // A file of code runs.
            file if file.ends_with(".js") || file.ends_with(".mongodb") => return false,
            _ => {}
        }
    }
    has_code
}

/// Returns whether each call in a code is of what only looks, and nothing in it is assigned or defined.
fn only_calls(code: &str) -> bool {
    let is_name = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let calls_looking = code.match_indices('(').all(|(at, _)| {
        let before = &code[..at];
        let begin = before.rfind(|char: char| !is_name(char)).map_or(0, |begin| begin + 1);
        MONGO.contains(&&before[begin..])
    });
    let has_more = ["=", "`", "[", "function", "$where", "$function", "$accumulator", "\\", "load", "new "];
    calls_looking && code.contains('(') && code.is_ascii() && !has_more.iter().any(|part| code.contains(part))
}

fn is_looking(text: &str) -> bool {
    if text.contains(|char: char| char < ' ' && char != '\n' && char != '\t')
        || text.contains(['`', '!']) && text.contains("\\!")
    {
        return false;
    }
    let text = text.to_lowercase();
    text.split(';').map(str::trim).filter(|statement| !statement.is_empty()).all(|statement| {
        let first = statement.split_whitespace().next().unwrap_or_default();
        if first.starts_with(['.', '\\']) {
            // A program may run behind a bar.
            return COMMANDS.contains(&first) && !statement.contains(['|', '>', '`', '\n']);
        }
        let statement = &without_texts(statement);
        let mut words = statement.split(|char: char| !(char.is_alphanumeric() || char == '_'));
        let sets = first == "pragma" && statement.contains('=');
        let does_more = sets || statement.contains('\\') || words.any(|word| DOING.contains(&word));
        LOOKING.contains(&first.trim_end_matches('(')) && !does_more
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_that_only_look() {
        for (words, is_looking) in [
            (&["-l"][..], true),
            (&["-c", "select count(*) from users"], true),
            (&["a.db", ".tables"], true),
            (&["a.db", "SELECT * FROM a; SELECT 1"], true),
            (&["-d", "shop", "-c", "\\dt"], true),
            (&["-c", "select 1 from a where kind = 'delete'"], true),
            (&["-c", "select 'a' || dblink('drop table a')"], false),
            (&["-c", "select 'a'; drop table a"], false),
            (&["-c", "select e'\\'' , delete from a '"], false),
            (&["-c", "drop table a"], false),
            (&["-c", "select 1; drop table a"], false),
            (&["-c", "with x as (delete from a returning *) select * from x"], false),
            (&["-c", "\\! rm x"], false),
            (&["a.db", ".shell rm x"], false),
            (&["a.db", ".output |rm x"], false),
            (&["a.db", "select writefile('a','b')"], false),
            (&["a.db"], false),
            (&["-f", "a.sql"], false),
            (&[], false),
            (&["-e", "x"], false),
        ] {
            let words: Vec<_> = words.iter().map(|word| Argument::known(word)).collect();
            assert_eq!(only_looks(&words), is_looking, "{words:?}");
        }
    }

    #[test]
    fn code_for_mongodb_that_only_looks() {
        for (code, is_looking) in [
            ("db.users.countDocuments({deleted:true})", true),
            ("db.a.find({a: {$gt: 1}}).limit(5).toArray()", true),
            ("db.a.drop()", false),
            ("db.a.find().forEach(x => db.b.drop())", false),
            ("db['a'].drop()", false),
            ("db.a.find({$where: 'x'})", false),
            ("x = db.a.find()", false),
            ("db", false),
        ] {
            let words = ["shop", "--quiet", "--eval", code].map(Argument::known);
            assert_eq!(only_counts(&words), is_looking, "{code}");
        }
        assert!(!only_counts(&["shop", "a.js"].map(Argument::known)));
    }
}
