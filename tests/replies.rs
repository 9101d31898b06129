//! The agent is told what was chosen, in whatever shape it asks and the client answers (I4).
//! Hand-picked questions and answers are tested beside the dialect itself.

#[cfg(test)]
#[path = "support/replying.rs"]
mod replying;

#[cfg(test)]
mod native {
    use proptest::{prelude::*, sample::select, test_runner::FileFailurePersistence};
    use serde_json::{Map, Value, json};

    use crate::replying::{question, told};

    /// Texts of an option or an answer. None begins like another one and a comma: joined, those could not be told
    /// apart.
    const TEXTS: [&str; 12] = [
        "option-a",
        "Option A",
        "b",
        "a, b",
        "x,y",
        "\"quoted\"",
        "\"half",
        "é\u{1f600}",
        "1",
        "true",
        " ",
        "null",
    ];
    /// Names of a field, some of which look like another name of another field.
    const LABELS: [&str; 10] = ["Which?", "Why, and how?", "DB", "0", "1", "2", "q0", "q1", "", "\"?\""];

    fn config(cases: u32) -> ProptestConfig {
        let seeds = FileFailurePersistence::WithSource("seeds");
        ProptestConfig { cases, ..ProptestConfig::with_failure_persistence(seeds) }
    }

    /// How many values a field takes.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Takes {
        One,
        Many,
        Typed,
    }

    /// A field of a question, what is chosen in it, and in which words it is said.
    #[derive(Clone, Debug)]
    struct Field {
        label: &'static str,
        header: &'static str,
        options: Vec<(&'static str, &'static str)>,
        takes: Takes,
        chosen: Vec<String>,
        said: Vec<String>,
    }

    fn options() -> impl Strategy<Value = Vec<(&'static str, &'static str)>> {
        let different = |texts: Vec<&'static str>| Just(texts).prop_shuffle();
        (different(TEXTS.to_vec()), different(TEXTS.to_vec()), 0..5usize, any::<bool>()).prop_map(
            |(values, labels, count, same)| {
                let labels = if same { values.clone() } else { labels };
                values.into_iter().zip(labels).take(count).collect()
            },
        )
    }

    /// What may be typed.
    fn typed() -> impl Strategy<Value = String> {
        prop_oneof![select(&TEXTS[..]).prop_map(str::to_owned), ".{0,12}"]
    }

    fn field() -> impl Strategy<Value = Field> {
        let takes = select(&[Takes::One, Takes::Many][..]);
        let picks = prop::collection::vec((any::<prop::sample::Index>(), any::<bool>(), any::<bool>()), 0..5);
        (options(), takes, picks, typed()).prop_map(|(options, takes, picks, typed)| {
            let takes = if options.is_empty() { Takes::Typed } else { takes };
            let mut field =
                Field { label: "", header: "", options, takes, chosen: Vec::new(), said: Vec::new() };
            for (index, by_label, types) in picks {
                if takes == Takes::Many || field.chosen.is_empty() {
                    if types { field.type_or_pick(typed.clone()) } else { field.pick(index, by_label) }
                }
            }
            if takes != Takes::Many && field.chosen.is_empty() {
                field.type_or_pick(typed);
            }
            field
        })
    }

    impl Field {
        /// Types a text, unless that would name an option.
        fn type_or_pick(&mut self, typed: String) {
            match self.options.iter().find(|(value, label)| typed == *value || typed == *label) {
                Some((value, _)) => self.say((*value).to_owned(), (*value).to_owned()),
                None => self.say(typed.clone(), typed),
            }
        }

        fn pick(&mut self, index: prop::sample::Index, by_label: bool) {
            if self.options.is_empty() {
                return;
            }
            let (value, label) = self.options[index.index(self.options.len())];
            // A value wins over a label of the same text.
            let names_it = self.options.iter().all(|(other, _)| *other != label);
            self.say(value.to_owned(), if by_label && names_it { label } else { value }.to_owned());
        }

        fn say(&mut self, chosen: String, said: String) {
            if !self.chosen.contains(&chosen) {
                self.chosen.push(chosen);
                self.said.push(said);
            }
        }

        fn asked(&self) -> Value {
            json!({
                "question": self.label,
                "header": self.header,
                "options": self.options,
                "multiple": self.takes == Takes::Many,
                "custom": true,
            })
        }

        /// The values as one text. What is no option is quoted where it could be read otherwise.
        fn joined(&self) -> String {
            let is_option =
                |said: &str| self.options.iter().any(|(value, label)| said == *value || said == *label);
            let items = self.said.iter().map(|said| match self.takes {
                Takes::Many if !is_option(said) => Value::from(said.as_str()).to_string(),
                _ => said.clone(),
            });
            items.collect::<Vec<_>>().join(", ")
        }

        /// The only value as it is, several as an array.
        fn value(&self) -> Value {
            if self.takes == Takes::Many { json!(self.said) } else { json!(self.said[0]) }
        }
    }

    fn fields() -> impl Strategy<Value = Vec<Field>> {
        let names = || Just(LABELS.to_vec()).prop_shuffle();
        (prop::collection::vec(field(), 1..5), names(), names()).prop_map(|(mut fields, labels, headers)| {
            for (field, (label, header)) in fields.iter_mut().zip(labels.into_iter().zip(headers)) {
                (field.label, field.header) = (label, header);
            }
            fields
        })
    }

    /// One of the ways to name a field: by its label, name, header or index.
    fn keys(fields: &[Field], way: usize) -> Vec<String> {
        let key = |(index, field): (usize, &Field)| match way {
            0 => field.label.to_owned(),
            1 => format!("q{index}"),
            2 => field.header.to_owned(),
            _ => index.to_string(),
        };
        fields.iter().enumerate().map(key).collect()
    }

    fn object(keys: &[String], values: impl Iterator<Item = Value>) -> Value {
        Value::Object(keys.iter().cloned().zip(values).collect::<Map<_, _>>())
    }

    /// All the ways to say what was chosen.
    fn results(fields: &[Field], way: usize) -> Vec<Value> {
        let answers: Vec<_> = fields.iter().map(|field| &field.said).collect();
        let meta = json!({"sandboxagent.dev": {"answers": answers}});
        let mut results = vec![
            json!({"status": "answered", "answers": answers}),
            json!({"outcome": "answered", "_meta": meta}),
            json!({"outcome": "selected", "_meta": meta}),
        ];
        let keys = keys(fields, way);
        // Where all keys name fields in two ways, nobody can say which is meant.
        let all = |way| {
            let others = self::keys(fields, way);
            keys.iter().all(|key| others.contains(key))
        };
        if fields.len() == 1 || !(0..way).any(all) {
            let values = || fields.iter().map(Field::value);
            let moded = values().map(|value| json!({"mode": "option", "value": value}));
            results.extend([
                json!({"answers": object(&keys, fields.iter().map(|field| json!(field.joined())))}),
                json!({"answers": object(&keys, values())}),
                json!({"answers": object(&keys, moded)}),
                json!({"action": "accept", "content": object(&keys, values())}),
            ]);
        }
        if let [only] = fields {
            results.push(json!({"questionId": "q", "values": only.said}));
        }
        results
    }

    /// The parameters that ask these fields.
    fn params(fields: &[Field], short: bool) -> Value {
        match fields {
            [only] if short && only.takes != Takes::Many => {
                json!({"sessionId": "s", "prompt": only.label, "options": only.options})
            }
            _ => json!({"sessionId": "s", "questions": fields.iter().map(Field::asked).collect::<Vec<_>>()}),
        }
    }

    /// Any JSON, often with the names that the dialect looks for.
    fn any_json() -> impl Strategy<Value = Value> {
        const NAMES: [&str; 24] = [
            "status",
            "answers",
            "outcome",
            "_meta",
            "sandboxagent.dev",
            "askbridge",
            "action",
            "content",
            "values",
            "cancelled",
            "response",
            "notes",
            "annotations",
            "q0",
            "0",
            "Which?",
            "mode",
            "value",
            "prompt",
            "options",
            "questions",
            "question",
            "label",
            "fields",
        ];
        const WORDS: [&str; 12] = [
            "answered",
            "rejected",
            "cancelled",
            "selected",
            "accept",
            "decline",
            "cancel",
            "a",
            "A, b",
            "text",
            "choice",
            "",
        ];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            select(&WORDS[..]).prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 40, 6, |value| {
            let object = prop::collection::vec((select(&NAMES[..]), value.clone()), 0..6);
            prop_oneof![
                1 => prop::collection::vec(value, 0..4).prop_map(Value::from),
                3 => object.prop_map(|members| {
                    Value::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
                }),
            ]
        })
    }

    proptest! {
        #![proptest_config(config(800))]

        #[test]
        fn the_agent_is_told_what_was_chosen(fields in fields(), way in 0..4usize, short: bool) {
            // The only prompt cannot be empty.
            let short = short && !fields[0].label.is_empty();
            let params = params(&fields, short);
            let question = question(params.to_string().as_bytes()).expect("a question");
            let chosen: Vec<_> = fields.iter().map(|field| field.chosen.clone()).collect();
            for result in results(&fields, way) {
                let told = told(&question, result.to_string().as_bytes());
                prop_assert_eq!(told, Some(Some(chosen.clone())), "{} to {}", result, params);
            }
        }

        #[test]
        fn any_reply_is_understood_as_one_thing_or_not_at_all(result in any_json(), fields in fields()) {
            let question = question(params(&fields, false).to_string().as_bytes()).expect("a question");
            told(&question, result.to_string().as_bytes());
        }

        #[test]
        fn any_parameters_are_a_question_or_refused(params in any_json()) {
            if let Some(question) = question(params.to_string().as_bytes()) {
                told(&question, br#"{"status":"answered","answers":[["a"]]}"#);
            }
        }
    }

    #[test]
    fn fields_that_cannot_be_told_apart_are_refused() {
        let field = |name: &str| json!({"name": name, "label": "L", "kind": "text"});
        let params =
            |second| json!({"prompt": "?", "_meta": {"askbridge": {"fields": [field("a"), field(second)]}}});
        assert!(question(params("b").to_string().as_bytes()).is_some());
        assert!(question(params("a").to_string().as_bytes()).is_none());
    }

    #[test]
    fn values_of_other_types_are_told_as_they_were_given() {
        let fields = json!([
            {"name": "b", "label": "B", "kind": "boolean"},
            {"name": "n", "label": "N", "kind": "number"},
            {"name": "y", "label": "Y", "kind": "confirm", "yes": "Yes", "no": "No"},
        ]);
        let params = json!({"prompt": "?", "_meta": {"askbridge": {"fields": fields}}});
        let question = question(params.to_string().as_bytes()).expect("a question");
        let result = br#"{"action":"accept","content":{"b":false,"n":-7.5,"y":true}}"#;
        let told = told(&question, result).flatten().expect("an answer");
        assert_eq!(told, [["false"], ["-7.5"], ["Yes"]]);
    }
}
