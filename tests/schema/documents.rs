//! The documents in `schema/` match the types, and the schema of the native request accepts what the bridge accepts.
//! `UPDATE=1 cargo test --test suites schema::` writes the documents.
use std::{collections::BTreeSet, fs, path::Path};

use askbridge::present::{
    doctor::Report, listing::QuestionList, machines::MachineList, status::MachineStatus,
};
use askbridge_control::{
    inbox::BridgeStatus,
    rpc::protocol::{Delta, Listing},
};
use askbridge_core::{
    desk::{Record, Settlement, State, refusal::Detail},
    dialect::{
        self,
        sandboxagent::{reply::ExtensionResult, request::RequestQuestionParams},
    },
    question::{
        Answer, FieldError, Origin, Outcome, PreviewFormat, Provenance, Purpose, Question, Reason, Responder,
        input::AnswerInput,
    },
    wire::method::REQUEST_QUESTION,
};
use jsonschema::Validator;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Value, json};

use crate::{
    schema::{openapi, openrpc},
    support::{files, golden},
};

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

fn schema<T: JsonSchema>() -> Value {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value();
    // The order of the members depends on the features of serde_json in this build.
    schema.sort_all_objects();
    schema
}

fn validator<T: JsonSchema>() -> Validator {
    jsonschema::validator_for(&schema::<T>()).expect("a schema")
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_published_schemas_match_the_types() {
    let schemas = [
        ("request_question.params.schema.json", schema::<RequestQuestionParams>()),
        ("request_question.result.schema.json", schema::<ExtensionResult>()),
        ("question.schema.json", schema::<Question>()),
        ("answer.schema.json", schema::<Answer>()),
        ("outcome.schema.json", schema::<Outcome>()),
        ("provenance.schema.json", schema::<Provenance>()),
        ("field_error.schema.json", schema::<FieldError>()),
        ("question_record.schema.json", schema::<Record>()),
        ("question_listing.schema.json", schema::<Listing>()),
        ("question_delta.schema.json", schema::<Delta>()),
        ("settlement.schema.json", schema::<Settlement>()),
        ("answer_input.schema.json", schema::<AnswerInput>()),
        ("refusal.schema.json", schema::<Detail>()),
        ("bridge_status.schema.json", schema::<BridgeStatus>()),
        ("machine_status.schema.json", schema::<MachineStatus>()),
        ("doctor_report.schema.json", schema::<Report>()),
        ("machine_list.schema.json", schema::<MachineList>()),
        ("question_list.schema.json", schema::<QuestionList>()),
    ];
    let mut outdated = Vec::new();
    for (name, schema) in schemas {
        jsonschema::meta::validate(&schema).expect("a valid schema");
        assert_eq!((schema.get("$id"), schema["$schema"].as_str()), (None, Some(DRAFT)), "{name}");
        let generated = format!("{schema:#}\n");
        outdated.extend(golden::difference(&root().join("schema").join(name), &generated));
    }
    assert!(outdated.is_empty(), "not what the types say: {}", outdated.join("\n"));
}

#[test]
fn the_published_http_interface_matches_the_types() {
    is_published("openapi.json", openapi::document());
}

#[test]
fn the_published_schema_of_settings_matches_the_list() {
    let mut document = askbridge_settings::schema::document();
    document.sort_all_objects();
    jsonschema::meta::validate(&document).expect("a valid schema");
    let generated = format!("{document:#}\n");
    golden::is(&root().join("schema/config.schema.json"), &generated);
}

/// What is set by a file is what the schema accepts, as far as a schema can tell.
#[test]
fn a_value_that_counts_is_valid() {
    use askbridge_settings::{Settings, SettingsFile, Sources, keys, render};
    let validator = jsonschema::validator_for(&askbridge_settings::schema::document()).expect("a schema");
    let nested = |path: &str, value: &Value| {
        path.rsplit('.').fold(value.clone(), |value, name| json!({ name: value }))
    };
    let values = [
        json!(true),
        json!(80),
        json!(-1),
        json!("1m"),
        json!("never"),
        json!("soon"),
        json!("inbox"),
        json!("none"),
        json!("warn"),
        json!("json"),
        json!("/a"),
        json!("a"),
        json!("https://a"),
        json!("127.0.0.1:80"),
        json!([]),
        json!(["a"]),
        json!(["question"]),
        json!(["22:00-07:00"]),
        json!(["1"]),
        json!({}),
        json!(""),
    ];
    for key in keys::all() {
        for value in &values {
            let (table, name) = key.path().rsplit_once('.').expect("a table");
            let text = match value {
                Value::Object(_) => format!("[{}]\n", key.path()),
                value => format!("[{table}]\n{name} = {}\n", render::toml(value)),
            };
            let user = Some(SettingsFile {
                path: "config.toml".into(),
                text: text.clone(),
                is_readable_by_others: false,
            });
            let counts = Settings::of(Sources { user, ..Sources::default() }).problems().is_empty();
            let is_valid = validator.is_valid(&nested(key.path(), value));
            // Texts of addresses and of time spans are not described to the letter.
            assert!(is_valid || !counts, "{text} counts, and is not valid");
            let is_loose =
                ["serve", "address"].contains(&name) || matches!(value, Value::String(_) | Value::Array(_));
            assert!(counts || !is_valid || is_loose, "{text} is ignored, but valid");
        }
    }
    for wrong in
        [json!({ "bridge": { "timout": "1s" } }), json!({ "x": 1 }), json!({ "notify": { "project": [{}] } })]
    {
        assert!(!validator.is_valid(&wrong), "{wrong}");
    }
}

/// The reference is made of the list. Around it, `docs/settings.md` is written by hand.
#[test]
fn the_reference_of_settings_matches_the_list() {
    use askbridge_settings::{Project, keys, render};
    let mut reference = String::new();
    for (section, about) in keys::SECTIONS {
        reference += &format!(
            "### `[{section}]`\n\n{about}.\n\n| key | default | what it does | a change counts | a project may set it |\n| --- | --- | --- | --- | --- |\n"
        );
        for (name, key) in render::of_section(section) {
            let default = match key.default_value() {
                Value::Null => "–".to_owned(),
                value => format!("`{}`", render::toml(&value)),
            };
            let project = match key.project() {
                Project::Free => "yes".to_owned(),
                Project::Narrower => "to less than yours".to_owned(),
                Project::Refused(why) => format!("no: {why}"),
            };
            let (about, counts) = (key.about(), key.counts().words());
            reference += &format!("| `{name}` | {default} | {about} | {counts} | {project} |\n");
        }
        reference += "\n";
    }
    reference += &format!(
        "### `[[{}]]`\n\n{}.\n\n| key | what it does |\n| --- | --- |\n",
        keys::PROJECTS,
        keys::PROJECTS_ABOUT
    );
    for key in keys::of_project() {
        reference += &format!("| `{}` | {} |\n", key.path(), key.about());
    }
    reference += &format!(
        "\n### `[[{}]]`\n\n{}. [rules.md](rules.md) has the keys, the promises and examples.\n",
        keys::RULES,
        keys::RULES_ABOUT
    );
    let path = root().join("docs/settings.md");
    let text = fs::read_to_string(&path).expect("the page");
    let (before, _) = text.split_once("<!-- reference -->\n\n").expect("the mark of the reference");
    golden::is(&path, &format!("{before}<!-- reference -->\n\n{reference}"));
}

/// What generators of clients need. `tests/clients` tries two of them.
#[test]
fn the_http_interface_can_be_read_by_generators() {
    let document = openapi::document();
    let schemas = document["components"]["schemas"].as_object().expect("schemas");
    let mut ids = BTreeSet::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in
            item.as_object().expect("operations").iter().filter(|(name, _)| *name != "parameters")
        {
            let id = operation["operationId"].as_str().unwrap_or_else(|| panic!("{method} {path} has no ID"));
            assert!(ids.insert(id), "{id} stands twice");
        }
    }
    for (name, schema) in schemas {
        assert_eq!(schema["title"], **name, "the title is the name of the class");
        assert!(
            !schema.to_string().contains("\"oneOf\""),
            "{name} has a union that other versions cannot extend"
        );
        for (member, schema) in schema["properties"].as_object().into_iter().flatten() {
            assert!(schema.get("default").is_none(), "{name}.{member} may be left out, and has a default");
        }
        let Some(variants) = schema["anyOf"].as_array() else { continue };
        let unnamed = variants.iter().find(|variant| variant["type"] == "object");
        assert_eq!(unnamed, None, "{name} has an object without a name");
    }
}

#[test]
fn unions_with_a_tag_have_a_discriminator_and_end_with_the_unknown_object() {
    let document = openapi::document();
    for (union, tag, known) in [
        ("Outcome", "status", &["answered", "rejected", "failed"][..]),
        ("Field", "kind", &["text", "choice", "choices", "boolean", "number", "confirm", "texts", "json"]),
    ] {
        let schemas = &document["components"]["schemas"];
        let described = &schemas[union]["discriminator"];
        assert_eq!(described["propertyName"], tag);
        assert_eq!(described["mapping"].as_object().map_or(0, serde_json::Map::len), known.len());
        let mut objects = Vec::new();
        for constant in known {
            let target = described["mapping"][constant].as_str().expect("a reference");
            let object = document.pointer(target.trim_start_matches('#')).expect("an object");
            assert_eq!(object["properties"][tag]["const"], *constant);
            assert!(object["required"].as_array().is_some_and(|all| all.contains(&tag.into())), "{object}");
            objects.push(json!({ "$ref": target }));
        }
        let unknown = format!("#/components/schemas/Unknown{union}");
        let variants = schemas[union]["anyOf"].as_array().expect("a union");
        assert!(objects.iter().all(|object| variants.contains(object)), "{variants:?}");
        assert_eq!(
            variants.last(),
            Some(&json!({ "$ref": unknown })),
            "generators try the objects in this order"
        );
        assert_eq!(variants.len(), known.len() + 1);
    }
    // Each object has all of its members, those of its base as well.
    let schemas = &document["components"]["schemas"];
    assert!(schemas["AnsweredOutcome"]["properties"]["values"].is_object());
    assert!(schemas["UnknownField"]["properties"]["label"].is_object());
}

#[test]
fn sets_of_names_are_enums_and_open_ones_take_any_string() {
    let document = openapi::document();
    let schemas = &document["components"]["schemas"];
    for (name, known) in [
        ("Reason", Reason::NAMES),
        ("Responder", Responder::NAMES),
        ("Origin", Origin::NAMES),
        ("Purpose", Purpose::NAMES),
        ("PreviewFormat", PreviewFormat::NAMES),
        ("State", State::NAMES),
    ] {
        let reference = json!({ "$ref": format!("#/components/schemas/Known{name}") });
        assert_eq!(schemas[name]["anyOf"], json!([reference, { "type": "string" }]), "{name}");
        assert_eq!(schemas[format!("Known{name}")]["enum"], json!(known));
    }
    assert_eq!(schemas["QuestionStatus"]["enum"], json!(["requested", "answered", "rejected"]));
}

#[test]
fn the_published_protocol_matches_the_types() {
    is_published("openrpc.json", openrpc::document());
}

/// Compares a document with the file of this name, and checks its schemas and references.
fn is_published(name: &str, mut document: Value) {
    document.sort_all_objects();
    let generated = format!("{document:#}\n");
    let path = root().join("schema").join(name);
    golden::is(&path, &generated);
    let schemas = document["components"]["schemas"].as_object().expect("schemas");
    for (name, schema) in schemas {
        jsonschema::meta::validate(schema).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    // Every reference has a target.
    for (at, _) in generated.match_indices("\"$ref\": \"") {
        let reference = generated[at + 9..].split('"').next().unwrap_or_default();
        assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "nothing at {reference:?}");
    }
}

/// Returns the example requests of the extension's description, and requests with the bridge's own additions.
fn requests() -> Vec<Value> {
    let pairs = json!([["option-a", "Option A"], ["option-b", "Option B"]]);
    let object = json!({ "value": "a", "label": "A", "description": "…", "preview": "# A" });
    let other = json!({ "id": "b", "title": "B", "preview": { "format": "code", "text": "b()" } });
    let field = json!({ "question": "…", "header": "…", "options": [{ "label": "…", "description": "…" }] });
    let many =
        json!({ "question": "…", "options": ["A"], "multiple": true, "multiSelect": true, "custom": true });
    let number = json!({ "name": "n", "label": "How many?", "kind": "number", "integer": true, "min": 1 });
    let confirm =
        json!({ "name": "c", "label": "Sure?", "kind": "confirm", "yes": "Do it", "no": "Leave it" });
    let text = json!({ "name": "t", "label": "Why?", "required": true, "kind": "text", "minLength": 1, "help": "…" });
    let choice = json!({ "name": "o", "label": "Which?", "kind": "choice", "options": [{ "value": "a", "label": "A" }] });
    let choices = json!({ "name": "m", "label": "Which?", "kind": "choices", "options": [], "default": ["a"], "max": 2 });
    let flag = json!({ "name": "f", "label": "Now?", "kind": "boolean", "default": true });
    let form = json!([number, confirm, text, choice, choices, flag]);
    vec![
        json!({ "sessionId": "s", "questionId": "uuid", "prompt": "Which option?", "options": pairs }),
        json!({ "sessionId": "s", "questionId": "q", "prompt": "…", "options": ["A", "B"] }),
        json!({ "sessionId": "s", "questionId": "q", "prompt": "…", "options": [object, other, { "name": "C" }] }),
        json!({ "sessionId": "s", "questions": [field, many] }),
        json!({ "question_id": "q", "prompt": "…", "options": ["A"], "status": "requested" }),
        json!({ "prompt": "…", "options": [], "toolCallId": "t" }),
        json!({ "prompt": "…", "options": null, "questions": null, "sessionId": null, "_meta": null }),
        json!({ "prompt": "…", "_meta": { "askbridge": { "dangerous": true, "timeoutMs": 1000 }, "other": 1 } }),
        json!({ "sessionId": "s", "_meta": { "askbridge": { "fields": form } } }),
    ]
}

fn broken_requests() -> Vec<Value> {
    let fields = |fields: Value| json!({ "_meta": { "askbridge": { "fields": fields } } });
    let pdf = json!({ "value": "a", "label": "A", "preview": { "format": "pdf", "text": "" } });
    vec![
        json!(["…"]),
        json!("…"),
        json!({ "sessionId": "s" }),
        json!({ "prompt": "" }),
        json!({ "prompt": null, "options": ["A"] }),
        json!({ "prompt": 5 }),
        json!({ "prompt": "…", "sessionId": 5 }),
        json!({ "prompt": "…", "questionId": ["q"] }),
        json!({ "prompt": "…", "options": "A" }),
        json!({ "prompt": "…", "options": [["a"]] }),
        json!({ "prompt": "…", "options": [["a", "A", "b"]] }),
        json!({ "prompt": "…", "options": [{ "description": "nameless" }] }),
        json!({ "prompt": "…", "options": [{ "value": null }] }),
        json!({ "prompt": "…", "options": [{ "label": "A", "preview": { "format": "pdf", "text": "" } }] }),
        json!({ "questions": [] }),
        json!({ "questions": [{ "header": "…" }] }),
        json!({ "questions": [{ "question": "…", "multiple": "yes" }] }),
        json!({ "prompt": "…", "_meta": { "askbridge": { "timeoutMs": -1 } } }),
        fields(json!([])),
        fields(json!([{ "name": "n", "label": "…" }])),
        fields(json!([{ "name": "n", "label": "…", "kind": "date" }])),
        fields(json!([{ "name": "n", "kind": "text" }])),
        fields(json!([{ "name": "n", "label": "…", "kind": "choice" }])),
        fields(json!([{ "name": "n", "label": "…", "kind": "confirm", "yes": "Yes" }])),
        fields(json!([{ "name": "n", "label": "…", "kind": "choice", "options": [pdf] }])),
    ]
}

fn is_taken(params: &Value) -> bool {
    dialect::read(REQUEST_QUESTION, params.to_string().as_bytes(), "made-up").is_ok()
}

#[test]
fn a_question_that_the_bridge_accepts_is_valid() {
    let validator = validator::<RequestQuestionParams>();
    for params in requests() {
        assert!(is_taken(&params), "not taken: {params}");
        if let Err(error) = validator.validate(&params) {
            panic!("{error} at {} in {params}", error.instance_path());
        }
    }
}

#[test]
fn a_question_that_the_bridge_refuses_is_not_valid() {
    let validator = validator::<RequestQuestionParams>();
    for params in broken_requests() {
        assert!(!is_taken(&params), "taken: {params}");
        assert!(!validator.is_valid(&params), "valid: {params}");
    }
}

/// Returns every message in the transcripts that follows this prefix.
fn said(prefix: &str) -> Vec<Value> {
    let texts = files::below("transcripts").into_iter().map(|path| fs::read_to_string(path).expect("a text"));
    let texts: Vec<_> = texts.collect();
    let lines = texts.iter().flat_map(|text| text.lines()).filter_map(|line| line.strip_prefix(prefix));
    lines.filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[test]
fn a_question_in_the_transcripts_is_valid_if_the_bridge_accepts_it() {
    let validator = validator::<RequestQuestionParams>();
    let questions = said("agent> ").into_iter().filter(|message| message["method"] == REQUEST_QUESTION);
    let (taken, refused): (Vec<_>, Vec<_>) =
        questions.map(|message| message["params"].clone()).partition(is_taken);
    assert!(taken.len() > 50 && refused.len() > 5, "{} taken, {} refused", taken.len(), refused.len());
    for params in taken {
        assert!(validator.is_valid(&params), "taken, and not valid: {params}");
    }
    for params in refused {
        // The limits are not in the schema, so a question that only exceeds them is valid.
        let too_much = serde_json::from_value::<RequestQuestionParams>(params.clone()).is_ok()
            && params.to_string().len() > 200;
        assert!(too_much || !validator.is_valid(&params), "refused, and valid: {params}");
    }
}

#[test]
fn a_result_of_the_bridge_is_valid() {
    let validator = validator::<ExtensionResult>();
    let results = said("agent< ").into_iter().map(|message| message["result"].clone());
    let results: Vec<_> = results.filter(|result| result.get("status").is_some()).collect();
    assert!(results.len() > 30, "only {} answers", results.len());
    for result in results {
        assert!(validator.is_valid(&result), "not valid: {result}");
    }
    let answered = json!([["option-a"], [], ["b", "c"]]);
    for result in [
        json!({ "status": "answered", "answers": answered }),
        json!({ "status": "rejected" }),
        json!({ "status": "rejected", "_meta": { "askbridge": { "reason": "timeout" } } }),
        json!({ "status": "answered", "answers": [["a"]], "_meta": { "askbridge": { "notes": { "0": "…" } } } }),
    ] {
        assert!(validator.is_valid(&result), "not valid: {result}");
    }
}

#[test]
fn an_invalid_result_is_not_valid() {
    let validator = validator::<ExtensionResult>();
    for result in [
        json!({}),
        json!(null),
        json!({ "status": "answered" }),
        json!({ "status": "answered", "answers": ["a"] }),
        json!({ "status": "answered", "answers": { "0": "a" } }),
        json!({ "status": "answered", "answers": [[1]] }),
        json!({ "status": "cancelled" }),
        json!({ "outcome": "rejected" }),
        json!({ "status": "rejected", "_meta": { "askbridge": { "reason": 5 } } }),
    ] {
        assert!(serde_json::from_value::<ExtensionResult>(result.clone()).is_err(), "understood: {result}");
        assert!(!validator.is_valid(&result), "valid: {result}");
    }
}
