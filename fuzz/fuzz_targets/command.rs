//! Any text is judged as a command without a panic, and no text before it or around it hides a harmful one.
//!
//! ```sh
//! mkdir -p fuzz/corpus/command
//! RUSTC_BOOTSTRAP=1 cargo fuzz run command fuzz/corpus/command fuzz/seeds/command -- -max_total_time=300
//! ```
#![no_main]

use askbridge_core::{guard::command::risk, question::Risk};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let project = Some("/people/ada/shop");
    let (alone, why) = risk(text, project);
    // The folder only adds what is known.
    assert!(alone.degree() <= risk(text, None).0.degree(), "{text:?}");
    for larger in [format!("rm x; {text}"), format!("rm x\n{text}"), format!("( {text}\n); rm x")] {
        assert_eq!(risk(&larger, project).0, Risk::Dangerous, "{larger:?}");
    }
    // In a here-document, the line may be its end; behind a backslash, it is no command.
    if !text.contains("<<") && !text.ends_with('\\') {
        let behind = format!("{text}\nrm x");
        assert_eq!(risk(&behind, project).0, Risk::Dangerous, "{behind:?}");
    }
    // What cannot be read may close what is around it. No words do nothing, and only the last line is the mark of a cut text.
    let is_read = !["cannot be read", "has no words", "was cut"].iter().any(|it| why.contains(it));
    if alone == Risk::Dangerous && is_read && !text.contains("<<") && !text.ends_with('\\') {
        for larger in
            [format!("( {text}\n)"), format!("if true; then {text}\nfi"), format!("echo \"$({text}\n)\"")]
        {
            assert_eq!(risk(&larger, project).0, Risk::Dangerous, "{larger:?}");
        }
    }
});
