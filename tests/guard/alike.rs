//! What a rule that is made from one permission leaves open does no more than what it was made from, by the commands of the
//! tables.

use askbridge_core::guard::alike;

use crate::guard::{
    cases::{rules, runs},
    project::decided,
    tables::{Table, hold},
};

#[test]
fn what_a_rule_leaves_open_risks_no_more_than_what_it_was_made_from() {
    let (mut wrong, mut allowed, mut kept) = (Vec::new(), 0, 0);
    for name in ["commands.txt", "dangerous.txt", "everyday.txt", "holes.txt", "looks.txt"] {
        for case in Table::read(name).cases {
            // Of a table of rules, the command stands behind the rule.
            let line = case.line.rsplit(" => ").next().unwrap_or_default();
            let words: Vec<_> = line.split(' ').map(str::to_owned).collect();
            let Some(count) = alike(&words) else { continue };
            let first = words[..count].join(" ");
            let settings = rules(&format!("rule command = {:?} ⏎ then = 'allow'", format!("{first} *")));
            let Some(question) = runs(line) else { continue };
            let risk = question.risk();
            if decided(&settings, question).is_err() {
                kept += 1;
                continue;
            }
            allowed += 1;
            let made_from = runs(&first).expect("a permission").risk();
            if risk.degree() > made_from.degree() {
                wrong.push(format!("{}: {risk}, and `{first}` is {made_from}: {line}", case.place));
            }
        }
    }
    assert!(allowed > 100 && kept > 100, "{allowed} allowed, {kept} left to the person");
    hold(&wrong, allowed);
}
