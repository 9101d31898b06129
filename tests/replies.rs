//! The agent receives the user's choices, whatever the shape of its question and of the client's reply (I4).
//! Single shapes are tested in the unit tests of the native dialect.

#[cfg(test)]
mod native {
    use proptest::{prelude::*, sample::select, test_runner::FileFailurePersistence};
    use serde_json::{Map, Value, json};

    use crate::support::replying::{question, received};

    /// Texts of options and answers. No text begins with another text and a comma, because joined texts would then be
    /// ambiguous.
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
    /// Labels and headers of fields. Some look like an index or a generated name.
    const LABELS: [&str; 10] = ["Which?", "Why, and how?", "DB", "0", "1", "2", "q0", "q1", "", "\"?\""];

    fn config(cases: u32) -> ProptestConfig {
        let seeds = FileFailurePersistence::WithSource("seeds");
        ProptestConfig { cases, ..ProptestConfig::with_failure_persistence(seeds) }
    }

    /// The kind of answer that a field takes.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Takes {
        One,
        Many,
        Typed,
    }

    /// A field of a question, the chosen values, and the texts in which the client replies with them.
    #[derive(Clone, Debug)]
    struct Field {
        label: &'static str,
        header: &'static str,
        options: Vec<(&'static str, &'static str)>,
        takes: Takes,
        chosen: Vec<String>,
        replied: Vec<String>,
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

    /// A typed text.
    fn typed() -> impl Strategy<Value = String> {
        prop_oneof![select(&TEXTS[..]).prop_map(str::to_owned), ".{0,12}"]
    }

    fn field() -> impl Strategy<Value = Field> {
        let takes = select(&[Takes::One, Takes::Many][..]);
        let picks = prop::collection::vec((any::<prop::sample::Index>(), any::<bool>(), any::<bool>()), 0..5);
        (options(), takes, picks, typed()).prop_map(|(options, takes, picks, typed)| {
            let takes = if options.is_empty() { Takes::Typed } else { takes };
            let mut field =
                Field { label: "", header: "", options, takes, chosen: Vec::new(), replied: Vec::new() };
            for (index, by_label, types) in picks {
                if takes == Takes::Many || field.chosen.is_empty() {
                    if types { field.type_or_choose(typed.clone()) } else { field.choose(index, by_label) }
                }
            }
            if takes != Takes::Many && field.chosen.is_empty() {
                field.type_or_choose(typed);
            }
            field
        })
    }

    impl Field {
        /// Types a text, or chooses the option that the text names.
        fn type_or_choose(&mut self, typed: String) {
            match self.options.iter().find(|(value, label)| typed == *value || typed == *label) {
                Some((value, _)) => self.add((*value).to_owned(), (*value).to_owned()),
                None => self.add(typed.clone(), typed),
            }
        }

        fn choose(&mut self, index: prop::sample::Index, by_label: bool) {
            if self.options.is_empty() {
                return;
            }
            let (value, label) = self.options[index.index(self.options.len())];
            // A value takes precedence over a label with the same text.
            let names_it = self.options.iter().all(|(other, _)| *other != label);
            self.add(value.to_owned(), if by_label && names_it { label } else { value }.to_owned());
        }

        fn add(&mut self, chosen: String, replied: String) {
            if !self.chosen.contains(&chosen) {
                self.chosen.push(chosen);
                self.replied.push(replied);
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

        /// The texts joined into one. A text that is not an option is quoted where it would be ambiguous.
        fn joined(&self) -> String {
            let is_option =
                |text: &str| self.options.iter().any(|(value, label)| text == *value || text == *label);
            let items = self.replied.iter().map(|text| match self.takes {
                Takes::Many if !is_option(text) => Value::from(text.as_str()).to_string(),
                _ => text.clone(),
            });
            items.collect::<Vec<_>>().join(", ")
        }

        /// A text for a single answer, an array for multiple choices.
        fn value(&self) -> Value {
            if self.takes == Takes::Many { json!(self.replied) } else { json!(self.replied[0]) }
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

    /// The keys of the fields, of one kind: label, name, header or index.
    fn keys(fields: &[Field], kind: usize) -> Vec<String> {
        let key = |(index, field): (usize, &Field)| match kind {
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

    /// The choices in every shape of a reply, with this kind of keys.
    fn results(fields: &[Field], kind: usize) -> Vec<Value> {
        let answers: Vec<_> = fields.iter().map(|field| &field.replied).collect();
        let meta = json!({"sandboxagent.dev": {"answers": answers}});
        let mut results = vec![
            json!({"status": "answered", "answers": answers}),
            json!({"outcome": "answered", "_meta": meta}),
            json!({"outcome": "selected", "_meta": meta}),
        ];
        let keys = keys(fields, kind);
        // Keys that are all of two kinds are ambiguous.
        let are_of = |other| {
            let others = self::keys(fields, other);
            keys.iter().all(|key| others.contains(key))
        };
        if fields.len() == 1 || !(0..kind).any(are_of) {
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
            results.push(json!({"questionId": "q", "values": only.replied}));
        }
        results
    }

    /// The parameters of a request for these fields.
    fn params(fields: &[Field], short: bool) -> Value {
        match fields {
            [only] if short && only.takes != Takes::Many => {
                json!({"sessionId": "s", "prompt": only.label, "options": only.options})
            }
            _ => json!({"sessionId": "s", "questions": fields.iter().map(Field::asked).collect::<Vec<_>>()}),
        }
    }

    /// Any JSON, often with the names and texts that the dialect reads.
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
        const TEXTS: [&str; 12] = [
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
            select(&TEXTS[..]).prop_map(Value::from),
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
        fn agent_receives_the_choices_whatever_the_shape(fields in fields(), kind in 0..4usize, short: bool) {
            // The short shape needs a prompt.
            let short = short && !fields[0].label.is_empty();
            let params = params(&fields, short);
            let question = question(params.to_string().as_bytes()).expect("a question");
            let chosen: Vec<_> = fields.iter().map(|field| field.chosen.clone()).collect();
            for result in results(&fields, kind) {
                let received = received(&question, result.to_string().as_bytes());
                prop_assert_eq!(received, Some(Some(chosen.clone())), "{} to {}", result, params);
            }
        }

        #[test]
        fn any_reply_has_one_meaning_or_none(result in any_json(), fields in fields()) {
            let question = question(params(&fields, false).to_string().as_bytes()).expect("a question");
            received(&question, result.to_string().as_bytes());
        }

        #[test]
        fn any_parameters_are_read_or_refused(params in any_json()) {
            if let Some(question) = question(params.to_string().as_bytes()) {
                received(&question, br#"{"status":"answered","answers":[["a"]]}"#);
            }
        }
    }

    #[test]
    fn duplicate_field_names_are_refused() {
        let field = |name: &str| json!({"name": name, "label": "L", "kind": "text"});
        let params =
            |second| json!({"prompt": "?", "_meta": {"askbridge": {"fields": [field("a"), field(second)]}}});
        assert!(question(params("b").to_string().as_bytes()).is_some());
        assert!(question(params("a").to_string().as_bytes()).is_none());
    }

    #[test]
    fn typed_values_are_received_as_texts() {
        let fields = json!([
            {"name": "b", "label": "B", "kind": "boolean"},
            {"name": "n", "label": "N", "kind": "number"},
            {"name": "y", "label": "Y", "kind": "confirm", "yes": "Yes", "no": "No"},
        ]);
        let params = json!({"prompt": "?", "_meta": {"askbridge": {"fields": fields}}});
        let question = question(params.to_string().as_bytes()).expect("a question");
        let result = br#"{"action":"accept","content":{"b":false,"n":-7.5,"y":true}}"#;
        let received = received(&question, result).flatten().expect("an answer");
        assert_eq!(received, [["false"], ["-7.5"], ["Yes"]]);
    }
}
