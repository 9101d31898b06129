//! Whether code does nothing but compute, read and print.

use super::{
    super::scripts,
    modules::Modules,
    printing,
    tables::{JAVASCRIPT, Language, PYTHON, has},
    tokens::{
        Token::{self, Format, Name, Number, Sign, Text},
        tokens,
    },
};

/// Code that does nothing but compute, read and print.
#[derive(Debug, PartialEq)]
pub(in crate::guard) struct Plain {
    /// Whether it imports code of other files, which runs.
    pub runs: bool,
}

/// How long code may be, in bytes.
const LONGEST: usize = 4096;

/// Reads code. `None` if it may do more than compute, read and print.
pub(in crate::guard) fn read(language: &str, code: &str) -> Option<Plain> {
    match language {
        "python" => PYTHON.read(code, 0),
        "js" => JAVASCRIPT.read(code, 0),
        "perl" => {
            (scripts::is_substitution(code) || scripts::is_print(code)).then_some(Plain { runs: false })
        }
        "ruby" if scripts::is_substitution(code) => Some(Plain { runs: false }),
        other => printing::prints(other, code).then_some(Plain { runs: false }),
    }
}

impl Language {
    fn read(&self, code: &str, depth: usize) -> Option<Plain> {
        if depth > 2 || code.len() > LONGEST {
            return None;
        }
        let tokens = tokens(self, code).filter(|tokens| is_balanced(tokens))?;
        let modules = Modules::of(self, &tokens)?;
        let own = self.own(&tokens, &modules);
        let is_plain = (0..tokens.len()).all(|at| match &tokens[at] {
            _ if modules.has_read(at) => true,
            // A text may name the member that is taken out of an object.
            Text(name) if self.is_js() && tokens.get(at + 1) == Some(&Sign(':')) => {
                !name.contains('\\') && self.may_be_asked(name)
            }
            Number | Text(_) => true,
            Sign('[') if self.is_js() => !may_name_a_member(&tokens, at),
            Sign(char) => !matches!(char, '@' | '\\' | '$'),
            Format(text) => self.is_plain_format(text, &own, depth),
            Name(name) => self.knows(name, &tokens, at, &own),
        });
        is_plain.then_some(Plain { runs: modules.runs })
    }

    fn knows(&self, name: &str, tokens: &[Token<'_>], at: usize, own: &[&str]) -> bool {
        let is_object = |name: &str| self.objects.is_none_or(|objects| has(objects, name));
        match tokens[..at] {
            // What is spread is no member.
            [.., Sign('.'), Sign('.')] => {}
            [.., Name(object), Sign('.')] if is_object(object) => return has(self.members, name),
            [.., Sign('.')] if self.objects.is_none() => return has(self.members, name),
            [.., Sign('.')] => return self.may_be_asked(name),
            _ => {}
        }
        if self.objects.is_some() && is_object(name) {
            return tokens.get(at + 1) == Some(&Sign('.'));
        }
        if name == "open" {
            return !self.is_js() && only_reads(&tokens[at + 1..]);
        }
        has(self.names, name) || own.contains(&name)
    }

    /// Returns whether any object may be asked for this member.
    fn may_be_asked(&self, member: &str) -> bool {
        !has(self.hidden, member) && !member.starts_with('_')
    }

    /// Returns the names that the code itself gives a value.
    fn own<'t>(&self, tokens: &[Token<'t>], modules: &Modules<'t>) -> Vec<&'t str> {
        let is_given = |at: usize| {
            let before = at.checked_sub(1).map(|before| &tokens[before]);
            let after = (tokens.get(at + 1), tokens.get(at + 2));
            let is_target = matches!(
                before,
                Some(Name("for" | "const" | "let" | "var" | "as" | "lambda" | "def" | "function"))
            );
            let is_listed = matches!(before, Some(Sign(',' | '(' | '{')));
            let is_set = matches!(after, (Some(Sign('=')), next) if !matches!(next, Some(Sign('='))));
            let is_parameter =
                matches!(after.0, Some(Sign(')' | ',' | ':' | '}'))) || after.0 == Some(&Name("in"));
            is_target || is_set || (is_listed && is_parameter)
        };
        let names = (0..tokens.len()).filter(|at| is_given(*at)).filter_map(|at| match tokens[at] {
            Name(name) if !has(self.refused, name) && !name.starts_with("__") => Some(name),
            _ => None,
        });
        names.chain(modules.taken.iter().copied()).collect()
    }

    fn is_plain_format(&self, text: &str, own: &[&str], depth: usize) -> bool {
        let begins = if self.is_js() { "${" } else { "{" };
        let mut rest = if self.is_js() { text.to_owned() } else { text.replace("{{", "").replace("}}", "") };
        let given: String = own.iter().map(|name| format!("{name} = 0\n")).collect();
        while let Some(begin) = rest.find(begins) {
            let Some(length) = rest[begin..].find('}') else { return false };
            let inner = &rest[begin + begins.len()..begin + length];
            // Where it ends is not known if it has braces of its own.
            if inner.contains('{') {
                return false;
            }
            let inner = if self.is_js() { inner } else { without_format(inner) };
            if self.read(&format!("{given}({inner})"), depth + 1).is_none() {
                return false;
            }
            rest = rest[begin + length + 1..].to_owned();
        }
        true
    }
}

/// Returns the value of a field in a formatted text of Python, without how it is formatted.
fn without_format(field: &str) -> &str {
    let value = field.split_once(':').map_or(field, |(value, _)| value);
    let value = ["!r", "!s", "!a"].iter().find_map(|how| value.strip_suffix(how)).unwrap_or(value);
    value.strip_suffix('=').unwrap_or(value)
}

/// Returns whether the bracket that opens here may hold the name of a member, as a text may in JavaScript.
fn may_name_a_member(tokens: &[Token<'_>], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| &tokens[before]);
    match before {
        Some(Name(_) | Sign(')' | ']') | Text(_) | Format(_)) => {
            !matches!(tokens.get(at + 1..at + 3), Some([Number, Sign(']')]))
        }
        // `{ [NAME]: … }`
        Some(Sign('{' | ',')) => {
            closing(tokens, at).is_none_or(|end| tokens.get(end + 1) == Some(&Sign(':')))
        }
        _ => false,
    }
}

/// Returns how deep the code is in brackets behind a part. `None` if one closes that did not open.
fn depth_behind(depth: usize, token: &Token<'_>) -> Option<usize> {
    match token {
        Sign('(' | '[' | '{') => Some(depth + 1),
        Sign(')' | ']' | '}') => depth.checked_sub(1),
        _ => Some(depth),
    }
}

/// Returns whether all brackets are closed. What is cut off in the middle of code means something else.
fn is_balanced(tokens: &[Token<'_>]) -> bool {
    tokens.iter().try_fold(0, depth_behind) == Some(0)
}

/// Returns where the bracket is closed that opens here.
fn closing(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let mut depth = 0;
    let length = tokens[at..].iter().position(|token| {
        depth = depth_behind(depth, token).unwrap_or_default();
        depth == 0
    })?;
    Some(at + length)
}

/// Returns whether the words in parentheses behind `open` only ask for reading.
fn only_reads(behind: &[Token<'_>]) -> bool {
    let Some(end) = closing(behind, 0).filter(|_| behind.first() == Some(&Sign('('))) else { return false };
    let inner = &behind[1..end];
    let is_between = |at: &usize| inner[*at] == Sign(',') && is_balanced(&inner[..*at]);
    let ends: Vec<_> = (0..inner.len()).filter(is_between).chain([inner.len()]).collect();
    // A list in the place of the words may hold a mode as well.
    let is_file = !matches!(inner.first(), Some(Sign('*')));
    is_file
        && ends.windows(2).all(|pair| match &inner[pair[0] + 1..pair[1]] {
            [Text(mode)] | [Name("mode"), Sign('='), Text(mode)] => matches!(*mode, "r" | "rb" | "rt"),
            [Name("encoding" | "errors" | "newline"), Sign('='), Text(_)] => true,
            _ => false,
        })
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
            "import os; print(os.getcwd(), os.path.join('a', 'b'), os.path.exists('c'))",
            "from pathlib import Path\nprint(Path('a').read_text().count('x'))",
            "from collections import Counter; print(Counter('aab').most_common(1))",
            "import ast,sys; ast.parse(open(sys.argv[1], encoding='utf-8').read()); print('ok')",
            "import yaml; print(yaml.safe_load(open('a.yml', 'r')))",
            "from importlib.metadata import version; print(version('numpy'))",
            "import numpy as np\nprint(np.mean([1, 2]), np.random.rand(2), np.__version__)",
            "import torch; print(torch.__version__, torch.cuda.is_available())",
            "x = 1; print(f'{x!r} {x=} {x:.2f}')",
            "",
        ] {
            assert!(read("python", code).is_some(), "{code}");
        }
        for code in [
            "console.log(1)",
            "console.log(require('./package.json').version)",
            "console.log(process.version)",
            "console.log(JSON.stringify({a: 1}))",
            "const a = [1, 2]; console.log(a.map(x => x + 1)[0])",
            "console.log(require('fs').readFileSync('a.txt', 'utf8').split('\\n').length)",
            "const fs = require('node:fs'), path = require('path'); console.log(fs.existsSync(path.join('a', 'b')))",
            "const { readFileSync } = require('fs'); console.log(JSON.parse(readFileSync(0)).a)",
            "let s = ''; process.stdin.on('data', d => s += d).on('end', () => console.log(JSON.parse(s).a))",
            "const a = 'x'; console.log(`${a} and ${a.length}`)",
            "console.log('a/b'.replace(/[/]b/g, 'c').split(/,/)) // done",
            "console.log(1 / 2 /* half */)",
            "import fs from 'node:fs'; console.log(fs.existsSync('a'))",
            "import * as path from 'path'\nconsole.log(path.join('a', 'b'))",
            "import { readFileSync, existsSync as is } from 'fs'; console.log(readFileSync('a'), is('b'))",
        ] {
            assert!(read("js", code).is_some(), "{code}");
        }
    }

    #[test]
    fn code_of_other_files_runs_where_it_is_imported() {
        for (language, code, runs) in [
            ("python", "import json", false),
            ("python", "import os.path, numpy", false),
            ("python", "import app; print(app.__version__)", true),
            ("python", "import json, app", true),
            ("python", "from app import __version__ as v; print(v)", true),
            ("js", "console.log(require('./package.json').version)", false),
            ("js", "console.log(require('react/package.json').version)", false),
            ("js", "console.log(require('fs').existsSync('a'))", false),
            ("js", "console.log(Object.keys(require('./dist/index.js')))", true),
            ("js", "const a = require('a'); console.log(a.version)", true),
            ("js", "import a from './a.js'; console.log(a.version)", true),
            ("js", "import fs from 'fs'; console.log(fs.existsSync('a'))", false),
        ] {
            assert_eq!(read(language, code), Some(Plain { runs }), "{code}");
        }
    }

    #[test]
    fn python_that_may_do_more_is_not() {
        for code in [
            "import os; os.remove('a')",
            "import os as o; o.system('x')",
            "import os; x = os; x.system('x')",
            "from os import remove; remove('a')",
            "from os import *",
            "import os.path as p; p.os.remove('a')",
            "import app; app.run()",
            "from app import run",
            "import app; getattr(app, 'run')()",
            "from pathlib import Path; Path('a').replace('b')",
            "import pathlib as p; p.Path('a').unlink()",
            "import numpy as np; np.ones(2).dump('a')",
            "import numpy; numpy.save('a', 1)",
            "open('a', 'w')",
            "open('a', mode='a')",
            "open('a', 'r+')",
            "open('a', m)",
            "f = open; f('a', 'w')",
            "import yaml; yaml.load(open('a'))",
            "import torch; torch.load('a')",
            "if 1: import shutil; shutil.rmtree('a')",
            "import json, \\\nshutil",
            "print(f'{open(1, 2)}')",
            "print(f'{ {1: eval(1)} }')",
            "print(f'{1:{eval(1)}}')",
            "print(f'{(lambda: eval(1))()}')",
            "a = [1]; print(f'{a[0:eval(1)]}')",
            "open(*['a', 'w'])",
            "open(**{'file': 'a', 'mode': 'w'})",
            "from pathlib import Path; Path('a').copy('b')",
            "import pandas as pd; pd.read_csv('a').to_string('b')",
            "__import__('os').system('x')",
            "exec('x')",
            "exec = 1; exec('x')",
            "print(f'{exec(1)}')",
            "open('a', 'w')",
            "import sys; sys.modules['os'].system('x')",
            "from json import os",
            "from os import system as x",
            "system = 1; import os; os.system('x')",
            "().__class__.__bases__",
            "import json; json.codecs",
            "import subprocess; subprocess.run('x')",
            "@exec\nclass a: pass",
            "import importlib; importlib.import_module('x')",
            "for exec in [1]: exec('x')",
            "getattr(1, 'x')",
            "print(1)\\\nexec(1)",
            "input()",
            "(lambda: exec)()",
            "e\u{301}",
        ] {
            assert!(read("python", code).is_none(), "{code}");
        }
    }

    #[test]
    fn javascript_that_may_do_more_is_not() {
        for code in [
            "require('child_process').exec('x')",
            "require('fs')",
            "require('fs').rmSync('a')",
            "const fs = require('fs'); fs.rmSync('a')",
            "const fs = require('fs'); const g = fs; g.rmSync('a')",
            "const fs = require('fs'); Object.values(fs)[3]('a')",
            "const { rmSync } = require('fs'); rmSync('a')",
            "const { readFileSync: a } = require('fs')",
            "const { a } = require('a')",
            "const a = require('a'); a('x')",
            "(require('a'))('x')",
            "require('a')('x')",
            "[require('a')].map(f => f('x'))",
            "Promise.resolve(require('a')).then(f => f('x'))",
            "require('../a.json')",
            "const p = process; p.kill(1)",
            "({...process}).kill(1)",
            "process?.kill(1)",
            "(process).kill(1)",
            "Object.values(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(x => x)))",
            "const { constructor: c } = x => x; c('x')()",
            "JSON.parse('1').constructor.constructor('x')()",
            "process.env.A",
            "require(x)",
            "({}) /eval('x')/ 1",
            "({} /eval('x')/ 1)",
            "a = 1; a++ /eval('x')/ 1",
            "const a = /* [ */ eval(1) /* ] */",
            "console.log(`${`${eval(1)}`}`)",
            "console.log(`${ {a: 1} && eval(1) }`)",
            "let c; ({['constructor']: c} = x => x); c('x')()",
            "let c; ({'constructor': c} = x => x); c('x')()",
            "let c; ({'\\x63onstructor': c} = x => x); c('x')()",
            "let c; ({a: 1, ['constructor']: c} = x => x)",
            "if (1) /'/.test(eval(1)); /'/",
            "if (1) 1; else /'/.test(eval(1)); /'/",
            "let of = 4; of /eval(1)/ 2",
            "console.log(`\\`${eval(1)}`)",
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
            assert!(read("js", code).is_none(), "{code}");
        }
        assert!(read("perl", "unlink 'a'").is_none());
    }

    #[test]
    fn javascript_that_imports_what_may_do_more_is_not() {
        for code in [
            "import fs from 'fs'; fs.rmSync('a')",
            "import fs from 'fs'; const a = fs; a.rmSync('a')",
            "import { rmSync } from 'fs'",
            "import { rmSync as readFileSync } from 'fs'; readFileSync('a')",
            "import { exec } from 'child_process'; exec('x')",
            "import { run } from './a.js'; run()",
            "import a from './a.js'; a('x')",
            "import a from '../a.js'",
            "import a from 'data:text/javascript,x'",
            "import 'a'",
            "import a, { b } from 'fs'",
            "import process from 'process'; process.kill(1)",
        ] {
            assert!(read("js", code).is_none(), "{code}");
        }
    }
}
