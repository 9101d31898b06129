//! Random scripts, run by real shells in a cage: one that is not called dangerous never runs the program that is. That
//! program only writes down that it ran; so do the others, but for those that run further ones, which are real. The scripts
//! are put together from parts, or are dangerous commands of the tables with small changes.
//! `GUARD=1000000` tries as many, see `exploring`.

use askbridge_core::{guard::command, question::Risk};

use crate::guard::cage::Cage;
use crate::guard::exploring::Inputs;
use crate::guard::random::Dice;
use crate::guard::shells::{AT_ONCE, Shells};
use crate::guard::tables::Table;

/// Programs that only write down that they ran, the first of which is dangerous.
const PROGRAMS: [&str; 9] = ["rm", "x", "r", "m", "ls", "git", "make", "cargo", "npm"];

/// Programs that run others, or that carry texts to them.
const REAL: [&str; 22] = [
    "awk", "bash", "busybox", "cat", "dash", "env", "find", "head", "nice", "nohup", "sed", "setsid", "sh",
    "sort", "stdbuf", "tail", "tee", "timeout", "tr", "true", "xargs", "zsh",
];

/// Parts of scripts. None of them writes a file but `a`, and none can run without end.
const PARTS: [&str; 212] = [
    "rm x",
    "rm",
    "rm x",
    "r",
    "m",
    "x",
    " ",
    " ",
    " ",
    " ",
    " ",
    "ls",
    "cat a",
    "git",
    "make",
    "x=rm",
    "x=ls",
    "x='rm x'",
    "x=",
    "$x",
    "\"$x\"",
    "${x}",
    "${x:-rm}",
    "${x%a}",
    "y=$x",
    "$y",
    ";",
    ";",
    "\n",
    "\n",
    "&&",
    "||",
    "|",
    "&",
    "(",
    ")",
    "{ ",
    "; }",
    "if ",
    "; then ",
    "; else ",
    "; fi",
    "for x in a rm; do ",
    "; done",
    "case a in a) ",
    ";; esac",
    "$(",
    ")",
    "`",
    "'",
    "\"",
    "\\",
    "#",
    "> a",
    "2>&1",
    "< a",
    "<<E\n",
    "<<'E'\n",
    "\nE\n",
    "$((1",
    "))",
    "[[ a",
    " ]]",
    "eval ",
    "a",
    "env ",
    "env -S '",
    "env -i ",
    "env x=1 ",
    "xargs ",
    "xargs -I{} ",
    "nice ",
    "nice -n 5 ",
    "timeout 5 ",
    "timeout -k 1 5 ",
    "nohup ",
    "setsid ",
    "stdbuf -oL ",
    "sh -c '",
    "bash -c \"",
    "zsh -c '",
    "dash -c '",
    "busybox sh -c '",
    "bash -lc '",
    "sh -ec '",
    "sh -s",
    "| sh",
    "| bash",
    "| xargs ",
    "| tee a",
    "| cat",
    "find . -name a -exec ",
    "find . -ok ",
    " {} \\;",
    " {} +",
    "awk 'BEGIN{system(\"",
    "\")}'",
    "sed -n '1e ",
    "sed p a",
    "command ",
    "command -v ",
    "command -p ",
    "exec ",
    "exec -a x ",
    "builtin ",
    "time ",
    "time -p ",
    "noglob ",
    "nocorrect ",
    "- ",
    "coproc ",
    "trap '",
    "' EXIT",
    ". ",
    "source ",
    "alias x=",
    "repeat 2 ",
    "test ",
    "printf %s ",
    "printf -v x ",
    "echo ",
    "echo rm x ",
    "read x",
    "read x <<< rm",
    "declare x=",
    "typeset ",
    "export x=",
    "local ",
    "let ",
    "set -- ",
    "unset x",
    "IFS=",
    "IFS=x ",
    "\"$@\"",
    "$1",
    "$*",
    "${x:=rm}",
    "${x/a/rm}",
    "${x+rm}",
    "${!x}",
    "${x@P}",
    "${(e)x}",
    "$'",
    "$\"",
    "*",
    "?",
    "[r]m",
    "{rm,x}",
    "{r,}m",
    "~",
    "=rm x",
    "=",
    "--",
    "-",
    "-c",
    "%",
    "!",
    "! ",
    "|&",
    "&>",
    ">|",
    ">>",
    "<<<",
    "<(",
    ">(",
    "$[",
    "((",
    "\r",
    "\t",
    "while false; do ",
    "until true; do ",
    "while read x; do ",
    "elif ",
    "else ",
    "fi",
    "do ",
    "esac",
    "select x in rm; do ",
    "in ",
    "a=",
    "A=1 ",
    "x+=rm",
    "x=(rm x)",
    "\"${x[@]}\"",
    "$x$y",
    "x=r y=m;",
    "always {",
    "foreach x (rm) ",
    "end",
    "-exec",
    ";;",
    ";&",
    ";|",
    "<<-E\n",
    "\n\tE\n",
    "\\\n",
    "\u{a0}",
    "$#",
    "$?",
    "$-",
    "$!",
    "@",
    "r\"\"m x",
    "r''m x",
    "\\rm x",
    "/bin/rm x",
    "'rm' x",
    "RM x",
    "rm -f x",
    "x=$(",
    "x=`",
    "1",
];

/// Beginnings of loops that end, without white space: the input has an end.
const ENDING: [&str; 3] = ["whilefalse;do", "untiltrue;do", "whilereadx;do"];

/// What a dangerous command has to have, so that it may be run by mistake: nothing that takes long, or takes much.
fn is_bounded(line: &str) -> bool {
    const LONG: [&str; 12] = [
        "while true",
        "while :",
        "yes",
        "/dev/zero",
        "random",
        "sleep",
        "tail -f",
        "|:&",
        "watch",
        "entr",
        "inotify",
        "until false",
    ];
    line.split(|char: char| !char.is_ascii_alphanumeric()).any(|word| word == "rm")
        && !LONG.iter().any(|long| line.contains(long))
}

/// Returns whether a script may run without end: it has a loop that does not plainly end, or a function, which may call
/// itself. The tables have functions.
fn may_not_end(script: &str) -> bool {
    let dense: String = script.split(|char: char| char.is_whitespace() || char == '\\').collect();
    let rest = ENDING.iter().fold(dense, |dense, ending| dense.replace(ending, ""));
    ["()", "function", "while", "until"].iter().any(|part| rest.contains(part))
}

/// Returns commands that may run the dangerous program.
fn dangerous() -> Vec<String> {
    let of = |name: &str| Table::read(name).cases.into_iter().map(|case| case.line);
    ["commands.txt", "dangerous.txt"].into_iter().flat_map(of).filter(|line| is_bounded(line)).collect()
}

fn spliced(dice: &mut Dice<'_>) -> String {
    let count = 2 + dice.below(9);
    (0..count).map(|_| dice.one(&PARTS)).collect()
}

/// Returns a line with up to three small changes.
fn changed(dice: &mut Dice<'_>, lines: &[String]) -> String {
    let mut chars: Vec<_> = lines[(dice.below(256) * 256 + dice.below(256)) % lines.len()].chars().collect();
    for _ in 0..=dice.below(3) {
        let from = dice.below(256) % (chars.len() + 1);
        let to = (from + dice.below(4) * dice.below(4)).min(chars.len());
        let part: Vec<_> = match dice.below(4) {
            0 => Vec::new(),
            1 => chars[from..to].iter().chain(&chars[from..to]).copied().collect(),
            _ => dice.one(&PARTS).chars().collect(),
        };
        let to = if dice.below(2) == 0 { from } else { to };
        chars.splice(from..to, part);
    }
    chars.into_iter().collect()
}

#[test]
fn what_is_not_called_dangerous_runs_nothing_that_is() {
    let Some(cage) = Cage::find("what shells run of commands that are not called dangerous") else { return };
    let (inputs, lines) = (Inputs::new(6000), dangerous());
    assert!(lines.len() > 100, "{}", lines.len());
    let shells = Shells::with(cage, &PROGRAMS, &REAL);
    let (mut harmless, mut tried, mut wrong) = (Vec::new(), 0, Vec::new());
    for number in inputs.numbers() {
        let bytes = inputs.bytes(number);
        let mut dice = Dice::new(&bytes);
        let script = if dice.below(2) == 0 { spliced(&mut dice) } else { changed(&mut dice, &lines) };
        if command::risk(&script, None).0 != Risk::Dangerous && !may_not_end(&script) {
            harmless.push(script);
        }
        if harmless.len() == AT_ONCE || number + 1 == inputs.count {
            let ran = shells.running(PROGRAMS[0], &harmless).into_iter();
            wrong.extend(
                ran.map(|(shell, command)| format!("{shell} runs rm before input {number}: {command:?}")),
            );
            tried += std::mem::take(&mut harmless).len() as u64;
        }
        inputs.say(number, &format!("{tried} scripts, wrong: {wrong:#?}"));
    }
    inputs.say(inputs.count, &format!("{tried} scripts, wrong: {wrong:#?}"));
    assert!(wrong.is_empty(), "seed {}: {wrong:#?}", inputs.seed);
    // Otherwise nothing would be judged.
    assert!(tried > (inputs.count - inputs.from) / 50, "{tried}");
}
