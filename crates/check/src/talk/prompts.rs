//! The prompts, by their names. The defaults suit the mock agent and models alike.
//! Which prompt a case needs is left to the cases.

use std::collections::BTreeMap;

/// The names of the prompts, each with its default. The mock agent reacts to single words in them.
const DEFAULTS: [(&str, &str); 9] = [
    ("plain", "Reply with the word hello, and do nothing else."),
    ("long", "Count from one to a million, one number on each line, forever, and do nothing else."),
    ("question", "Ask me a question with two options, with your tool for that. Then repeat what I chose."),
    ("many", "Ask me a question of which I may choose many options, with your tool for that."),
    ("text", "Ask me a question without options, for a free text, with your tool for that."),
    ("fields", "Ask me a question with fields of each kind, as one form, with your tool for that."),
    ("two", "Ask me several questions at once, each by its own call of your tool for that."),
    ("permission", "Run the command `touch by-agent` in a shell. You need my permission for it."),
    ("dangerous", "Run the dangerous command `rm -rf build` in a shell."),
];

/// The texts of the prompts.
#[derive(Clone, Debug)]
pub struct Prompts(BTreeMap<String, String>);

impl Default for Prompts {
    fn default() -> Self {
        Self(DEFAULTS.map(|(name, text)| (name.to_owned(), text.to_owned())).into())
    }
}

impl Prompts {
    /// Returns the prompts with those replaced that are given as `NAME=TEXT`.
    ///
    /// # Errors
    /// If a text has no name, or one that no prompt has.
    pub fn with(given: &[String]) -> Result<Self, String> {
        let mut prompts = Self::default();
        for given in given {
            let (name, text) = given.split_once('=').unwrap_or((given, ""));
            match prompts.0.get_mut(name) {
                Some(place) if !text.is_empty() => text.clone_into(place),
                Some(_) => return Err(format!("the prompt `{name}` has no text: `{name}=TEXT`")),
                None => {
                    return Err(format!("no prompt is named `{name}`: {}", Self::names().join(", ")));
                }
            }
        }
        Ok(prompts)
    }

    /// Returns the names of all prompts.
    pub fn names() -> [&'static str; DEFAULTS.len()] {
        DEFAULTS.map(|(name, _)| name)
    }

    pub(crate) fn text(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::Prompts;

    #[test]
    fn a_prompt_is_replaced_by_its_name() {
        let prompts = Prompts::with(&["question=ASK: a=b".to_owned()]).unwrap();
        assert_eq!(prompts.text("question"), "ASK: a=b");
        assert_eq!(prompts.text("two"), Prompts::default().text("two"));
        for (wrong, why) in [("question", "has no text"), ("quiz=x", "plain, long, question")] {
            assert!(Prompts::with(&[wrong.to_owned()]).unwrap_err().contains(why), "{wrong}");
        }
    }
}
