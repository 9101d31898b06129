//! Programs whose argument is a script in a small language, which people use to look at files: `sed` and `awk`. A script
//! that may do more than to print and change lines is dangerous.

use std::{iter::Peekable, str::Chars};

/// What is known of a program with such a script.
pub(super) struct Script {
    /// The words that are files, by their numbers.
    pub files: Vec<usize>,
    /// Whether it changes the files.
    pub changes: bool,
    /// Whether it does more than to print what it finds.
    pub acts: bool,
}

/// Reads the words of `awk`. `None` if its script is not known to be plain.
pub(super) fn awk(arguments: &[String]) -> Option<Script> {
    let mut script = Script { files: Vec::new(), changes: false, acts: false };
    let mut has_script = false;
    let mut at = 0;
    while let Some(argument) = arguments.get(at) {
        if !is_plain_awk(argument) {
            return None;
        }
        match argument.as_str() {
            "--" => {}
            "-f" => {
                (has_script, script.acts) = (true, true);
                at += 1;
                // Its input may be the script.
                if arguments.get(at).is_none_or(|file| file == "-" || file.starts_with("/dev/")) {
                    return None;
                }
            }
            "-F" | "-v" => at += 1,
            option if option.starts_with("-f") => {
                if option.starts_with("-f/dev/") || option == "-f-" {
                    return None;
                }
                (has_script, script.acts) = (true, true);
            }
            option if option.starts_with("-F") || option.starts_with("-v") => {}
            "-o" | "-p" | "-d" | "-P" | "-n" | "-O" | "-b" | "-t" | "-S" | "-c" | "-C" | "-g" => {
                script.acts = true
            }
            option if option.starts_with('-') && option.len() > 1 => {
                script.acts = true;
                if !["-o", "-p", "-d", "--dump", "--pretty", "--profile", "--field-s", "--assign"]
                    .iter()
                    .any(|it| option.starts_with(it))
                {
                    return None;
                }
            }
            _ if !has_script => has_script = true,
            _ => script.files.push(at),
        }
        at += 1;
    }
    has_script.then_some(script)
}

/// Reads the words of `sed`. `None` if its script is not known to be plain.
pub(super) fn sed(arguments: &[String]) -> Option<Script> {
    let mut script = Script { files: Vec::new(), changes: false, acts: false };
    let (mut scripts, mut has_file, mut at) = (Vec::new(), false, 0);
    while let Some(argument) = arguments.get(at) {
        match argument.strip_prefix('-').filter(|option| !option.is_empty()) {
            Some(option) => {
                script.changes |= option.starts_with("-in-place")
                    || (!option.starts_with('-')
                        && option.split('e').next().is_some_and(|flags| flags.contains('i')));
                match sed_option(option)? {
                    SedOption::Alone => {}
                    SedOption::File(file) => has_file = is_script_file(file)?,
                    SedOption::FileIsNext => {
                        at += 1;
                        has_file = is_script_file(arguments.get(at)?)?;
                    }
                    SedOption::Script(text) => scripts.push(text.to_owned()),
                    SedOption::ScriptIsNext => {
                        at += 1;
                        scripts.push(arguments.get(at)?.clone());
                    }
                }
            }
            None => script.files.push(at),
        }
        at += 1;
    }
    script.acts |= has_file;
    if scripts.is_empty() && !has_file {
        // After `-i`, some versions of `sed` read an empty word as the backup suffix, and others read it as the script.
        let first = script.files.iter().position(|at| !arguments[*at].is_empty())?;
        scripts.push(arguments[script.files.remove(first)].clone());
        script.files.retain(|at| !arguments[*at].is_empty());
    }
    scripts.iter().all(|script| is_plain_script(script)).then_some(script)
}

/// Returns whether no part of a script runs a program, reads from one, or prints into a file.
fn is_plain_awk(script: &str) -> bool {
    let script = &without_texts(script);
    let is_pipe = script.replace("||", "").contains('|');
    let prints_into = script
        .split([';', '}', '\n'])
        .any(|part| part.split_once("print").is_some_and(|(_, printed)| printed.contains('>')));
    // With `@`, gawk loads a file or calls a function by its name.
    !is_pipe && !prints_into && !["system", "getline", "@"].iter().any(|word| script.contains(word))
}

/// Returns a script of `awk` without what stands in its texts and its patterns. One that is not plainly a pattern stays.
fn without_texts(script: &str) -> String {
    let mut kept = String::new();
    // Whether a `/` begins a pattern: behind a value, it divides. A line that goes on in the next one is not followed.
    let goes_on = script.contains("\\\n");
    let mut is_begin = !goes_on;
    let mut chars = script.chars();
    while let Some(char) = chars.next() {
        kept.push(char);
        match char {
            '#' => drop(chars.by_ref().find(|char| *char == '\n')),
            '"' | '/' if char == '"' || is_begin => {
                let mut is_in_brackets = false;
                while let Some(next) = chars.next() {
                    match next {
                        '\\' => drop(chars.next()),
                        '[' => is_in_brackets |= char == '/',
                        // Whether the brackets go on depends on the version.
                        '/' if char == '/' && is_in_brackets => return script.to_owned(),
                        next if next == char => break,
                        _ => {}
                    }
                }
                is_begin = false;
            }
            ' ' | '\t' => {}
            char => is_begin = "(,!~{};&|\n".contains(char) && !goes_on,
        }
    }
    kept
}

enum SedOption<'a> {
    Alone,
    /// A file has the script.
    File(&'a str),
    FileIsNext,
    Script(&'a str),
    ScriptIsNext,
}

/// Returns that a file has the script. `None` if that is what it reads.
fn is_script_file(file: &str) -> Option<bool> {
    (file != "-" && !file.starts_with("/dev/")).then_some(true)
}

/// Reads an option without its first dash. `None` if it is not known.
fn sed_option(option: &str) -> Option<SedOption<'_>> {
    const LONG: [&str; 9] = [
        "-sandbox",
        "-debug",
        "-in-place",
        "-null-data",
        "-posix",
        "-quiet",
        "-regexp-extended",
        "-separate",
        "-silent",
    ];
    if option.starts_with('-') {
        let (name, value) =
            option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
        return match (name, value) {
            ("-expression", Some(script)) => Some(SedOption::Script(script)),
            ("-expression", None) => Some(SedOption::ScriptIsNext),
            ("-file", Some(file)) => Some(SedOption::File(file)),
            ("-file", None) => Some(SedOption::FileIsNext),
            (name, None) if LONG.contains(&name) => Some(SedOption::Alone),
            ("-in-place", Some(ending)) if is_ending(ending) => Some(SedOption::Alone),
            _ => None,
        };
    }
    let rest = option.trim_start_matches(['n', 'E', 'r', 's', 'u', 'z']);
    match rest.split_at_checked(1) {
        None => (!option.is_empty()).then_some(SedOption::Alone),
        Some(("e", "")) => Some(SedOption::ScriptIsNext),
        Some(("f", "")) => Some(SedOption::FileIsNext),
        Some(("f", file)) => Some(SedOption::File(file)),
        Some(("e", script)) => Some(SedOption::Script(script)),
        Some(("i", ending)) if is_ending(ending) => Some(SedOption::Alone),
        Some(_) => None,
    }
}

/// Returns whether `sed -i` keeps the old file beside the changed one, under its name with this suffix.
fn is_ending(ending: &str) -> bool {
    !ending.contains(['/', '*'])
}

/// Returns whether a script of `sed` only prints, deletes and changes lines.
fn is_plain_script(script: &str) -> bool {
    let mut chars = script.chars().peekable();
    loop {
        while chars.next_if(|char| matches!(char, ' ' | ';' | '\n' | '}')).is_some() {}
        if chars.peek().is_none() {
            return true;
        }
        if read_command(&mut chars).is_none() {
            return false;
        }
    }
}

/// Reads one command with its addresses. `None` if it is unknown.
fn read_command(chars: &mut Peekable<Chars<'_>>) -> Option<()> {
    read_address(chars)?;
    if chars.next_if_eq(&',').is_some() {
        chars.next_if(|char| matches!(char, '+' | '~'));
        read_address(chars)?;
    }
    while chars.next_if(|char| matches!(char, ' ' | '!')).is_some() {}
    match chars.next()? {
        '{' => Some(()),
        'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | '=' => Some(()),
        'q' | 'Q' | 'l' => {
            while chars.next_if(char::is_ascii_digit).is_some() {}
            Some(())
        }
        'a' | 'i' | 'c' => {
            chars.by_ref().find(|char| *char == '\n');
            Some(())
        }
        command @ ('s' | 'y') => {
            let mark = chars.next().filter(|mark| !mark.is_alphanumeric() && !"\\\n ".contains(*mark))?;
            read_part(chars, mark)?;
            read_part(chars, mark)?;
            // The flags `e`, which runs the result, and `w`, which writes a file, are not accepted.
            let is_flag = |char: &char| command == 's' && (char.is_ascii_digit() || "gIip".contains(*char));
            while chars.next_if(is_flag).is_some() {}
            chars.peek().is_none_or(|next| " ;\n}".contains(*next)).then_some(())
        }
        // Among the others, `e` runs a program, and `r`, `R`, `w` and `W` read or write another file.
        _ => None,
    }
}

/// Reads an address, or none.
fn read_address(chars: &mut Peekable<Chars<'_>>) -> Option<()> {
    match chars.peek() {
        Some('$') => drop(chars.next()),
        Some('/') => {
            chars.next();
            read_part(chars, '/')?;
            while chars.next_if(|char| matches!(char, 'I' | 'M')).is_some() {}
        }
        _ => while chars.next_if(|char| char.is_ascii_digit() || *char == '~').is_some() {},
    }
    Some(())
}

/// Reads up to the next mark that is not escaped. `None` if the mark may be a literal character, because it is in
/// brackets.
fn read_part(chars: &mut Peekable<Chars<'_>>, mark: char) -> Option<()> {
    let mut is_in_brackets = false;
    loop {
        match chars.next()? {
            char if char == mark => return (!is_in_brackets).then_some(()),
            '\\' => drop(chars.next()?),
            '[' => is_in_brackets = true,
            ']' => is_in_brackets = false,
            _ => {}
        }
    }
}

/// Returns whether code of Perl only replaces texts: `s/a/b/g`. With the flag `e`, or in `@{…}`, it would run what it finds.
pub(super) fn is_substitution(code: &str) -> bool {
    let code = code.trim().trim_end_matches(';').trim_end();
    let Some(rest) = code.strip_prefix(['s', 'y']) else { return false };
    let Some(mark) = rest.chars().next().filter(|mark| "/|#,!:%".contains(*mark)) else { return false };
    let mut parts = vec![String::new()];
    let mut chars = rest[mark.len_utf8()..].chars();
    while let Some(char) = chars.next() {
        match (char, parts.last_mut()) {
            ('\\', Some(part)) => {
                part.push(char);
                part.extend(chars.next());
            }
            (char, _) if char == mark => parts.push(String::new()),
            (char, Some(part)) => part.push(char),
            (_, None) => return false,
        }
    }
    match &parts[..] {
        [from, to, flags] => !runs(from) && !runs(to) && flags.chars().all(|flag| "gimsxr".contains(flag)),
        _ => false,
    }
}

/// Returns whether code of Perl only prints lines, or parts of them: `print "$1\n" if /a(.)/`.
pub(super) fn is_print(code: &str) -> bool {
    let code = code.trim().trim_end_matches(';').trim_end();
    let Some(rest) = ["print", "say"].iter().find_map(|word| code.strip_prefix(word)) else { return false };
    if !rest.is_empty() && !rest.starts_with([' ', '"', '\'', '$']) {
        return false;
    }
    let Some(rest) = behind_value(rest.trim_start()) else { return false };
    let rest = rest.trim_start();
    if rest.is_empty() {
        return true;
    }
    let Some(condition) = ["if ", "unless "].iter().find_map(|word| rest.strip_prefix(word)) else {
        return false;
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match condition.trim().split_once("..") {
        Some((from, to)) if is_number(from.trim()) && is_number(to.trim()) => true,
        _ => is_match(condition.trim()),
    }
}

/// Returns what stands behind a value of Perl that is printed: a variable, a number or a text, or none.
fn behind_value(code: &str) -> Option<&str> {
    let is_name = |char: char| char.is_ascii_alphanumeric() || char == '_';
    match code.chars().next() {
        Some('$') => {
            let rest = code[1..].trim_start_matches(is_name);
            let index = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
            match index {
                Some((index, rest))
                    if index.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit()) =>
                {
                    Some(rest)
                }
                Some(_) => None,
                None => Some(rest).filter(|rest| rest.len() + 1 < code.len()),
            }
        }
        Some(mark @ ('"' | '\'')) => {
            let (text, rest) = code[1..].split_once(mark)?;
            let is_whole = !text.replace("\\n", "").replace("\\t", "").contains('\\');
            (is_whole && !runs(text)).then_some(rest)
        }
        Some(char) if char.is_ascii_digit() => {
            Some(code.trim_start_matches(|char: char| char.is_ascii_digit()))
        }
        _ => Some(code),
    }
}

/// Returns whether code of Perl is one regular expression that matches.
fn is_match(code: &str) -> bool {
    let code = code.strip_prefix('!').unwrap_or(code);
    let Some((pattern, flags)) = code.strip_prefix('/').and_then(|rest| rest.rsplit_once('/')) else {
        return false;
    };
    let mut is_escaped = false;
    let ends_early = pattern.chars().any(|char| {
        let ends = char == '/' && !is_escaped;
        is_escaped = char == '\\' && !is_escaped;
        ends
    });
    !ends_early && !is_escaped && !runs(pattern) && flags.chars().all(|flag| "gimsx".contains(flag))
}

/// Returns whether Perl or Ruby would run a part of a text or a pattern: a block, or the index of a variable, unless that
/// is a number.
fn runs(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '$', '@']) {
        let after = &rest[at + 1..];
        if rest[at..].starts_with('\\') {
            rest = after.get(after.chars().next().map_or(0, char::len_utf8)..).unwrap_or_default();
            continue;
        }
        let name = after.trim_start_matches(|char: char| char.is_ascii_alphanumeric() || "_:".contains(char));
        let index = name.strip_prefix("->").unwrap_or(name);
        if let Some(index) = index.strip_prefix(['[', '{']) {
            let number = index
                .strip_prefix('-')
                .unwrap_or(index)
                .trim_start_matches(|char: char| char.is_ascii_digit());
            if name.len() == after.len() || !number.starts_with([']', '}']) {
                return true;
            }
        }
        rest = name;
    }
    ["(?{", "(??{", "`", "#{"].iter().any(|sign| text.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_only_prints() {
        for code in [
            "print",
            "print if /foo/",
            "print unless /a|b/i;",
            "print $1 if /v(\\d+)/",
            "print \"$1\\n\" if /a\\/(.)/",
            "print $F[0]",
            "say $_",
            "print if 10..20",
            "print 1",
        ] {
            assert!(is_print(code), "{code}");
        }
        for code in [
            "print `ls`",
            "print STDOUT 1",
            "print system(1)",
            "print if system(1)",
            "print if /a/ && system(1)",
            "print if /a/; unlink $_",
            "print if /(?{ system(1) })/",
            "print \"@{[system(1)]}\"",
            "print $x->run",
            "print $F[system(1)]",
            "print {$f} 1",
            "print if /a/ or unlink /b/",
            "print \"$F[system(1)]\"",
            "print \"$h{system(1)}\"",
            "print \"$x->[system(1)]\"",
            "print \"@F[system(1)]\"",
            "print if /$F[system(1)]/",
            "printf 1",
        ] {
            assert!(!is_print(code), "{code}");
        }
    }

    #[test]
    fn scripts_of_awk_that_only_print() {
        for script in [
            r"/system\(/ {print FILENAME}",
            r#"{print "a > b"}"#,
            r#"$0 ~ "system""#,
            "{s += $1 / 2} END {print s / NR}",
            "# system\n{print}",
            "!/getline/",
        ] {
            assert!(is_plain_awk(script), "{script}");
        }
        for script in [
            r#"{system("a")}"#,
            r#"{a = b / system("a") / c}"#,
            r#"{print $1 > "a"}"#,
            r#"{print | "sh"}"#,
            r#"/[/]/ {system("a")} /x/"#,
            r#"{a++ / system("a") / 2}"#,
            "{print \"\\\"\"; system(\"a\")}",
            "{a\\\n/ system(1) / 2}",
        ] {
            assert!(!is_plain_awk(script), "{script}");
        }
    }

    #[test]
    fn code_that_only_replaces() {
        for code in ["s/a/b/", "s/a/b/g;", "s|a/b|$1|gi", r"s/\$\{?TMP\}?/x/g", "y/a/b/"] {
            assert!(is_substitution(code), "{code}");
        }
        let others = [
            "s/a/system(1)/e",
            "s/a/b/ge",
            "s/a/@{[1]}/",
            "s/a/$F[system(1)]/",
            "s/a/$h{system(1)}/",
            "s/(?{1})/a/",
            "s/a/b/; exit",
            "s/a/b",
            "print 1",
            "",
        ];
        for code in others {
            assert!(!is_substitution(code), "{code}");
        }
    }
}
