//! Property tests of the dialects: any request is read as one question, as none, or refused; and the check of an answer
//! agrees with a simple reference. The properties of a question are in `support/asking.rs`.

#[cfg(test)]
mod any {
    use askbridge_core::{
        dialect,
        question::{Answer, Field, FieldOption, Kind, Origin, Purpose, Question, Value, check},
        wire::method::REQUEST_PERMISSION,
    };
    use proptest::{prelude::*, sample::select, test_runner::FileFailurePersistence};
    use serde_json::{Number, Value as Json, json};

    use crate::support::asking::{METHODS, check_request};

    #[test]
    fn the_methods_of_all_dialects_are_tried() {
        let known: Vec<_> = askbridge_core::dialect::methods().collect();
        let missing: Vec<_> = known.iter().filter(|method| !METHODS.contains(method)).collect();
        assert!(missing.is_empty(), "tests/support/asking.rs: add {missing:?} at the end of METHODS");
        assert_eq!(METHODS.len(), known.len(), "tests/support/asking.rs: METHODS has others as well");
    }

    #[test]
    fn a_permission_request_that_is_a_question_is_one_in_any_spelling() {
        let options = |ids: [&str; 2]| {
            json!([{ "optionId": ids[0], "name": "A", "kind": "allow_once" },
                { "optionId": ids[1], "name": "B", "kind": "reject_once" }])
        };
        let questions = json!([{ "question": "?", "options": [{ "label": "A" }] }]);
        let input = json!({ "questions": questions });
        for (tool_call, options, mark) in [
            (json!({ "_meta": { "qwenQuestions": questions } }), options(["y", "n"]), "qwenQuestions"),
            (
                json!({ "rawInput": input, "_meta": { "qwenInteractionKind": "user_question" } }),
                options(["y", "n"]),
                "user_question",
            ),
            (
                json!({ "rawInput": input, "_meta": { "toolName": "ask_user_question" } }),
                options(["y", "n"]),
                "ask_user_question",
            ),
            (json!({ "title": "?" }), options(["q0_opt_0", "q0_skip"]), "q0_opt_0"),
            (json!({ "toolCallId": "pi-ui-1", "title": "?" }), options(["yes", "no"]), "pi-ui-1"),
        ] {
            let params = json!({ "sessionId": "s", "toolCall": tool_call, "options": options }).to_string();
            let escaped =
                |at: usize| format!("{}\\u{:04x}{}", &mark[..at], mark.as_bytes()[at], &mark[at + 1..]);
            for spelling in (0..mark.len()).map(escaped).chain([mark.to_owned()]) {
                let params = params.replace(mark, &spelling);
                let asked = dialect::read(REQUEST_PERMISSION, params.as_bytes(), "q").unwrap().unwrap();
                assert_eq!(asked.question.purpose, Purpose::Question, "{params}");
            }
        }
    }

    fn config(cases: u32) -> ProptestConfig {
        let seeds = FileFailurePersistence::WithSource("seeds");
        ProptestConfig { cases, ..ProptestConfig::with_failure_persistence(seeds) }
    }

    /// Member names that the dialects read.
    const NAMES: &str = "sessionId toolCallId requestId mode message requestedSchema properties required type title \
        description enum enumNames oneOf anyOf allOf $ref $defs not format writeOnly items const minItems minimum default _meta codex questionId role \
        q0 q0_custom question_0 question_0_custom toolCall rawInput questions question options optionId \
        name kind label id prompt multiSelect params";
    /// Texts that have a meaning in one of the dialects.
    const TEXTS: &str = "form url object string array integer boolean number q0 q0_opt_0 q0_skip pi-ui-1 allow_once \
        reject_once user_note";

    /// Any JSON, often with the names and texts that the dialects read.
    fn any_json() -> impl Strategy<Value = Json> {
        let names: Vec<_> = NAMES.split(' ').collect();
        // Includes the empty text.
        let texts: Vec<_> = TEXTS.split(' ').chain([""]).collect();
        let leaf = prop_oneof![
            1 => Just(Json::Null),
            1 => any::<bool>().prop_map(Json::from),
            1 => (-3..9i64).prop_map(Json::from),
            1 => any::<f64>().prop_map(Json::from),
            4 => select(texts).prop_map(Json::from),
        ];
        leaf.prop_recursive(6, 60, 8, move |value| {
            let object = prop::collection::vec((select(names.clone()), value.clone()), 0..8);
            prop_oneof![
                1 => prop::collection::vec(value, 0..4).prop_map(Json::from),
                3 => object.prop_map(|members| {
                    Json::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
                }),
            ]
        })
    }

    /// A form with random properties, most of which are valid.
    fn form() -> impl Strategy<Value = Json> {
        let option =
            || (any_name(), any_name()).prop_map(|(value, title)| json!({ "const": value, "title": title }));
        let property = prop_oneof![
            any_json(),
            prop::collection::vec(option(), 0..4).prop_map(|of| json!({ "type": "string", "oneOf": of })),
            prop::collection::vec(option(), 0..4)
                .prop_map(|of| json!({ "type": "array", "items": { "anyOf": of } })),
            (any::<f64>(), any::<f64>()).prop_map(|(least, most)| {
                json!({ "type": "integer", "minimum": least, "maximum": most })
            }),
            Just(json!({ "type": "string" })),
            Just(json!({ "type": "boolean" })),
        ];
        let properties = prop::collection::vec((any_name(), property), 0..5);
        (properties, any_json()).prop_map(|(properties, meta)| {
            let properties: serde_json::Map<_, _> = properties.into_iter().collect();
            let schema = json!({ "type": "object", "properties": properties });
            json!({ "sessionId": "s", "mode": "form", "message": "?", "requestedSchema": schema, "_meta": meta })
        })
    }

    fn any_name() -> impl Strategy<Value = String> {
        let known = ["a", "b", "a_custom", "b__other", "a_note", "question_0", "None of the above", "q0"];
        prop_oneof![select(known.to_vec()).prop_map(str::to_owned), "\\PC{0,3}"]
    }

    proptest! {
        #![proptest_config(config(800))]

        #[test]
        fn any_request_is_read_as_a_question_or_as_none(
            method in select(&METHODS[..]), params in any_json(), dice in any::<[u8; 8]>(),
        ) {
            check_request(method, params.to_string().as_bytes(), &dice);
        }

        #[test]
        fn any_form_is_asked_and_answered_in_every_way(params in form(), dice in any::<[u8; 8]>()) {
            check_request("elicitation/create", params.to_string().as_bytes(), &dice);
        }
    }

    fn question(kind: Kind, required: bool) -> Question {
        let (name, label) = ("f".to_owned(), "F".to_owned());
        let field = Field::new(name, label, required, kind);
        Question::new(Origin::SandboxAgent, "q", vec![field])
    }

    fn fits(kind: Kind, required: bool, value: Option<Value>) -> bool {
        let values = value.into_iter().map(|value| ("f".to_owned(), value)).collect();
        check(&question(kind, required), &Answer { values, ..Answer::default() }).is_ok()
    }

    /// Converts a number of tenths to a double, by way of its decimal spelling.
    fn tenths(tenths: i64) -> f64 {
        format!("{}{}.{}", if tenths < 0 { "-" } else { "" }, tenths.abs() / 10, tenths.abs() % 10)
            .parse()
            .expect("a number")
    }

    proptest! {
        #![proptest_config(config(4000))]

        #[test]
        fn number_fits_within_its_bounds_and_on_its_step(
            value in -300..300i64,
            min in prop::option::of(-300..300i64),
            max in prop::option::of(-300..300i64),
            between in prop::option::of((-300..300i64, -300..300i64)),
            step in prop::option::of(1..40i64),
            integer: bool,
        ) {
            let expected = min.is_none_or(|min| value >= min)
                && max.is_none_or(|max| value <= max)
                && between.is_none_or(|(above, below)| value > above && value < below)
                && step.is_none_or(|step| value % step == 0)
                && (!integer || value % 10 == 0);
            let kind = Kind::Number {
                integer,
                min: min.map(tenths),
                max: max.map(tenths),
                exclusive_min: between.map(|(above, _)| tenths(above)),
                exclusive_max: between.map(|(_, below)| tenths(below)),
                step: step.map(tenths),
                default: None,
            };
            let number = Number::from_f64(tenths(value)).map(Value::Number);
            prop_assert_eq!(fits(kind, true, number), expected);
        }

        #[test]
        fn text_fits_within_its_length_bounds(
            text in "[aé\u{1f600}]{0,8}",
            min_length in prop::option::of(0..8u32),
            max_length in prop::option::of(0..8u32),
            required: bool,
        ) {
            let length = u32::try_from(text.chars().count()).expect("short");
            let in_bounds = min_length.is_none_or(|least| length >= least) && max_length.is_none_or(|most| length <= most);
            let expected = if length == 0 { !required } else { in_bounds };
            let kind = Kind::Text {
                multiline: false, min_length, max_length, pattern: None, format: None, placeholder: None, default: None,
            };
            prop_assert_eq!(fits(kind, required, Some(Value::Text(text))), expected);
        }

        #[test]
        fn choices_fit_if_they_are_distinct_options_within_the_bounds(
            values in prop::collection::vec(select(&["a", "b", "c", "x", "y"][..]), 0..5),
            min in prop::option::of(0..4u32),
            max in prop::option::of(0..4u32),
            other: bool,
            required: bool,
        ) {
            let option = |value: &str| FieldOption { value: value.to_owned(), label: value.to_uppercase(), ..FieldOption::default() };
            let options: Vec<_> = ["a", "b", "c"].map(option).into();
            let mut different = values.clone();
            different.sort_unstable();
            different.dedup();
            let typed = values.iter().filter(|value| matches!(**value, "x" | "y")).count();
            let count = u32::try_from(values.len()).expect("a few");
            let expected = different.len() == values.len()
                && typed <= usize::from(other)
                && max.is_none_or(|most| count <= most)
                && match count {
                    0 => !required,
                    count => min.is_none_or(|least| count >= least),
                };
            let kind = Kind::Choices { options, other, min, max, default: Vec::new() };
            let values = values.into_iter().map(str::to_owned).collect();
            prop_assert_eq!(fits(kind, required, Some(Value::Many(values))), expected);
        }
    }

    #[test]
    fn required_value_must_be_present_and_have_its_type() {
        let number = || serde_json::from_value(json!({ "kind": "number", "integer": true })).expect("a kind");
        assert!(fits(number(), false, None) && !fits(number(), true, None));
        for value in [Value::Text("1".to_owned()), Value::Flag(true), Value::Many(Vec::new())] {
            assert!(!fits(number(), false, Some(value)));
        }
        for huge in ["1e999", "-1e999"] {
            let huge = serde_json::from_str::<Number>(huge).ok().map(Value::Number);
            assert!(huge.is_none() || !fits(number(), false, huge));
        }
    }

    #[test]
    fn prompts_offer_no_choice_for_a_dangerous_question() {
        let meta = json!({ "askbridge": { "dangerous": true } });
        let params =
            json!({ "sessionId": "s", "prompt": "Drop it?", "options": ["Yes", "No"], "_meta": meta });
        let asked = check_request(METHODS[0], params.to_string().as_bytes(), &[0, 1, 2, 3]);
        assert!(asked.is_some_and(|asked| asked.question.dangerous));
    }
}
