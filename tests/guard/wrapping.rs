//! No way to put a dangerous command into a larger one makes it less dangerous: a list, a group, a loop, a condition, a
//! substitution, a shell of its own, the text that a shell reads.

use askbridge_core::{guard::command, question::Risk};

use crate::guard::random::in_single_quotes;
use crate::guard::tables::{Table, hold};

/// Larger commands that run this one.
fn wrapped(inner: &str) -> Vec<String> {
    let quoted = in_single_quotes(inner);
    vec![
        format!("ls; {inner}"),
        format!("{inner}\nls"),
        format!("ls\n{inner}"),
        format!("true && {inner}"),
        format!("false || {inner}"),
        format!("( {inner}\n)"),
        format!("{{ {inner}\n}}"),
        format!("if true; then {inner}\nfi"),
        format!("if {inner}\nthen ls; fi"),
        format!("if false; then ls; else {inner}\nfi"),
        format!("while {inner}\ndo ls; done"),
        format!("while read x; do {inner}\ndone < /etc/a"),
        format!("for i in 1 2; do {inner}\ndone"),
        format!("case a in a) {inner}\n;; esac"),
        format!("f() {{ {inner}\n}}; f"),
        format!("function f {{ {inner}\n}}"),
        format!("echo $({inner}\n)"),
        format!("echo \"$({inner}\n)\""),
        format!("x=$({inner}\n)"),
        format!("cat <({inner}\n)"),
        format!("cat <<EOF\n$({inner}\n)\nEOF"),
        format!("{inner}\n:"),
        format!("Q=1; {inner}"),
        format!("bash -c {quoted}"),
        format!("bash -lc {quoted}"),
        format!("sh -ec {quoted} x"),
        format!("eval {quoted}"),
        format!("env A=1 bash -c {quoted}"),
        format!("timeout 5 bash -c {quoted}"),
        format!("echo a | bash -c {quoted}"),
        format!("find . -exec sh -c {quoted} ';'"),
        format!("watch {quoted}"),
    ]
}

#[test]
fn no_larger_command_makes_a_dangerous_one_less_dangerous() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for name in ["commands.txt", "dangerous.txt"] {
        for case in Table::read(name).cases {
            let inner = &case.line;
            // A line break takes its place, or ends it.
            let is_open = inner.ends_with('\\') || inner.starts_with('#');
            if is_open || command::risk(inner, None).0 != Risk::Dangerous {
                continue;
            }
            for outer in wrapped(inner) {
                count += 1;
                let (risk, why) = command::risk(&outer, None);
                wrong.extend(
                    (risk != Risk::Dangerous).then(|| format!("{}: {outer:?}: {risk} {why}", case.place)),
                );
            }
        }
    }
    assert!(count > 50_000, "{count}");
    hold(&wrong, count);
}
