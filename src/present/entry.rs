//! What a person gives at a prompt of a dialogue, as it arrives: a line, a paste, or the end of the input.
//! What a typed line means is left to `dialogue.rs`, what keys do to `keyboard` of `crates/os`.

use std::time::Duration;

use askbridge_core::question::{Field, Kind, Purpose};
use askbridge_os::{
    keyboard::{Entry, Takes},
    limits,
};

use super::{
    caution,
    dialogue::{Dialogue, DialogueReply, DialogueStep, say},
};

impl Dialogue {
    /// Returns what the prompt takes: a text may have line breaks, and a secret is not shown.
    pub fn takes(&self) -> Takes {
        let takes_text = |field: &Field| {
            let is_text = matches!(field.kind, Kind::Text { .. } | Kind::Texts { .. } | Kind::Json { .. });
            is_text || field.kind.takes_other()
        };
        let lines = self.step == DialogueStep::Reason || self.field().is_some_and(takes_text);
        Takes { lines, secret: self.field().is_some_and(|field| field.secret) }
    }

    /// Returns how long the keyboard must be quiet before the prompt is shown. What was typed until then was meant for
    /// something else: it must not decide on a permission, and answers nothing. Who is still typing when the command
    /// begins makes no long pause either.
    pub fn pause(&self) -> Duration {
        let decides = match self.step {
            DialogueStep::Caution | DialogueStep::Reason | DialogueStep::Field(0) => true,
            DialogueStep::Field(_) | DialogueStep::Review => self.question().purpose != Purpose::Question,
        };
        if decides { limits::QUIET } else { limits::BURST }
    }

    /// Takes what the person gave at the prompt.
    pub fn entered(&mut self, entry: Entry) -> DialogueReply {
        match entry {
            // A paste shows nothing of what its person has read.
            Entry::Text { is_pasted: true, .. } if self.is_caution() => {
                say(&format!("Nothing was sent: a paste does not confirm. Type {}, or /back.", caution::WORD))
            }
            Entry::Text { text, .. } => self.typed(&text),
            Entry::Lines(count) => {
                say(&format!("Nothing of it was taken: {count} lines came at once, and this takes one line."))
            }
            Entry::TooLong => say("Nothing of it was taken: the text is too long for an answer."),
            Entry::Cleared => say("The text is thrown away."),
            Entry::End => DialogueReply::Leave,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{
        super::dialogue::tests::{answered, database, permission, record, text},
        *,
    };

    #[test]
    fn a_paste_of_lines_is_a_text_or_nothing() {
        let typed = |text: &str| Entry::Text { text: text.to_owned(), is_pasted: false };
        let number = json!({ "name": "n", "label": "N", "kind": "number" });
        let plain = json!({ "name": "t", "label": "T", "kind": "text" });
        let mut closed = database();
        closed["other"] = json!(false);
        for (field, lines) in
            [(text("why"), true), (plain, true), (database(), true), (closed, false), (number, false)]
        {
            let mut dialogue = Dialogue::new(record(&json!({ "fields": [field] })));
            assert_eq!(dialogue.takes(), Takes { lines, secret: false }, "{field}");
            let said = dialogue.entered(Entry::Lines(3));
            assert!(matches!(&said, DialogueReply::Say(lines) if lines[0].contains("3 lines")), "{said:?}");
            assert_eq!(dialogue.entered(Entry::End), DialogueReply::Leave);
        }
        let mut dialogue = Dialogue::new(record(&json!({ "fields": [text("why")] })));
        assert_eq!(
            dialogue.entered(typed("a:\n  - b")),
            answered(&json!({ "why": "a:\n  - b" }), &json!({}))
        );
        let mut dialogue = Dialogue::new(record(&json!({ "fields": [database()] })));
        // Lines that name options are most likely typed ahead.
        let said = dialogue.entered(typed("1\nyes"));
        assert!(
            matches!(&said, DialogueReply::Say(lines) if lines[0].contains("takes one option")),
            "{said:?}"
        );
        assert_eq!(
            dialogue.entered(typed("none:\nmy own")),
            answered(&json!({ "db": "none:\nmy own" }), &json!({}))
        );
    }

    #[test]
    fn what_decides_waits_for_a_quiet_keyboard_and_is_not_pasted() {
        let mut dialogue = Dialogue::new(permission(true));
        assert_eq!((dialogue.pause(), dialogue.takes().lines), (limits::QUIET, false));
        dialogue.typed("2");
        assert_eq!((dialogue.pause(), dialogue.takes().lines), (limits::QUIET, false));
        let said = dialogue.entered(Entry::Text { text: "yes".to_owned(), is_pasted: true });
        assert!(
            matches!(&said, DialogueReply::Say(lines) if lines[0].contains("a paste does not")),
            "{said:?}"
        );
        assert!(dialogue.is_caution());
        let mut dialogue = Dialogue::new(record(&json!({ "fields": [database(), text("why")] })));
        assert_eq!(dialogue.pause(), limits::QUIET, "the first prompt of a command");
        dialogue.typed("1");
        assert_eq!(dialogue.pause(), limits::BURST);
        dialogue.typed("/reject");
        assert_eq!((dialogue.pause(), dialogue.takes().lines), (limits::QUIET, true));
    }
}
