//! Generates the OpenAPI 3.1 description of the REST interface from the types of its requests and responses.
//! Its output is `schema/openapi.json`, which the program serves. The form of the
//! schemas is left to `components.rs`.

use askbridge_control::rpc::{
    history::{HistoryListing, HistoryParams},
    protocol::Listing,
};
use askbridge_core::{
    desk::{Record, Report, Settlement},
    question::{Context, input::ReplyInput},
};
use askbridge_web::{
    Problem,
    approval::{Consumed, Consumption},
    events::{QuestionEvent, Snapshot},
    new_question::NewQuestion,
    rest::{Extension, Postponement, Rejection},
};
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use crate::schema::components;

/// The statuses that every request can get.
const ALWAYS: [&str; 3] = ["401", "403", "429"];
/// The statuses that a request with a body can get.
const WITH_BODY: [&str; 4] = ["400", "408", "413", "415"];
/// The statuses that a submission to a question can get.
const SUBMITTED: [&str; 5] = ["404", "409", "410", "502", "503"];

/// Generates the document.
pub(crate) fn document() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    let mut generator = settings.into_generator();
    let paths = paths(&mut generator);
    // This comes after `paths`, which registers the schemas with the generator.
    let schemas = generator.take_definitions(true);
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "askbridge",
            "version": "1",
            "description": "Lists the open questions of coding agents, and gives each exactly one answer. A permission \
                that an agent asks for is a question whose `purpose` is `permission`: its only field has the options, \
                `role` says what each does, and `subject` what would happen. Every error is a problem by RFC 9457, except for malformed HTTP and for a head that is too large: those get a bare \
                status (400, 414, 431), and the connection is closed.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "http://127.0.0.1:8421", "description": "The default address of `askbridge inbox`." }],
        "security": [{ "bearer": [] }, { "basic": [] }],
        "tags": [
            { "name": "questions", "description": "Questions and permissions, open or settled." },
            { "name": "events", "description": "Changes as they happen." },
        ],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer", "description": "The token in the token file." },
                "basic": {
                    "type": "http",
                    "scheme": "basic",
                    "description": "Any user name; the password is the token.",
                },
            },
        },
    });
    components::arrange(&mut document);
    document
}

fn paths(generator: &mut SchemaGenerator) -> Value {
    let mut paths = Map::new();
    for (prefix, session, named) in
        [("/v1", "", &[][..]), ("/v1/sessions/{sessionId}", "Session", &["sessionId"])]
    {
        let one = [named, &["questionId"]].concat();
        let mut insert = |path: &str, operations: Value, names: &[&str]| {
            paths.insert(format!("{prefix}/questions{path}"), with_parameters(operations, names));
        };
        let mut all = json!({ "get": list(generator, session) });
        if session.is_empty() {
            all["post"] = ask(generator);
        }
        insert("", all, named);
        let of_one = json!({ "get": show(generator, session), "delete": withdraw(generator, session) });
        insert("/{questionId}", of_one, &one);
        insert("/{questionId}/context", json!({ "get": context(generator, session) }), &one);
        let image_of = [&one[..], &["number"]].concat();
        insert("/{questionId}/images/{number}", json!({ "get": image(generator, session) }), &image_of);
        let verbs = submissions(generator, session).into_iter().chain(approvals(generator, session));
        for (verb, operation) in verbs {
            insert(&format!("/{{questionId}}/{verb}"), json!({ "post": operation }), &one);
        }
    }
    paths.insert("/v1/history".to_owned(), json!({ "get": history(generator) }));
    paths.insert("/v1/events".to_owned(), json!({ "get": events(generator) }));
    paths.into()
}

fn list(generator: &mut SchemaGenerator, session: &str) -> Value {
    let of_session = if session.is_empty() { "" } else { " of a session" };
    let description = format!("Returns the open questions{of_session}, oldest first.");
    let listing = response::<Listing>(generator, "The open questions.");
    operation(generator, &format!("list{session}Questions"), &description, ("200", listing), &[])
}

fn history(generator: &mut SchemaGenerator) -> Value {
    let description = "Returns questions that are over, latest first: those that were settled, and those that were lost \
        with their bridges, here and on the other machines. A machine that does not reply within 2 s is named under \
        `missing`.";
    let listing = response::<HistoryListing>(generator, "The questions.");
    let mut history = operation(generator, "listHistory", description, ("200", listing), &["400", "503"]);
    // The query takes the parameters of the method `question_history`, one by one.
    let schema = HistoryParams::json_schema(generator).to_value();
    let members = schema["properties"].as_object().cloned().unwrap_or_default();
    let parameter = |(name, mut schema): (String, Value)| {
        let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        json!({ "name": name, "in": "query", "description": description, "schema": schema })
    };
    history["parameters"] = members.into_iter().map(parameter).collect();
    history
}

fn show(generator: &mut SchemaGenerator, session: &str) -> Value {
    let description = named(
        session,
        "Returns a question: open, settled, or lost with its bridge. With `wait`, the response comes once the question is \
        over, or after that time.",
    );
    let record = response::<Record>(generator, "The question.");
    let problems = ["400", "404", "409", "503"];
    let mut show =
        operation(generator, &format!("get{session}Question"), &description, ("200", record), &problems);
    let wait = "How long to wait at most until the question is over: a time such as `30s`, or a number of seconds, up to \
        600.";
    show["parameters"] = json!([parameter("wait", "query", wait)]);
    show
}

fn context(generator: &mut SchemaGenerator, session: &str) -> Value {
    let description = named(
        session,
        "Returns what led to a question: the last words of the agent and its last tool calls before it asked. It is empty \
        where that is not known, or not any more.",
    );
    let context = response::<Context>(generator, "What led to the question.");
    let id = format!("get{session}QuestionContext");
    operation(generator, &id, &description, ("200", context), &["404", "409", "503"])
}

fn image(generator: &mut SchemaGenerator, session: &str) -> Value {
    let description = named(
        session,
        "Returns the bytes of an image of a question, as its asker sent them. Images are kept until their question is over.",
    );
    let formats = ["image/png", "image/jpeg", "image/webp", "image/gif"];
    let content: Map<_, _> = formats.into_iter().map(|kind| (kind.to_owned(), json!({}))).collect();
    let success = json!({ "description": "The image.", "content": content });
    operation(
        generator,
        &format!("get{session}QuestionImage"),
        &description,
        ("200", success),
        &["404", "409", "503"],
    )
}

fn withdraw(generator: &mut SchemaGenerator, session: &str) -> Value {
    let description = named(
        session,
        "Withdraws a question that no connection holds. Withdrawing it again succeeds; once it is decided, this fails \
        with 409.",
    );
    let done = json!({ "description": "The question is withdrawn." });
    let id = format!("withdraw{session}Question");
    operation(generator, &id, &description, ("204", done), &["404", "409", "503"])
}

fn parameter(name: &str, place: &str, description: &str) -> Value {
    json!({ "name": name, "in": place, "description": description, "schema": { "type": "string" } })
}

/// Returns the description of a path of one question, with a note about its ID.
fn named(session: &str, description: &str) -> String {
    let also = "Under a session, `questionId` may also be the agent's own ID of the question.";
    if session.is_empty() { description.to_owned() } else { format!("{description} {also}") }
}

/// Returns the operations that settle or extend a question, by the last part of their path.
fn submissions(generator: &mut SchemaGenerator, session: &str) -> [(&'static str, Value); 4] {
    let done =
        || json!({ "description": "The agent has it on its stdin, or the program that asked has got it." });
    let with = |more: &[&'static str]| [&SUBMITTED[..], &WITH_BODY, more].concat();
    let description = "Answers a question. When the response comes, the agent has the answer. The same answer again \
        succeeds; a different one fails with 409. For a permission, the answer is one of its options.";
    let (id, description) = (format!("answer{session}Question"), named(session, description));
    let mut answer = operation(generator, &id, &description, ("204", done()), &with(&["422"]));
    answer["requestBody"] = body::<ReplyInput>(generator, true);
    let description = "Rejects a question. When the response comes, the agent has the rejection. Rejecting it again \
        succeeds. For a permission, that chooses the option that refuses it this time, or else from now on.";
    let (id, description) = (format!("reject{session}Question"), named(session, description));
    let mut reject = operation(generator, &id, &description, ("204", done()), &with(&[]));
    reject["requestBody"] = body::<Rejection>(generator, false);
    let description =
        "Moves the deadline of a question. The response has the question with its new `deadline`.";
    let (id, description) = (format!("extend{session}Question"), named(session, description));
    let record = response::<Record>(generator, "The question with its new deadline.");
    let mut extend = operation(generator, &id, &description, ("200", record), &with(&["412"]));
    extend["requestBody"] = body::<Extension>(generator, true);
    let description = "Sets a question aside for a while: lists show it last, and nobody is notified of it until then. It is back \
        before its deadline comes near, and can be answered all the time. The agent hears nothing of it.";
    let (id, description) = (format!("postpone{session}Question"), named(session, description));
    let record = response::<Record>(generator, "The question, with `later` where it is set aside.");
    let mut later = operation(generator, &id, &description, ("200", record), &with(&[]));
    later["requestBody"] = body::<Postponement>(generator, true);
    [("reply", answer), ("reject", reject), ("extend", extend), ("later", later)]
}

/// Returns the operations of a program with an approval, by the last part of their path.
fn approvals(generator: &mut SchemaGenerator, session: &str) -> [(&'static str, Value); 2] {
    let problems = [&["404", "409", "503"], &WITH_BODY[..]].concat();
    let description = "Takes the approval of a permission that no connection holds, right before the program does what was \
        allowed. An approval is spent once: later calls fail with 409 (`spent`), unless they have the same \
        `Idempotency-Key`. So do calls after its end (`expired`), with another digest than that of what was decided \
        (`stale`), and where nothing was allowed (`not_allowed`).";
    let (id, description) = (format!("consume{session}Approval"), named(session, description));
    let consumed = response::<Consumed>(generator, "The approval, which is spent now.");
    let mut consume = operation(generator, &id, &description, ("200", consumed), &problems);
    let key = "What recognizes the same program when it asks again, in at most 255 characters.";
    consume["parameters"] = json!([parameter("Idempotency-Key", "header", key)]);
    consume["requestBody"] = body::<Consumption>(generator, true);
    let description = "Reports what came of what was allowed, for the history. The same report again succeeds; another one \
        fails with 409 (`reported`).";
    let (id, description) = (format!("report{session}Outcome"), named(session, description));
    let done = json!({ "description": "The report is in the journal." });
    let mut report = operation(generator, &id, &description, ("204", done), &problems);
    report["requestBody"] = body::<Report>(generator, true);
    [("consume", consume), ("outcome", report)]
}

fn ask(generator: &mut SchemaGenerator) -> Value {
    let description = "Asks a question, waits until it is settled, and returns how: answered, or rejected for a reason \
        such as `timeout`. Set no timeout in the client, or a longer one than `timeoutMs`: the question is withdrawn \
        when the client disconnects. With an `Idempotency-Key`, or without waiting, no connection holds the question: it \
        stays open, also after a restart of the inbox, until it is settled, expires or is withdrawn, and its outcome is \
        told for as long as the journal keeps it. The same request with the same key is the same question.";
    let settled = response::<Settlement>(
        generator,
        "How the question was settled. Where the asker does not wait: the question as it is now, which was asked before \
        under this key.",
    );
    let problems = [&WITH_BODY[..], &["409", "422", "502", "503", "507"]].concat();
    let mut ask = operation(generator, "askQuestion", description, ("200", settled), &problems);
    ask["responses"]["200"]["content"]["application/json"]["schema"] = json!({
        "oneOf": [generator.subschema_for::<Settlement>(), generator.subschema_for::<Record>()],
    });
    let mut asked =
        response::<Record>(generator, "The question, which is open and has nobody who waits for it.");
    let location = "The path of the question.";
    asked["headers"] = json!({ "Location": { "description": location, "schema": { "type": "string" } } });
    ask["responses"]["201"] = asked;
    let key = "A name of this question that the asker chooses, of at most 255 characters. The same question again under this \
        key is not asked twice, and another one is refused with 409 (`key_used`).";
    let prefer = "`respond-async` does not wait, as `wait: false` in the body.";
    ask["parameters"] =
        json!([parameter("Idempotency-Key", "header", key), parameter("Prefer", "header", prefer)]);
    ask["requestBody"] = body::<NewQuestion>(generator, true);
    ask
}

fn events(generator: &mut SchemaGenerator) -> Value {
    let description = "Sends server-sent events until the client disconnects: `question.requested`, `question.changed` \
        and `question.resolved`. Without Last-Event-ID, or with one that is too old, the stream begins with a \
        `question.requested` for each open question, and then a `snapshot`, which has the IDs of all open questions \
        under `open`: no others are open. `x-events` has the schema of the data of each event.";
    let (event, snapshot) =
        (generator.subschema_for::<QuestionEvent<'_>>(), generator.subschema_for::<Snapshot>());
    // The schema of the body is a plain text: a generated client would fail to parse the stream as one event.
    let stream = json!({
        "schema": { "type": "string" },
        "x-events": {
            "question.requested": event,
            "question.changed": event,
            "question.resolved": event,
            "snapshot": snapshot,
        },
    });
    let stream = json!({ "description": "A stream of events.", "content": { "text/event-stream": stream } });
    let mut events = operation(generator, "followEvents", description, ("200", stream), &["503"]);
    events["tags"] = json!(["events"]);
    events["parameters"] = json!([{
        "name": "Last-Event-ID",
        "in": "header",
        "description": "The ID of the last event that the client got: the stream continues with the next one.",
        "schema": { "type": "string" },
    }]);
    events
}

fn operation(
    generator: &mut SchemaGenerator,
    id: &str,
    description: &str,
    success: (&str, Value),
    problems: &[&str],
) -> Value {
    let mut responses = Map::from_iter([(success.0.to_owned(), success.1)]);
    for status in problems.iter().chain(&ALWAYS) {
        let content = content::<Problem>(generator, "application/problem+json");
        responses.insert((*status).to_owned(), json!({ "description": meaning(status), "content": content }));
    }
    let summary = description.split_inclusive('.').next().unwrap_or_default().trim_end_matches('.');
    json!({
        "operationId": id,
        "tags": ["questions"],
        "summary": summary,
        "description": description,
        "responses": responses,
    })
}

fn meaning(status: &str) -> &'static str {
    match status {
        "400" => "The body, the query or a header has another shape.",
        "401" => "The token is missing or wrong.",
        "403" => {
            "The Host or the Origin is not allowed; or the agent that asked started this server: it cannot answer itself."
        }
        "404" => "There is no such question.",
        "408" => "The body took too long to arrive.",
        "409" => {
            "The question was settled in another way, which is under `outcome`; or the name stands for several open \
             questions, whose IDs are under `ids`; or the key was used for another question (`key_used`); or a \
             connection holds the question, whose end withdraws it (`held`)."
        }
        "410" => "The question ended without an answer: `outcome` has the reason.",
        "412" => "The question has no deadline.",
        "413" => "The body is too large.",
        "415" => "The Content-Type is not application/json.",
        "422" => {
            "The answer does not fit the question, or the question cannot be asked: `errors` says why, by field."
        }
        "429" => "Too many requests in a second, or too many answers wait for the agent.",
        "502" => "A bridge of another version refused it: `name` is its own name for the reason.",
        "507" => "Too many questions are open.",
        _ => {
            "The bridge is gone or does not respond, so it is not known whether the agent got the answer; or the \
             journal cannot be read; or nothing can be kept beyond the connection (`not_kept`); or there are too many \
             connections or streams."
        }
    }
}

fn response<T: JsonSchema>(generator: &mut SchemaGenerator, description: &str) -> Value {
    json!({ "description": description, "content": content::<T>(generator, "application/json") })
}

fn body<T: JsonSchema>(generator: &mut SchemaGenerator, required: bool) -> Value {
    json!({ "required": required, "content": content::<T>(generator, "application/json") })
}

fn content<T: JsonSchema>(generator: &mut SchemaGenerator, kind: &str) -> Value {
    json!({ kind: { "schema": generator.subschema_for::<T>() } })
}

fn with_parameters(mut path: Value, names: &[&str]) -> Value {
    let parameter = |name: &&str| {
        let description = match *name {
            "sessionId" => "The ID of the session, as the agent names it.",
            "number" => "The number of the image in its question, from 1.",
            _ => "The ID of the question.",
        };
        json!({
            "name": name, "in": "path", "required": true, "description": description, "schema": { "type": "string" },
        })
    };
    if !names.is_empty() {
        path["parameters"] = names.iter().map(parameter).collect();
    }
    path
}
