//! Code that prints numbers, texts and constants, and does nothing else: `puts RUBY_VERSION`. More is not read of Ruby, PHP,
//! Lua, R, Julia and Elixir.

/// What prints, and which values have names in small letters.
struct Printing {
    words: &'static [&'static str],
    values: &'static [&'static str],
}

/// Returns whether code only prints.
pub(super) fn prints(language: &str, code: &str) -> bool {
    let (words, values): (&[_], &[_]) = match language {
        "ruby" => (&["puts", "print", "p", "pp"], &[]),
        "php" => (&["echo", "print"], &["phpversion()"]),
        "lua" => (&["print"], &["jit.version"]),
        "r" => (&["cat", "print"], &["R.version.string", "R.version$major", "R.version$minor", "getwd()"]),
        "julia" => (&["println", "print"], &[]),
        "elixir" => (&["IO.puts", "IO.inspect"], &["System.version()", "System.version"]),
        _ => return false,
    };
    let printing = Printing { words, values };
    let statements: Vec<_> = code.trim().trim_end_matches(';').split(';').collect();
    statements.iter().all(|statement| printing.is_print(statement.trim()))
}

impl Printing {
    fn is_print(&self, statement: &str) -> bool {
        let begins_value = |rest: &str| rest.starts_with([' ', '(', '"', '\'']);
        let behind = self.words.iter().filter_map(|word| statement.strip_prefix(word));
        behind.filter(|rest| begins_value(rest)).any(|rest| self.values(rest.trim_start()) == Some(""))
    }

    /// Returns what stands behind values with operators between them.
    fn values<'c>(&self, code: &'c str) -> Option<&'c str> {
        let mut rest = self.value(code)?.trim_start();
        while let Some(operator) =
            ["..", "<>", "+", "-", "*", "/", ".", ","].iter().find(|it| rest.starts_with(**it))
        {
            rest = self.value(rest[operator.len()..].trim_start())?.trim_start();
        }
        Some(rest)
    }

    /// Returns what stands behind a number, a text, a constant, or values in parentheses.
    fn value<'c>(&self, code: &'c str) -> Option<&'c str> {
        if let Some(inner) = code.strip_prefix('(') {
            return self.values(inner.trim_start())?.strip_prefix(')');
        }
        if let Some(mark) = code.chars().next().filter(|mark| matches!(mark, '"' | '\'')) {
            let (text, rest) = code[1..].split_once(mark)?;
            // What is put into a text may be code.
            let is_whole = !text.replace("\\n", "").replace("\\t", "").contains(['\\', '#', '$', '{', '`']);
            return is_whole.then_some(rest);
        }
        let is_behind = |rest: &&str| !rest.starts_with(|char: char| is_of_name(char) || char == '(');
        if let Some(rest) = self.values.iter().filter_map(|value| code.strip_prefix(value)).find(is_behind) {
            return Some(rest);
        }
        let (name, rest) = code.split_at(code.find(|char| !is_of_name(char)).unwrap_or(code.len()));
        let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
        let is_constant = name.len() > 1
            && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
            && name.bytes().any(|byte| byte.is_ascii_uppercase());
        // With parentheses or words behind it, the name is that of a function.
        let is_value = !name.is_empty() && (is_number || is_constant) && is_behind(&rest);
        is_value.then_some(rest)
    }
}

fn is_of_name(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_only_prints() {
        for (language, code) in [
            ("ruby", "puts RUBY_VERSION"),
            ("ruby", "puts 1 + 1"),
            ("ruby", "p(\"a\", 2); puts 'b'"),
            ("php", "echo PHP_VERSION;"),
            ("php", "echo PHP_VERSION . \"\\n\";"),
            ("php", "echo phpversion(), PHP_EOL;"),
            ("lua", "print(_VERSION)"),
            ("lua", "print \"a\""),
            ("lua", "print(1 .. 'a')"),
            ("r", "cat(R.version.string)"),
            ("r", "cat(R.version.string, '\\n')"),
            ("julia", "println(VERSION)"),
            ("elixir", "IO.puts(System.version)"),
            ("elixir", "IO.puts(1 + (2 * 3))"),
        ] {
            assert!(prints(language, code), "{language}: {code}");
        }
    }

    #[test]
    fn code_that_may_do_more() {
        for (language, code) in [
            ("ruby", "puts `ls`"),
            ("ruby", "puts \"#{system('x')}\""),
            ("ruby", "puts %x(ls)"),
            ("ruby", "puts 1 %x(ls)"),
            ("ruby", "puts system('x')"),
            ("ruby", "puts A; system 'x'"),
            ("ruby", "puts AB 'x'"),
            ("ruby", "puts RUBY_VERSION.system('x')"),
            ("ruby", "puts 1.send(:system, 'x')"),
            ("ruby", "puts File.read('a')"),
            ("ruby", "puts 1 if system('x')"),
            ("ruby", "puts(1) { system('x') }"),
            ("ruby", "puts 1\nsystem('x')"),
            ("ruby", "puts"),
            ("ruby", "putsx 1"),
            ("php", "echo SYSTEM('x');"),
            ("php", "echo SYSTEM ('x');"),
            ("php", "echo \"{$a}\";"),
            ("php", "echo \"a\" . `ls`;"),
            ("php", "echo 'a', exec('x');"),
            ("php", "echo ('system')('x');"),
            ("php", "echo 'a' ?> <?= system('x')"),
            ("php", "unlink('a');"),
            ("lua", "print(os.execute('x'))"),
            ("lua", "print(io.popen'x')"),
            ("r", "cat(system('x'))"),
            ("r", "print(R.version.string$x)"),
            ("julia", "println(run(`x`))"),
            ("julia", "println(\"$(run(`x`))\")"),
            ("elixir", "IO.puts(System.cmd(\"x\", []))"),
            ("elixir", "IO.puts(\"#{System.halt()}\")"),
            ("elixir", "IO.puts(System.version(1))"),
            ("other", "print(1)"),
            ("ruby", ""),
            ("ruby", "puts é"),
        ] {
            assert!(!prints(language, code), "{language}: {code}");
        }
    }
}
