//! Completions in real shells, as far as these are installed, and man pages.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::json;

use crate::answers::machine::{ASKBRIDGE, TestMachine};
use crate::support::Process;

/// Asks a question with options that a shell has to quote, and returns its ID.
fn asked(machine: &TestMachine) -> (Process, String) {
    let options = ["None of the above", "Nine", "$(touch pwned)"];
    let params = json!({ "sessionId": "s", "questions": [{ "question": "Which one?", "options": options, "multiple": true }] });
    let method = "_sandboxagent/session/request_question";
    let line = json!({ "jsonrpc": "2.0", "id": "ask", "method": method, "params": params }).to_string();
    let agent = r#"printf '%s\n' "$1"; exec cat"#;
    let bridge = machine.start(&["run", "--client-questions", "none", "--", "sh", "-c", agent, "sh", &line]);
    (bridge, machine.question())
}

/// Returns the candidates that `complete` prints, each with its meaning.
fn candidates(machine: &TestMachine, words: &[&str]) -> Vec<(String, String)> {
    let lines = machine.ok(&[&["complete", "--"], words].concat());
    let pair = |line: &str| {
        let (word, meaning) = line.split_once('\t').unwrap();
        (word.to_owned(), meaning.to_owned())
    };
    lines.lines().map(pair).collect()
}

#[test]
fn ids_options_and_commands_are_offered() {
    let machine = TestMachine::new();
    let (_bridge, id) = asked(&machine);
    let pair = |word: &str, meaning: &str| (word.to_owned(), meaning.to_owned());
    assert_eq!(candidates(&machine, &["answer", ""]), [pair(&id, "Which one?")]);
    assert_eq!(candidates(&machine, &["answer", &id, "Nine,None"]), [pair("Nine,None of the above", "")]);
    assert_eq!(candidates(&machine, &["answer", &id, "--field", ""]), [pair("q0=", "Which one?")]);
    assert_eq!(candidates(&machine, &["answer", &id, "--field", "q0=Ni"]), [pair("q0=Nine", "")]);
    assert!(candidates(&machine, &["ext"]).contains(&pair("extend", "Give a question more time")));
    let levels: Vec<_> =
        candidates(&machine, &["run", "--log", ""]).into_iter().map(|(word, _)| word).collect();
    assert!(levels.contains(&"debug".to_owned()), "{levels:?}");
    for command in ["try", "apply"] {
        assert_eq!(candidates(&machine, &["rules", command, ""]), [pair(&id, "Which one?")]);
    }
    let all = pair("--history", "Show it for all questions in the journal");
    assert_eq!(candidates(&machine, &["rules", "try", "--h"])[0], all);
    assert_eq!(candidates(&machine, &["answer", "--again", ""]), [pair(&id, "Which one?")]);
    let beside_again = candidates(&machine, &["answer", &id, "--again", ""]);
    assert!(beside_again.iter().all(|(word, _)| word.starts_with("--")), "no value: {beside_again:?}");
    let since = pair("--since", "With --history: only questions settled at most this long ago");
    assert_eq!(candidates(&machine, &["rules", "try", "--history", "--s"]), [since]);
    let hidden = candidates(&machine, &["comp"]);
    assert_eq!(hidden.iter().map(|(word, _)| &**word).collect::<Vec<_>>(), ["completions"]);
    assert_eq!(candidates(&TestMachine::new(), &["show", ""]), []);
}

/// Returns a program of this name on the path.
fn installed(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file())
}

/// Runs a script in a shell that finds this program, and returns its stdout.
#[track_caller]
fn shell(machine: &TestMachine, program: &Path, args: &[&str], script: &str) -> String {
    let path = std::env::var("PATH").unwrap();
    let folder = Path::new(ASKBRIDGE).parent().unwrap().display();
    let mut command = Command::new(program);
    command
        .args(args)
        .args(["-c", script])
        .env("XDG_RUNTIME_DIR", machine.path())
        .env("XDG_STATE_HOME", machine.path().join("state"))
        .env("HOME", machine.path());
    command.env("PATH", format!("{folder}:{path}")).current_dir(machine.path());
    let mut process = Process::spawn(&mut command);
    process.close_stdin();
    let run = crate::answers::machine::end(process);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(!machine.path().join("pwned").exists(), "the text of an agent was run");
    run.stdout
}

#[test]
fn bash_completes() {
    let Some(bash) = installed("bash") else { return };
    let machine = TestMachine::new();
    let (_bridge, id) = asked(&machine);
    // Each word of `typed` is one of the shell's; the last one is completed.
    let complete = |typed: &[&str], current: &str| {
        let words: Vec<_> = typed.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
        let script = format!(
            "source <(askbridge completions bash); COMP_WORDS=({}); COMP_CWORD={}; COMP_TYPE=9; COLUMNS=80
             _askbridge askbridge '{current}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            words.join(" "),
            words.len() - 1
        );
        shell(&machine, &bash, &["--norc"], &script)
    };
    assert_eq!(complete(&["askbridge", "answer", ""], ""), format!("{id}\n"));
    assert_eq!(complete(&["askbridge", "answer", &id, "No"], "No"), "None\\ of\\ the\\ above\n");
    assert_eq!(complete(&["askbridge", "answer", &id, "'No"], "No"), "None of the above\n");
    assert_eq!(complete(&["askbridge", "answer", &id, "$"], "$"), "\\$\\(touch\\ pwned\\)\n");
    assert_eq!(complete(&["askbridge", "list", "--log", "=", "deb"], "deb"), "debug\n");
    let levels = complete(&["askbridge", "list", "--log", "="], "");
    assert!(levels.starts_with("off  (") && levels.contains("\ndebug  ("), "{levels}");
    assert_eq!(complete(&["askbridge", "answer", &id, "--field", "q"], "q"), "q0=\n");
    assert_eq!(complete(&["askbridge", "answer", &id, "--field", "q0", "=", "Ni"], "Ni"), "Nine\n");
    assert_eq!(complete(&["askbridge", "ext"], "ext"), "extend\n");
    let several = complete(&["askbridge", "com"], "com");
    assert_eq!(several, "completions\n");
    let several = complete(&["askbridge", "re"], "");
    assert!(several.contains("reject  (Reject a question or a permission)\n"), "{several}");
    let programs = complete(&["askbridge", "run", "--", "askbrid"], "askbrid");
    assert!(programs.lines().any(|line| line == "askbridge"), "{programs}");
}

#[test]
fn fish_completes() {
    let Some(fish) = installed("fish") else { return };
    let machine = TestMachine::new();
    let (_bridge, id) = asked(&machine);
    let complete = |line: &str| {
        shell(
            &machine,
            &fish,
            &["--no-config"],
            &format!("askbridge completions fish | source; complete -C {line:?}"),
        )
    };
    assert_eq!(complete("askbridge answer "), format!("{id}\tWhich one?\n"));
    assert_eq!(complete(&format!("askbridge answer {id} No")), "None of the above\n");
    assert!(complete("askbridge ext").starts_with("extend\tGive a question more time\n"));
    assert!(complete("askbridge run -- askbrid").starts_with("askbridge"));
}

/// Types each line into an interactive zsh on a terminal of its own, completes it, and prints what it is then.
const ZSH: &str = r#"
    zmodload zsh/zpty
    zpty shell zsh -f -i
    # The key Ctrl-T reports the line between bytes that zsh does not print otherwise, and clears it.
    zpty -w shell 'autoload -Uz compinit; compinit -u -D; source <(askbridge completions zsh)
        report() { print -rn -- $'"'\1'"'$BUFFER$'"'\2'"'; BUFFER= }; zle -N report; bindkey "^T" report; print $'"'\1\2'"
    zpty -r shell seen $'*\1\2*'
    for line in "${(@f)typed}"; do
        zpty -w -n shell "$line"$'\t\x14'
        zpty -r shell seen $'*\1*\2*'
        print -r -- "${${seen##*$'\1'}%%$'\2'*}|"
    done
    zpty -d shell
"#;

#[test]
fn zsh_completes() {
    let Some(zsh) = installed("zsh") else { return };
    let machine = TestMachine::new();
    let (_bridge, id) = asked(&machine);
    let answer = format!("askbridge answer {id}");
    let lines = [
        ("askbridge answer ".to_owned(), format!("askbridge answer {id} ")),
        (format!("{answer} No"), format!(r"{answer} None\ of\ the\ above ")),
        (format!("{answer} 'No"), format!("{answer} 'None of the above' ")),
        (format!(r"{answer} \$"), format!(r"{answer} \$\(touch\ pwned\) ")),
        (format!("{answer} --field q"), format!("{answer} --field q0=")),
        ("askbridge list --log=deb".to_owned(), "askbridge list --log=debug ".to_owned()),
        ("askbridge ext".to_owned(), "askbridge extend ".to_owned()),
        ("askbridge run -- askbridge ext".to_owned(), "askbridge run -- askbridge extend ".to_owned()),
    ];
    let typed = lines.each_ref().map(|(typed, _)| typed.replace('\'', r"'\''")).join("\n");
    let seen = shell(&machine, &zsh, &["-f"], &format!("typed='{typed}'\n{ZSH}"));
    let completed: Vec<_> = seen.lines().map(|line| line.trim_end_matches('|')).collect();
    assert_eq!(completed, lines.each_ref().map(|(_, completed)| &**completed));
}

#[test]
fn man_pages_are_written_for_every_command() {
    let machine = TestMachine::new();
    let folder = machine.path().join("man/man1");
    machine.ok(&["man", folder.to_str().unwrap()]);
    let page = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert!(page("askbridge.1").contains("askbridge\\-answer(1)"));
    assert!(page("askbridge-answer.1").contains("\\-\\-text"));
    assert!(page("askbridge-run.1").contains("\\-\\-log\\-file"));
    assert!(!folder.join("askbridge-complete.1").exists(), "it is for scripts only");
    let pages = fs::read_dir(&folder).unwrap().map(|page| page.unwrap().file_name().into_string().unwrap());
    let pages: BTreeSet<_> = pages.collect();
    for list in ["archive", "deb", "rpm"] {
        let list = format!("packaging/files/{list}.txt");
        let files = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&list)).unwrap();
        let listed = files.lines().filter_map(|line| line.split_once("/man1/"));
        let listed: BTreeSet<_> = listed.map(|(_, page)| page.trim_end_matches(".gz").to_owned()).collect();
        let (missing, gone): (Vec<_>, Vec<_>) =
            (pages.difference(&listed).collect(), listed.difference(&pages).collect());
        assert!(missing.is_empty() && gone.is_empty(), "{list}: add {missing:?}, remove {gone:?}");
    }
}
