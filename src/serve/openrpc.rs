//! Generates the description of the control protocol, as OpenRPC, from the types that are read and written. What the
//! methods do is left to `control`. It is not part of the program: `schema/openrpc.json` is what it generated, and
//! `documents` serves that.

use jsonrpsee::types::error::{
    INVALID_PARAMS_CODE, INVALID_REQUEST_CODE, METHOD_NOT_FOUND_CODE, OVERSIZED_REQUEST_CODE,
    OVERSIZED_RESPONSE_CODE, PARSE_ERROR_CODE, TOO_MANY_SUBSCRIPTIONS_CODE,
};
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use super::rpc::NEEDS_WEBSOCKET;
use crate::{
    control::old::{Record, Settlement, Status, refusal::Detail, rpc::Listing},
    question::{Provenance, Question, input::AnswerInput},
};

/// The errors that have a name: its code, and what it means. With each comes its name, and what belongs to it.
const REFUSALS: [(&str, i32, &str); 10] = [
    ("not_found", 404, "There is no such question."),
    ("ambiguous", 300, "The name is short for several questions, which are under `ids`."),
    ("conflict", 409, "The question is settled already, in another way, which is in `question`."),
    ("gone", 410, "The question is over, and was not answered."),
    ("does_not_fit", 422, "The answer does not fit the question: what is wrong is under `errors`, by field."),
    ("bad_question", 400, "That cannot be asked."),
    ("no_deadline", 412, "The question has no deadline."),
    ("too_many_requests", 429, "Too many requests in a second."),
    ("unavailable", 503, "The bridge that asked is gone."),
    (NEEDS_WEBSOCKET.0, NEEDS_WEBSOCKET.1, "Over HTTP nothing can be told later."),
];

/// The errors of JSON-RPC itself. What comes with them is a text, if anything.
const FAULTS: [(&str, i32, &str); 7] = [
    ("parse_error", PARSE_ERROR_CODE, "That is no JSON."),
    ("invalid_request", INVALID_REQUEST_CODE, "That is no request."),
    ("method_not_found", METHOD_NOT_FOUND_CODE, "There is no such method."),
    ("invalid_params", INVALID_PARAMS_CODE, "The parameters are not those of the method."),
    ("too_many_subscriptions", TOO_MANY_SUBSCRIPTIONS_CODE, "The connection has the most that it may."),
    ("oversized_request", OVERSIZED_REQUEST_CODE, "The request is too large."),
    ("oversized_response", OVERSIZED_RESPONSE_CODE, "The response would be too large."),
];

/// What can go wrong with any method.
const ALWAYS: [&str; 7] = [
    "parse_error",
    "invalid_request",
    "method_not_found",
    "invalid_params",
    "oversized_request",
    "oversized_response",
    "too_many_requests",
];

/// Makes the document.
pub fn document() -> Value {
    let mut settings = SchemaSettings::draft07();
    settings.definitions_path = "/components/schemas".into();
    let mut generator = settings.into_generator();
    let methods = methods(&mut generator);
    let detail = generator.subschema_for::<Detail>();
    let schemas = generator.take_definitions(true);
    json!({
        "openrpc": "1.3.2",
        "info": {
            "title": "askbridge",
            "version": "1",
            "description": "The open questions of coding agents, and one answer for each. It is spoken over \
                WebSocket, at `/rpc` and on the socket of a bridge; and over HTTP, but for the subscription. An error that has a `data` here comes with a `data` of the shape of `x-error-data`.",
            "license": { "name": "Apache-2.0" },
        },
        "methods": methods,
        "components": { "schemas": schemas, "errors": errors() },
        "x-error-data": detail,
    })
}

fn errors() -> Map<String, Value> {
    let refusals = REFUSALS.map(|(name, code, message)| {
        (name.to_owned(), json!({ "code": code, "message": message, "data": { "name": name } }))
    });
    let faults =
        FAULTS.map(|(name, code, message)| (name.to_owned(), json!({ "code": code, "message": message })));
    refusals.into_iter().chain(faults).collect()
}

fn methods(generator: &mut SchemaGenerator) -> Vec<Value> {
    let found = ["not_found", "ambiguous"];
    let settled = ["not_found", "ambiguous", "conflict", "gone", "unavailable"];
    let answered = [&settled[..], &["does_not_fit"]].concat();
    let extended = [&settled[..], &["no_deadline"]].concat();
    let id = must::<String>(
        generator,
        "id",
        "The name of the question, or the beginning of it where that is unique.",
    );
    let name = must::<String>(generator, "id", "All of the name of the question.");
    let by = may::<Provenance>(generator, "by", "Who answers, where that is known.");
    let session = may::<String>(generator, "session", "The session of the questions.");
    let answer = must::<AnswerInput>(generator, "answer", "The answer.");
    let reason = may::<String>(generator, "reason", "Why, in the person's own words.");
    let milliseconds = must::<u64>(generator, "milliseconds", "How much more time.");
    let question = must::<Question>(generator, "question", "What is asked.");
    vec![
        method::<Listing>(
            generator,
            "question_list",
            "Returns the open questions, oldest first.",
            &[&session],
            &[],
        ),
        method::<Record>(generator, "question_get", "Returns a question, open or settled.", &[&id], &found),
        method::<Record>(
            generator,
            "question_answer",
            "Answers a question, and returns it settled once the agent has the answer on its stdin.",
            &[&name, &answer, &by],
            &answered,
        ),
        method::<Record>(
            generator,
            "question_reject",
            "Rejects a question, and returns it settled once the agent has that on its stdin.",
            &[&name, &reason, &by],
            &settled,
        ),
        method::<Record>(
            generator,
            "question_extend",
            "Gives a question more time.",
            &[&name, &milliseconds],
            &extended,
        ),
        method::<Settlement>(
            generator,
            "question_ask",
            "Asks a question, and returns what became of it. It is withdrawn when the caller goes away.",
            &[&question],
            &["bad_question", "unavailable"],
        ),
        method::<Vec<Status>>(generator, "bridge_status", "Says which bridges there are.", &[], &[]),
        subscribe(generator),
        unsubscribe(generator),
    ]
}

/// OpenRPC has no word for a subscription: `x-subscription` says what comes by it.
fn subscribe(generator: &mut SchemaGenerator) -> Value {
    let description = "Sends the open questions, now and whenever that changes, as notifications. Whoever is slow \
        gets the latest.";
    let errors = ["too_many_subscriptions", NEEDS_WEBSOCKET.0];
    let mut method = method::<Subscription>(generator, "question_subscribe", description, &[], &errors);
    method["x-subscription"] = json!({
        "notification": "question_changed",
        "paramStructure": "by-name",
        "params": [
            must::<Subscription>(generator, "subscription", "The result of the subscription."),
            must::<Listing>(generator, "result", "What is open."),
        ],
        "unsubscribe": "question_unsubscribe",
    });
    method
}

fn unsubscribe(generator: &mut SchemaGenerator) -> Value {
    let subscription = must::<Subscription>(generator, "subscription", "The result of the subscription.");
    let description = "Ends a subscription, and says whether there was one.";
    let mut method = method::<bool>(
        generator,
        "question_unsubscribe",
        description,
        &[&subscription],
        &[NEEDS_WEBSOCKET.0],
    );
    method["paramStructure"] = "by-position".into();
    method
}

/// The name of a subscription.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it is only described")]
enum Subscription {
    Number(u64),
    Text(String),
}

fn method<T: JsonSchema>(
    generator: &mut SchemaGenerator,
    name: &str,
    description: &str,
    params: &[&Value],
    errors: &[&str],
) -> Value {
    let error = |name: &&str| json!({ "$ref": format!("#/components/errors/{name}") });
    json!({
        "name": name,
        "description": description,
        "paramStructure": "by-name",
        "params": params,
        "result": { "name": "result", "schema": generator.subschema_for::<T>() },
        "errors": errors.iter().chain(&ALWAYS).map(error).collect::<Value>(),
    })
}

fn must<T: JsonSchema>(generator: &mut SchemaGenerator, name: &str, description: &str) -> Value {
    let mut param = may::<T>(generator, name, description);
    param["required"] = true.into();
    param
}

fn may<T: JsonSchema>(generator: &mut SchemaGenerator, name: &str, description: &str) -> Value {
    json!({ "name": name, "description": description, "required": false, "schema": generator.subschema_for::<T>() })
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, sync::Arc};

    use super::*;
    use crate::{
        control::{
            self,
            old::{
                Owner, Refusal,
                rpc::{Caller, Methods, QuestionsServer},
            },
        },
        question::{Origin, Responder},
    };

    #[test]
    fn every_method_is_described() {
        let owner = Owner { bridge: "b".to_owned(), agent: String::new(), folder: String::new() };
        let (inbox, _feed) = control::old::new(owner);
        let module = Methods::new(inbox, Caller::Of(Responder::Rpc)).into_rpc();
        let names: BTreeSet<_> = module.method_names().collect();
        let document = document();
        let methods = document["methods"].as_array().unwrap();
        let described: Vec<_> = methods.iter().map(|method| method["name"].as_str().unwrap()).collect();
        assert_eq!(described.len(), names.len());
        assert_eq!(described.into_iter().collect::<BTreeSet<_>>(), names);
        for reference in methods.iter().flat_map(|method| method["errors"].as_array().unwrap()) {
            let pointer = reference["$ref"].as_str().unwrap().trim_start_matches('#');
            assert!(document.pointer(pointer).is_some(), "nothing at {pointer}");
        }
    }

    #[test]
    fn every_refusal_is_described() {
        let question = Question::new(Origin::Kiro, "q", Vec::new());
        let view = json!({ "id": "", "bridge": "", "question": question, "openedAt": "" });
        let view: Arc<Record> = Arc::new(serde_json::from_value(view).unwrap());
        let mut described: BTreeSet<_> = REFUSALS.map(|(name, code, _)| (name, code)).into();
        described.remove(&(NEEDS_WEBSOCKET.0, NEEDS_WEBSOCKET.1));
        for refusal in [
            Refusal::NotFound,
            Refusal::Ambiguous(Vec::new()),
            Refusal::Conflict(Arc::clone(&view)),
            Refusal::Gone(view),
            Refusal::DoesNotFit(Vec::new()),
            Refusal::BadQuestion(String::new()),
            Refusal::NoDeadline,
            Refusal::TooManyRequests,
            Refusal::Unavailable,
        ] {
            // Whoever adds one adds it above.
            match refusal {
                Refusal::NotFound
                | Refusal::Ambiguous(_)
                | Refusal::Conflict(_)
                | Refusal::Gone(_)
                | Refusal::DoesNotFit(_)
                | Refusal::BadQuestion(_)
                | Refusal::NoDeadline
                | Refusal::TooManyRequests
                | Refusal::Unavailable => {}
            }
            assert!(described.remove(&(refusal.name(), refusal.code())), "{refusal:?}");
        }
        assert!(described.is_empty(), "there is no {described:?}");
    }
}
