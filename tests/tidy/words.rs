//! What must not be in a file, and what must be in one.

use crate::tidy::source::{Source, hold, read, repository, root, words};

/// Tests that sleep, and why nothing else would do.
const SLEEPERS: [(&str, &str); 2] = [
    ("tests/support/running.rs", "nobody is told when a process that is not one's own child has ended"),
    ("tests/journal/processes.rs", "a process is killed at any moment, and not only behind what it says"),
];

/// What other checkers hold, and the line that tells them to.
const HELD_ELSEWHERE: [(&str, &str); 11] = [
    (".cargo/config.toml", "PROPTEST_RNG_SEED = "),
    (".clippy.toml", "too-many-lines-threshold = 60"),
    ("Cargo.toml", "missing_docs = \"warn\""),
    ("Cargo.toml", "unreachable_pub = \"warn\""),
    ("Cargo.toml", "unsafe_code = \"forbid\""),
    ("Cargo.toml", "print_stdout = \"warn\""),
    ("Cargo.toml", "too_many_lines = \"warn\""),
    ("Cargo.toml", "unwrap_used = \"warn\""),
    ("tests/run", "-D warnings"),
    (".ci/run", "tests/run"),
    (".config/nextest.toml", "retries = 0"),
];

/// The rules of this folder name what they forbid.
fn is_ours(path: &str) -> bool {
    path.starts_with("tests/tidy/")
}

fn code() -> Vec<Source> {
    Source::all(&["src", "crates", "tests", "benches"])
}

#[test]
fn every_test_runs_and_says_what_it_expects() {
    hold(
        &code(),
        skipped,
        "Make the test pass, or remove it; where a panic is expected, catch it and look at it.",
    );
}

fn skipped(source: &Source) -> Vec<String> {
    let attributes = source.code.lines().enumerate().filter(|(_, line)| line.contains("#["));
    let ignored = attributes.flat_map(|(index, line)| {
        words(line, &["ignore"]).into_iter().map(move |(_, word)| (index + 1, word))
    });
    let found = ignored.chain(words(&source.code, &["should_panic"]));
    found.map(|(line, word)| source.at(line, format_args!("`{word}`"))).collect()
}

#[test]
fn no_test_sleeps() {
    hold(
        &code(),
        sleeping,
        "Wait for what is to happen, with a deadline. If nothing tells, add the file to SLEEPERS of\n\
         tests/tidy/words.rs, with the reason.",
    );
}

fn sleeping(source: &Source) -> Vec<String> {
    let excused = SLEEPERS.iter().any(|(path, _)| *path == source.path);
    let tests = source.tests();
    let found = words(&tests, &["sleep", "sleep_ms", "sleep_until", "park_timeout"]);
    match (excused, found.is_empty()) {
        (false, _) => {
            found.iter().map(|(line, word)| source.at(*line, format_args!("`{word}` in a test"))).collect()
        }
        (true, true) => vec![source.at(1, "does not sleep any more: take it off the list SLEEPERS")],
        (true, false) => Vec::new(),
    }
}

#[test]
fn property_tests_keep_their_failing_seeds() {
    hold(
        &code(),
        forgetful,
        "Configure proptest with `FileFailurePersistence::WithSource(\"seeds\")` (and `source_file` for a runner of\n\
         one's own), and commit the file that a failure writes beside the source.",
    );
}

fn forgetful(source: &Source) -> Vec<String> {
    let is_random = ["proptest!", "TestRunner::new"].iter().any(|start| source.code.contains(start));
    let keeps = source.text.contains("FileFailurePersistence::WithSource(\"seeds\")");
    let forgets = is_random && !keeps || source.code.contains("failure_persistence: None");
    if forgets { vec![source.at(1, "does not keep failing seeds")] } else { Vec::new() }
}

#[test]
fn property_tests_try_the_same_cases_in_every_run() {
    // Proptest reads it beside each test's own configuration.
    assert!(
        std::env::var_os("PROPTEST_RNG_SEED").is_some(),
        "cargo gives the seed of `.cargo/config.toml` to tests that run below the folder of the repository"
    );
    hold(
        &code(),
        unseeded,
        "Leave the seed to `.cargo/config.toml`, which `tests/explore` overrides, or draw from the number of a round.",
    );
}

/// What draws from another seed than that of the environment.
fn unseeded(source: &Source) -> Vec<String> {
    let tests = source.tests();
    let drawn =
        ["RngSeed", "default_rng", "from_entropy", "getrandom", "new_with_rng", "rng_seed", "RandomState"];
    let found = words(&tests, &drawn);
    found.iter().map(|(line, word)| source.at(*line, format_args!("`{word}` in a test"))).collect()
}

#[test]
fn nothing_is_left_to_do_and_nothing_is_about_one_machine() {
    let complaints: Vec<_> = repository()
        .iter()
        .filter(|path| !is_ours(path) && !["Cargo.lock", "LICENSE"].contains(&path.as_str()))
        .filter_map(|path| Some((path, String::from_utf8(std::fs::read(root().join(path)).ok()?).ok()?)))
        .flat_map(|(path, text)| marks(path, &text))
        .collect();
    assert!(
        complaints.is_empty(),
        "\n{}\nDo it now or file an issue; take paths from the environment, the manifest or a temporary folder.\n",
        complaints.join("\n")
    );
}

fn marks(path: &str, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        for (_, word) in words(text, &["FIXME", "HACK", "TODO", "XXX"]) {
            complaints.push(format!("{path}:{line}: `{word}`"));
        }
        // What commands may write and read is judged by the folders of any machine.
        let is_judged = ["fixtures/guard/", "tests/guard/", "crates/core/src/guard/"]
            .iter()
            .any(|it| path.starts_with(it));
        for folder in ["/home/", "/root/", "/tmp/", "/work/", "/Users/"].into_iter().filter(|_| !is_judged) {
            // In the middle of a path, it is a name of another crate.
            let starts = text.match_indices(folder).any(|(at, _)| {
                !text[..at].ends_with(|char: char| char.is_alphanumeric() || "._-~}".contains(char))
            });
            if starts {
                complaints.push(format!("{path}:{line}: a path of one machine, `{folder}`"));
            }
        }
    }
    complaints
}

#[test]
fn every_invariant_is_cited_where_it_is_kept_or_tested() {
    let (lib, mut others): (Vec<_>, _) =
        code().into_iter().partition(|source| source.path == "crates/core/src/lib.rs");
    others.retain(|source| !is_ours(&source.path));
    let missing = uncited(&lib[0].text, &others);
    assert!(
        missing.is_empty(),
        "\nlisted in crates/core/src/lib.rs, and cited nowhere else in src, crates, tests or benches: {}\n\
         Cite the invariant where it is kept, and test it there.\n",
        missing.join(", ")
    );
}

/// Returns the invariants that the text lists, as `**I1**`, and no source cites.
fn uncited<'a>(list: &'a str, sources: &[Source]) -> Vec<&'a str> {
    let listed = list.split("**").filter(|name| {
        name.strip_prefix('I').is_some_and(|number| !number.is_empty() && number.parse::<u8>().is_ok())
    });
    let listed: Vec<_> = listed.collect();
    assert!(listed.len() > 8, "crates/core/src/lib.rs lists only these invariants as `**I1**`: {listed:?}");
    let cited = |name: &str| sources.iter().any(|source| !words(&source.text, &[name]).is_empty());
    listed.into_iter().filter(|name| !cited(name)).collect()
}

#[test]
fn what_is_held_elsewhere_is_held() {
    for (path, line) in HELD_ELSEWHERE {
        assert!(
            read(&root().join(path)).contains(line),
            "{path} lost `{line}`, which holds a promise of the design"
        );
    }
}

#[test]
fn a_skipped_test_is_found() {
    let complaints = |text: &str| skipped(&Source::new("tests/x.rs", text));
    assert_eq!(complaints("#[test]\n#[ignore]\nfn a() {}"), ["tests/x.rs:2: `ignore`"]);
    assert_eq!(complaints("#[ignore = \"slow\"]").len(), 1);
    assert_eq!(complaints("#[cfg_attr(a, ignore)]").len(), 1);
    assert_eq!(complaints("#[should_panic(expected = \"\")]").len(), 1);
    assert!(complaints("// #[ignore]\nlet ignore = 1;\nlet a = \"#[should_panic]\";").is_empty());
}

#[test]
fn a_sleeping_test_is_found() {
    let complaints = |path: &str, text: &str| sleeping(&Source::new(path, text));
    assert_eq!(complaints("tests/x.rs", "a();\nthread::sleep(b);"), ["tests/x.rs:2: `sleep` in a test"]);
    assert_eq!(
        complaints("src/x.rs", "a();\n#[cfg(test)]\nmod b {\n  use tokio::time::sleep;\n}"),
        ["src/x.rs:4: `sleep` in a test"]
    );
    assert!(complaints("src/x.rs", "thread::sleep(b);").is_empty());
    assert!(complaints("tests/x.rs", "shell(\"sleep 1\"); // sleep").is_empty());
}

#[test]
fn a_mark_and_a_path_of_one_machine_are_found() {
    assert_eq!(marks("a.md", "one\n// TODO: two"), ["a.md:2: `TODO`"]);
    assert_eq!(marks("a.rs", "open(\"/home/me/a\")"), ["a.rs:1: a path of one machine, `/home/`"]);
    assert_eq!(marks("a.sh", "cd /tmp/x").len(), 1);
    assert!(marks("a.rs", "https://host.org/home/ ./tmp/a \"/work\" todo $DIR/tmp/ {dir}/tmp/").is_empty());
}

#[test]
fn an_uncited_invariant_is_found() {
    let list = "- **I1** a **I2** b **I3** **I4** **I5** **I6** **I7** **I8** **I9** **I10** **Ice**";
    assert_eq!(uncited(list, &[Source::new("src/x.rs", "// (I1), I2, I3: I4 I5/I6; I7 I8 I9")]), ["I10"]);
    assert_eq!(uncited(list, &[Source::new("src/x.rs", "I100 xI1 I2 I3 I4 I5 I6 I7 I8 I9 I10")]), ["I1"]);
}
