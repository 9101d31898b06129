//! Generates the OpenRPC description of the control protocol from the types of its requests and responses.
//! Its output is `schema/openrpc.json`, which the program serves. The methods themselves are left to its `rpc`.

use std::{collections::BTreeSet, num::NonZeroU64, time::Duration};

use askbridge_control::{
    inbox::{
        BridgeInbox, BridgeStatus, Identity,
        report::{MachineListing, MachineReport},
    },
    rpc::{
        caller::Caller,
        deferrals::Deferrals,
        deferred::Deferral,
        history::{HistoryListing, HistoryParams},
        lookup::ImagePiece,
        markdown::Reading,
        methods::Methods,
        protocol::{Delta, Listing, LostListing, OutlineListing},
    },
};
use askbridge_core::{
    desk::{
        Record, Settlement, Timestamp,
        refusal::{Detail, RefusalKind},
    },
    question::{Comment, Context, Provenance, Question, Responder, input::AnswerInput},
};
use askbridge_web::NEEDS_WEBSOCKET;
use jsonrpsee::types::error::{
    INVALID_PARAMS_CODE, INVALID_REQUEST_CODE, METHOD_NOT_FOUND_CODE, OVERSIZED_REQUEST_CODE,
    OVERSIZED_RESPONSE_CODE, PARSE_ERROR_CODE, TOO_MANY_SUBSCRIPTIONS_CODE,
};
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

/// The errors of JSON-RPC itself. Their `data`, if they have one, is a text.
const FAULTS: [(&str, i32, &str); 7] = [
    ("parse_error", PARSE_ERROR_CODE, "The message is not JSON."),
    ("invalid_request", INVALID_REQUEST_CODE, "The message is not a JSON-RPC request."),
    ("method_not_found", METHOD_NOT_FOUND_CODE, "There is no such method."),
    ("invalid_params", INVALID_PARAMS_CODE, "The parameters do not fit the method."),
    (
        "too_many_subscriptions",
        TOO_MANY_SUBSCRIPTIONS_CODE,
        "The connection has the maximum number of subscriptions.",
    ),
    ("oversized_request", OVERSIZED_REQUEST_CODE, "The request is too large."),
    ("oversized_response", OVERSIZED_RESPONSE_CODE, "The response is too large."),
];

/// The errors that any method can return.
const ALWAYS: [&str; 7] = [
    "parse_error",
    "invalid_request",
    "method_not_found",
    "invalid_params",
    "oversized_request",
    "oversized_response",
    "too_many_requests",
];

/// Generates the document.
pub(crate) fn document() -> Value {
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
            "description": "Lists the open questions of coding agents, and gives each exactly one answer. A permission \
                that an agent asks for is a question whose `purpose` is `permission`: its only field has the options, \
                `role` says what each does, and `subject` what would happen. Use it on the socket of a bridge with one message per line, over WebSocket at `/rpc`, or over HTTP, which has \
                no subscriptions. What is to be taken back needs a WebSocket. The `data` of an error has the shape of `x-error-data`, where the error is described \
                with a `data`.",
            "license": { "name": "Apache-2.0" },
        },
        "methods": methods,
        "components": { "schemas": schemas, "errors": errors() },
        "x-error-data": detail,
    })
}

fn errors() -> Map<String, Value> {
    let (name, code) = NEEDS_WEBSOCKET;
    let kinds = RefusalKind::ALL.map(|kind| (kind.name, kind.code, kind.meaning)).into_iter();
    let refusals = kinds
        .chain([(name, code, "A subscription needs a WebSocket, and so does what is to be taken back.")])
        .map(|(name, code, message)| {
            (name.to_owned(), json!({ "code": code, "message": message, "data": { "name": name } }))
        });
    let faults =
        FAULTS.map(|(name, code, message)| (name.to_owned(), json!({ "code": code, "message": message })));
    refusals.chain(faults).collect()
}

fn methods(generator: &mut SchemaGenerator) -> Vec<Value> {
    let mut methods = Vec::from(lookups(generator));
    methods.extend(submissions(generator));
    methods.extend(deferred(generator));
    let question = must::<Question>(generator, "question", "The question to ask.");
    let known = may::<u64>(generator, "known", "The revision of the last reply that the caller has.");
    methods.extend([
        method::<Settlement>(
            generator,
            "question_ask",
            "Asks a question, waits until it is settled, and returns how. It is withdrawn when the caller disconnects.",
            &[&question],
            &["bad_question", "too_many_questions", "unavailable", "other"],
        ),
    ]);
    methods.extend(kept(generator, &question));
    methods.extend([
        method::<Vec<BridgeStatus>>(
            generator,
            "bridge_status",
            "Returns the bridges that are known, oldest first.",
            &[],
            &[],
        ),
        method::<MachineReport>(
            generator,
            "machine_report",
            "Returns how the machine that has these questions is connected; this machine always is. With `known`, \
            the revision of the caller's last report, it waits for a newer one.",
            &[&known],
            &["too_many_requests"],
        ),
        method::<MachineListing>(
            generator,
            "machine_list",
            "Returns the other machines, and how each is connected. With `known`, the revision of the caller's last \
            listing, it waits for a newer one.",
            &[&known],
            &["too_many_requests"],
        ),
        markdown_read(generator),
        method::<()>(
            generator,
            "question_watch",
            "Reports that a person is looking at the questions now, so that notifiers stay silent. The report \
            expires after 30 seconds: a program with a screen calls it again while it has the focus.",
            &[],
            &["own_agent"],
        ),
        subscribe(generator),
        unsubscribe(generator),
    ]);
    methods
}

fn markdown_read(generator: &mut SchemaGenerator) -> Value {
    let mut texts = must::<Vec<String>>(
        generator,
        "texts",
        "The texts, of 256 KiB in all at most. One with the path of its file is read as code, and so is a patch in \
        the format of Git: each is a block with the roles of its parts.",
    );
    let code = json!({
        "type": "object",
        "properties": { "path": { "type": "string" }, "text": { "type": "string" } },
        "required": ["path", "text"],
    });
    let patch =
        json!({ "type": "object", "properties": { "patch": { "type": "string" } }, "required": ["patch"] });
    texts["schema"]["items"] = json!({ "anyOf": [{ "type": "string" }, code, patch] });
    method::<Reading>(
        generator,
        "markdown_read",
        "Reads texts as Markdown, for a program that shows questions and has no reader of its own: nothing that an \
        agent wrote is left out, and no part of a tree is HTML. A text that is too long, or nested too deeply, is \
        to be shown as its `source`, and the reply says why. Code has the roles of its parts, as comments and \
        numbers, where its language is known.",
        &[&texts],
        &["too_many_requests"],
    )
}

fn image(generator: &mut SchemaGenerator, id: &Value) -> Value {
    let number = must::<usize>(generator, "image", "The number of the image in its question, from 1.");
    let from = may::<usize>(generator, "from", "The first byte of the piece; 0 by default.");
    method::<ImagePiece>(
        generator,
        "question_image",
        "Returns a piece of an image of a question. A longer image takes several calls: each begins behind the last byte \
        of the one before. Images are kept until their question is over.",
        &[id, &number, &from],
        &["not_found", "ambiguous", "unreached", "unavailable", "history_unavailable"],
    )
}

/// Returns the parameters of `question_history`.
fn of_the_past(generator: &mut SchemaGenerator) -> Vec<Value> {
    let schema = HistoryParams::json_schema(generator).to_value();
    let members = schema["properties"].as_object().cloned().unwrap_or_default();
    let param = |(name, mut schema): (String, Value)| {
        let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        json!({ "name": name, "description": description, "required": false, "schema": schema })
    };
    members.into_iter().map(param).collect()
}

fn lookups(generator: &mut SchemaGenerator) -> [Value; 8] {
    let session = may::<String>(generator, "session", "Lists the questions of this session only.");
    let id = must::<String>(generator, "id", "The ID of the question, or a unique beginning of it.");
    let list = "Returns the open questions, oldest first.";
    let limit = may::<usize>(generator, "limit", "Lists no more than this number of questions; 128 at most.");
    let settled = "Returns the questions that were settled last and are still remembered, latest first.";
    let lost = "Returns the questions that were open when their bridges ended, within the last day, latest first. They \
                cannot be answered; `accepted` is an answer that the agent may not have received.";
    let history = "Returns questions that are over, latest first: those that were settled, and those that were lost, here and on \
        the other machines. A machine that does not reply within 2 s is named under `missing`.";
    let outline = "Returns the open questions in outline, with the members that a list shows, oldest first.";
    let get = "Returns a question: open, settled, or lost with its bridge.";
    let context = "Returns what led to a question: the last words of the agent and its last tool calls before it asked. It is \
        empty where that is not known, or not any more.";
    let past = of_the_past(generator);
    let past: Vec<_> = past.iter().collect();
    [
        method::<Listing>(generator, "question_list", list, &[&session], &[]),
        method::<OutlineListing>(generator, "question_outline", outline, &[], &[]),
        method::<Listing>(generator, "question_settled", settled, &[&limit], &[]),
        method::<LostListing>(generator, "question_lost", lost, &[], &["history_unavailable"]),
        method::<HistoryListing>(generator, "question_history", history, &past, &["history_unavailable"]),
        method::<Record>(
            generator,
            "question_get",
            get,
            &[&id],
            &["not_found", "ambiguous", "unreached", "unavailable", "history_unavailable"],
        ),
        method::<Context>(
            generator,
            "question_context",
            context,
            &[&id],
            &["not_found", "ambiguous", "unreached", "unavailable", "history_unavailable"],
        ),
        image(generator, &id),
    ]
}

fn submissions(generator: &mut SchemaGenerator) -> [Value; 4] {
    let settled = [
        "not_found",
        "ambiguous",
        "conflict",
        "gone",
        "own_agent",
        "read_only",
        "unreached",
        "unavailable",
        "unknown",
        "other",
    ];
    let answered = [&settled[..], &["changed", "does_not_fit"]].concat();
    let extended = [&settled[..], &["no_deadline"]].concat();
    let name = must::<String>(generator, "id", "The full ID of the question.");
    let by = may::<Provenance>(generator, "by", "The responder, as it names itself.");
    let answer = must::<AnswerInput>(generator, "answer", "The answer.");
    let seen = may::<u32>(generator, "seen", "The edition of the question that the responder saw.");
    let reason = may::<String>(generator, "reason", "The reason, in the person's own words.");
    let comments = comments(generator);
    let milliseconds = must::<NonZeroU64>(
        generator,
        "milliseconds",
        "How much later the deadline will be, in milliseconds.",
    );
    let aside =
        must::<u64>(generator, "milliseconds", "For how long from now, in milliseconds. 0 brings it back.");
    [
        method::<Record>(
            generator,
            "question_answer",
            "Answers a question, and returns it settled once the agent has the answer on its stdin. For a permission, \
             the answer is one of its options.",
            &[&name, &answer, &seen, &comments, &by],
            &answered,
        ),
        method::<Record>(
            generator,
            "question_reject",
            "Rejects a question, and returns it settled once the agent has that on its stdin. For a permission, that \
             chooses the option that refuses it this time, or else from now on.",
            &[&name, &reason, &comments, &by],
            &settled,
        ),
        method::<Record>(
            generator,
            "question_extend",
            "Moves the deadline of a question, and returns the question with its new deadline.",
            &[&name, &milliseconds],
            &extended,
        ),
        method::<Record>(
            generator,
            "question_later",
            "Sets a question aside, and returns it. Lists show it last, and nobody is notified of it until then; it is back before \
             its deadline comes near, and can be answered all the time.",
            &[&name, &aside],
            &settled,
        ),
    ]
}

fn comments(generator: &mut SchemaGenerator) -> Value {
    let what = "Comments on lines of the question. They go into the note on the first field of an answer, or stand below the \
                reason of a rejection.";
    may::<Vec<Comment>>(generator, "comments", what)
}

/// Returns the methods by which a person takes back what they have sent.
fn deferred(generator: &mut SchemaGenerator) -> [Value; 3] {
    let id = must::<String>(generator, "id", "The full ID of the question.");
    let answer = may::<AnswerInput>(generator, "answer", "The answer. Without it, the question is rejected.");
    let seen = may::<u32>(generator, "seen", "The edition of the question that the responder saw.");
    let reason = may::<String>(generator, "reason", "The reason of a rejection, in the person's own words.");
    let comments = comments(generator);
    let by = may::<Provenance>(generator, "by", "The responder, as it names itself.");
    let what = "A name for what is sent together: all under this name leave at one time, and `question_undo` takes them back as one.";
    let together = may::<String>(generator, "together", what);
    let found =
        ["not_found", "ambiguous", "unreached", "unavailable", "history_unavailable", NEEDS_WEBSOCKET.0];
    let deferred = [&found[..], &["own_agent", "does_not_fit"]].concat();
    let settled =
        [&found[..], &["conflict", "gone", "changed", "does_not_fit", "read_only", "unknown", "other"]]
            .concat();
    [
        method::<Deferral>(
            generator,
            "question_defer",
            "Answers or rejects a question after a while, in which this connection can take it back, as `send.undo` of the \
             settings says. It is submitted earlier if the question's deadline comes, and at once if the question changes or \
             is over, if the connection ends, or the server. Others see the question as open until then. A second one \
             for the same question takes the place of the first.",
            &[&id, &answer, &seen, &reason, &comments, &by, &together],
            &deferred,
        ),
        method::<Option<Record>>(
            generator,
            "question_deferred",
            "Waits for what becomes of that, and returns the question settled once the agent has the answer on its stdin, or \
             null if it was taken back. There is one reply to each `question_defer`.",
            &[&id],
            &settled,
        ),
        method::<bool>(
            generator,
            "question_undo",
            "Takes it back, and returns whether that was in time: the question then is open as before.",
            &[&id],
            &["not_found", NEEDS_WEBSOCKET.0],
        ),
    ]
}

/// Returns the methods for questions that no connection holds.
fn kept(generator: &mut SchemaGenerator, question: &Value) -> [Value; 3] {
    let key =
        may::<String>(generator, "key", "The name by which the question is asked again; 255 bytes at most.");
    let id = must::<String>(generator, "id", "The full ID of the question.");
    let within = may::<u64>(
        generator,
        "milliseconds",
        "How long to wait; 600,000 at most. By default, the reply comes at once.",
    );
    let of_one = ["not_found", "held", "not_kept", "unreached", "unavailable", "history_unavailable"];
    let withdrawn = [&of_one[..], &["conflict", "read_only"]].concat();
    [
        method::<Record>(
            generator,
            "question_keep",
            "Asks a question that no connection holds, and returns it at once: it is in the journal by then, and outlives its \
             asker and the inbox. The same question under the same key is the same one, which may be over. Only `askbridge \
             inbox` keeps questions. A secret field cannot be kept.",
            &[question, &key],
            &[
                "bad_question",
                "too_many_questions",
                "key_used",
                "not_kept",
                "read_only",
                "history_unavailable",
            ],
        ),
        method::<Record>(
            generator,
            "question_outcome",
            "Waits until a question is over that no connection holds, and returns it as it is then, or once the time is over. \
             An inbox that ends, and a call of a batch, do not wait.",
            &[&id, &within],
            &of_one,
        ),
        method::<()>(
            generator,
            "question_withdraw",
            "Withdraws a question that no connection holds. To withdraw it again succeeds.",
            &[&id],
            &withdrawn,
        ),
    ]
}

/// Returns the method that subscribes. OpenRPC cannot describe a subscription, so `x-subscription` describes its
/// notifications.
fn subscribe(generator: &mut SchemaGenerator) -> Value {
    let description = "Sends the open questions, and then each change, as notifications. A subscriber that falls \
        behind gets the open questions again.";
    let errors = ["too_many_subscriptions", NEEDS_WEBSOCKET.0];
    let mut method = method::<Subscription>(generator, "question_subscribe", description, &[], &errors);
    method["x-subscription"] = json!({
        "notification": "question_changed",
        "paramStructure": "by-name",
        "params": [
            must::<Subscription>(generator, "subscription", "The ID of the subscription."),
            must::<Delta>(generator, "result", "The change."),
        ],
        "unsubscribe": "question_unsubscribe",
    });
    method
}

fn unsubscribe(generator: &mut SchemaGenerator) -> Value {
    let subscription = must::<Subscription>(generator, "subscription", "The ID of the subscription.");
    let description = "Ends a subscription, and returns whether it existed.";
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

/// The ID of a subscription.
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

#[test]
fn every_method_is_described() {
    let identity = Identity {
        bridge: "b".parse().unwrap(),
        agent: String::new(),
        folder: String::new(),
        started_at: Timestamp::default(),
    };
    let (inbox, _port, _work) = BridgeInbox::new(identity, 1);
    let names: BTreeSet<_> =
        Methods::with_undo(inbox, Caller::Of(Responder::Rpc), Deferrals::new(Duration::ZERO))
            .names()
            .into_iter()
            .collect();
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
