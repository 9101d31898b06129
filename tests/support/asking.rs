//! The properties of every dialect, for any request and any reply.
//! The property tests and the fuzz targets share them.

use askbridge_core::{
    dialect::{
        self, AgentQuestion, Reply, elicitation,
        permission::{PromptFlow, PromptStep, Protocol},
        sandboxagent,
    },
    limits,
    question::{Answer, Field, Kind, Outcome, Question, Reason, Value, check},
    wire::method,
};
use serde_json::{Map, Value as Json, value::RawValue};

/// All methods of requests that may be questions. The order decides what a fuzz corpus means.
pub(crate) const METHODS: [&str; 13] = [
    method::REQUEST_QUESTION,
    method::REQUEST_PERMISSION,
    method::ELICITATION_CREATE,
    method::LEGACY_NESTED_ELICITATIONS[0],
    method::LEGACY_ELICITATIONS[0],
    method::LEGACY_ELICITATIONS[1],
    method::LEGACY_NESTED_ELICITATIONS[1],
    method::CURSOR_ASK_QUESTION,
    method::GROK_ASK_USER_QUESTION[0],
    method::GROK_ASK_USER_QUESTION[1],
    method::KIRO_USER_INPUT,
    method::ASK_USER[0],
    method::ASK_USER[1],
];

const REASONS: [Reason; 10] = [
    Reason::User,
    Reason::Cancelled,
    Reason::Withdrawn,
    Reason::Timeout,
    Reason::RepliedInChat,
    Reason::ClientGone,
    Reason::AgentGone,
    Reason::SessionClosed,
    Reason::Shutdown,
    Reason::Policy,
];

/// Reads a request. If it is a question, asks and answers it in every way. The dice choose the answers, and are also
/// used as the reply of a client.
pub(crate) fn check_request(method: &str, params: &[u8], dice: &[u8]) -> Option<AgentQuestion> {
    let asked = match dialect::read(method, params, "made-up") {
        Ok(asked) => asked?,
        Err(wrong) => {
            assert!(!wrong.is_empty());
            return None;
        }
    };
    let AgentQuestion { question, reply_format, .. } = &asked;
    check_limits(question);
    for reason in REASONS {
        object(&reply_format.write_rejection(reason.into()));
    }
    let answer = answer(question, dice);
    let fits = check(question, &answer);
    if fits.is_ok() {
        object(&reply_format.write_answer(question, &answer));
    } else {
        let missing = |field: &Field| {
            (field.required || field.required_with.is_some()) && !answer.values.contains_key(&field.name)
        };
        assert!(question.fields.iter().any(missing), "{fits:?} of {answer:?}");
    }
    drop(reply_format.read_reply(question, dice));
    check_native(question, dice);
    check_form(question, &answer, dice);
    check_prompts(question, dice);
    Some(asked)
}

fn check_limits(question: &Question) {
    let fields = &question.fields;
    assert!((1..=limits::FIELDS).contains(&fields.len()));
    for (index, field) in fields.iter().enumerate() {
        assert!(field.kind.options().len() <= limits::OPTIONS);
        assert!(fields[..index].iter().all(|other| other.name != field.name), "two fields {:?}", field.name);
    }
}

fn object(json: &RawValue) -> Map<String, Json> {
    match serde_json::from_str(json.get()) {
        Ok(Json::Object(object)) => object,
        other => panic!("{other:?} is not an object: {json}"),
    }
}

/// A native request is read as the question that it was written from.
fn check_native(question: &Question, dice: &[u8]) {
    let params = sandboxagent::ask::write(question);
    object(&params);
    match dialect::read(method::REQUEST_QUESTION, params.get().as_bytes(), "another") {
        Ok(Some(again)) => {
            assert_eq!(again.question.fields, question.fields);
            assert_eq!(again.question.id, question.id);
        }
        // The native request is longer than the agent's, and may exceed the limit.
        other => assert!(params.get().len() > limits::QUESTION, "{other:?}: {params}"),
    }
    if let Reply::Translated(_, result) = sandboxagent::reply::read(dice, question) {
        drop(object(&result));
    }
}

/// The content of a form is read as the answer that it was written from.
fn check_form(question: &Question, answer: &Answer, dice: &[u8]) {
    let Some(format) = elicitation::form::reply_format(question) else { return };
    object(&elicitation::form::write(question, &format, true));
    let (content, _) = elicitation::reply::write_content(&format, question, answer);
    let result = serde_json::json!({ "action": "accept", "content": content }).to_string();
    match elicitation::reply::read_reply(&format, question, result.as_bytes()) {
        Some(Outcome::Answered(read)) => {
            // A whole number is written without a fraction.
            let (read, given) = (read.canonical(), answer.clone().canonical());
            assert_eq!(filled(&read), filled(&given), "{result}");
        }
        other => panic!("{other:?} of {result}"),
    }
    drop(elicitation::reply::read_reply(&format, question, dice));
}

/// The values that are not empty.
fn filled(answer: &Answer) -> Vec<(&String, &Value)> {
    let is_empty = |value: &Value| *value == Value::Many(Vec::new()) || *value == Value::Text(String::new());
    answer.values.iter().filter(|(_, value)| !is_empty(value)).collect()
}

/// Replying to prompts by the dice leads to an answer that fits, or to the next prompt.
fn check_prompts(question: &Question, dice: &[u8]) {
    let mut flow = PromptFlow::new(1);
    drop(flow.clone().handle_reply(question, dice, 2));
    for (number, die) in (2..).zip(dice.iter().take(50)) {
        let Some(params) = flow.prompt(question, Protocol::V1, None) else {
            assert_eq!(question.session, None);
            return;
        };
        let params = object(&params);
        let Some(Json::Array(options)) = params.get("options") else { panic!("no options in {params:?}") };
        // Prompts never answer a dangerous question: there is nothing to choose.
        assert!(!question.dangerous || options.len() == 2, "{options:?}");
        let option = &options[usize::from(*die) % options.len()];
        let result =
            serde_json::json!({ "outcome": { "outcome": "selected", "optionId": option["optionId"] } });
        match flow.handle_reply(question, result.to_string().as_bytes(), number) {
            PromptStep::Next => {}
            PromptStep::Answered(answer) => {
                assert_eq!(check(question, &answer), Ok(()));
                assert!(!question.dangerous);
                return;
            }
            // The first and the last option that allow: a client that approves by itself takes one of them.
            PromptStep::Elsewhere => {
                let allows: Vec<_> = options.iter().filter(|option| option["kind"] == "allow_once").collect();
                assert!([allows.first(), allows.last()].contains(&Some(&option)), "{option} in {options:?}");
            }
            PromptStep::Rejected(reason) => {
                assert_eq!((reason, Some(option)), (Reason::User, options.last()));
                return;
            }
            step => panic!("{step:?} by {option}"),
        }
    }
}

/// Answers as many fields as possible.
fn answer(question: &Question, dice: &[u8]) -> Answer {
    let mut answer = Answer::default();
    for (place, field) in question.fields.iter().enumerate() {
        let die = dice.get(place % dice.len().max(1)).copied().map_or(0, usize::from);
        let candidates = candidates(field, die);
        let fits = |value: &&Value| {
            let alone = [(field.name.clone(), (*value).clone())].into();
            let alone = Answer { values: alone, ..Answer::default() };
            !check(question, &alone).is_err_and(|errors| errors.iter().any(|error| error.field == field.name))
        };
        if let Some(value) = candidates.iter().find(fits) {
            answer.values.insert(field.name.clone(), value.clone());
        }
    }
    answer
}

fn candidates(field: &Field, die: usize) -> Vec<Value> {
    let options = field.kind.options();
    let is_name = |text: &str| options.iter().any(|option| option.value == text || option.label == text);
    let mut typed = format!("typed, \"{die}\"");
    while is_name(&typed) {
        typed.push('!');
    }
    match &field.kind {
        Kind::Text { min_length, .. } => {
            let least = min_length.unwrap_or(1).clamp(1, 5000) as usize;
            [typed, "a@b.c".to_owned(), "7".to_owned(), "x".repeat(least)].map(Value::Text).into()
        }
        Kind::Choice { other, .. } => {
            let chosen = options.get(die % options.len().max(1)).map(|option| option.value.clone());
            let typed = (*other && die.is_multiple_of(3)).then_some(typed);
            typed.into_iter().chain(chosen).map(Value::Text).collect()
        }
        Kind::Choices { other, min, max, .. } => {
            let mut values: Vec<String> = Vec::new();
            for option in options.iter().skip(die % options.len().max(1)).chain(options) {
                if !values.contains(&option.value) {
                    values.push(option.value.clone());
                }
            }
            let most = max.map_or(usize::MAX, |max| max as usize);
            values.truncate(most.min((die % 4).max(min.unwrap_or(1).max(1) as usize)));
            if *other && values.len() < most {
                values.push(typed);
            }
            vec![Value::Many(values)]
        }
        Kind::Boolean { .. } | Kind::Confirm { .. } => vec![Value::Flag(die.is_multiple_of(2))],
        Kind::Number { min, max, step, .. } => {
            let die = u32::try_from(die).map_or(0.0, f64::from);
            let bounds = [*min, *max, *step, min.map(f64::ceil), max.map(f64::floor)];
            let numbers = [die, die / 4.0, -die, 0.0, 1.0].into_iter().chain(bounds.into_iter().flatten());
            numbers.filter_map(serde_json::Number::from_f64).map(Value::Number).collect()
        }
        Kind::Texts { min, .. } => {
            let texts = |count: usize| (0..count).map(|place| format!("{typed}{place}")).collect();
            [min.unwrap_or(1).clamp(1, 50) as usize, 1].map(|count| Value::Many(texts(count))).into()
        }
        Kind::Json { .. } => {
            ["{}", "[]", "1", "true", "null", "\"x\""].map(|json| Value::Text(json.to_owned())).into()
        }
        other => panic!("{other:?}"),
    }
}
