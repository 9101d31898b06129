//! Generates the description of the REST interface, as OpenAPI 3.1, from the types that are read and written.
//! It is not part of the program: `schema/openapi.json` is what it generated, and `documents` serves that.

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use super::{
    events::{QuestionEvent, Snapshot},
    problem::Problem,
    rest::Rejection,
};
use crate::{control::protocol::Listing, desk::Record, question::input::AnswerInput};

/// Makes the document.
pub fn document() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    let mut generator = settings.into_generator();
    let paths = paths(&mut generator);
    let schemas = generator.take_definitions(true);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "askbridge",
            "version": "1",
            "description": "The open questions of coding agents, and one answer for each. Whatever goes wrong is \
                told as a problem; but what is no HTTP, or has a head that is too large, is refused with a status \
                alone (400, 414, 431), and the connection is closed.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "security": [{ "bearer": [] }, { "basic": [] }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer" },
                "basic": { "type": "http", "scheme": "basic", "description": "Any user; the token is the password." },
            },
        },
    })
}

fn paths(generator: &mut SchemaGenerator) -> Value {
    let list = get_of::<Listing>(generator, "Returns the open questions, oldest first.", &[]);
    let show = get_of::<Record>(generator, "Returns a question, open or settled.", &["404", "409"]);
    let answer = "Answers a question. Once this returns, the agent has the answer. The same answer once more is accepted.";
    let answer = post_of::<AnswerInput>(generator, answer, true);
    let reject = "Rejects a question. Once this returns, the agent knows. Once more is accepted.";
    let reject = post_of::<Rejection>(generator, reject, false);
    let mut paths = Map::new();
    for (prefix, named) in [("/v1", &[][..]), ("/v1/sessions/{sessionId}", &["sessionId"])] {
        let one = [named, &["questionId"]].concat();
        let path = |rest: &str| format!("{prefix}/questions{rest}");
        paths.insert(path(""), with_parameters(json!({ "get": list }), named));
        paths.insert(path("/{questionId}"), with_parameters(json!({ "get": show }), &one));
        paths.insert(path("/{questionId}/reply"), with_parameters(json!({ "post": answer }), &one));
        paths.insert(path("/{questionId}/reject"), with_parameters(json!({ "post": reject }), &one));
    }
    paths.insert("/v1/events".to_owned(), json!({ "get": events(generator) }));
    paths.into()
}

fn events(generator: &mut SchemaGenerator) -> Value {
    let description = "Server-sent events: `question.requested`, `question.changed` and `question.resolved`. Without \
        Last-Event-ID, or with one that is too old, first a `question.requested` for each open question, then \
        `snapshot` with the IDs of all open questions under `open`: no others are open.";
    let (event, snapshot) =
        (generator.subschema_for::<QuestionEvent<'_>>(), generator.subschema_for::<Snapshot>());
    let mut events = get(
        generator,
        description,
        json!({ "text/event-stream": {
        "schema": { "description": "The data of one event.", "anyOf": [event, snapshot] },
        "x-events": {
            "question.requested": event,
            "question.changed": event,
            "question.resolved": event,
            "snapshot": snapshot,
        },
    } }),
        &["503"],
    );
    events["parameters"] =
        json!([{ "name": "Last-Event-ID", "in": "header", "schema": { "type": "string" } }]);
    events
}

fn get_of<T: JsonSchema>(generator: &mut SchemaGenerator, description: &str, problems: &[&str]) -> Value {
    let content = content::<T>(generator, "application/json");
    get(generator, description, content, problems)
}

fn get(generator: &mut SchemaGenerator, description: &str, content: Value, problems: &[&str]) -> Value {
    let ok = json!({ "description": "As asked for.", "content": content });
    json!({ "description": description, "responses": responses(generator, ("200", ok), problems) })
}

fn post_of<T: JsonSchema>(generator: &mut SchemaGenerator, description: &str, required: bool) -> Value {
    let problems = ["400", "404", "408", "409", "410", "413", "415", "422", "503"];
    let done = json!({ "description": "The agent has it on its stdin." });
    json!({
        "description": description,
        "requestBody": { "required": required, "content": content::<T>(generator, "application/json") },
        "responses": responses(generator, ("204", done), &problems),
    })
}

fn responses(generator: &mut SchemaGenerator, success: (&str, Value), problems: &[&str]) -> Value {
    let mut responses = Map::from_iter([(success.0.to_owned(), success.1)]);
    for status in problems.iter().chain(&["401", "403", "429"]) {
        let content = content::<Problem>(generator, "application/problem+json");
        responses.insert((*status).to_owned(), json!({ "description": meaning(status), "content": content }));
    }
    responses.into()
}

fn meaning(status: &str) -> &'static str {
    match status {
        "400" => "The body is not JSON of the shape that is asked for.",
        "401" => "The token is missing, or is not ours.",
        "403" => "The Host or the Origin is not ours.",
        "404" => "There is no such question.",
        "408" => "The body took too long to come.",
        "409" => {
            "It was settled in another way, which is under `outcome`; or two open questions have this name."
        }
        "410" => "It is over, and was not answered: withdrawn, expired, or its session or agent is gone.",
        "413" => "The body is too large.",
        "415" => "The body is not said to be JSON.",
        "422" => "The answer does not fit the question: what is wrong is under `errors`, by field.",
        "429" => "Too many requests in a second.",
        _ => "The bridge is gone, or there are too many subscribers.",
    }
}

fn content<T: JsonSchema>(generator: &mut SchemaGenerator, kind: &str) -> Value {
    json!({ kind: { "schema": generator.subschema_for::<T>() } })
}

fn with_parameters(mut path: Value, names: &[&str]) -> Value {
    let parameter =
        |name: &&str| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } });
    if !names.is_empty() {
        path["parameters"] = names.iter().map(parameter).collect();
    }
    path
}
