//! What programs ask beyond fields: an answer that fits a JSON Schema, or leave to do something. Programs have no format of
//! their own on the wire; the doors through which they ask read the members.

use std::{borrow::Cow, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use super::{
    elicitation::{FormReply, reply::write_content},
    once,
    permission::PermissionDescription,
    schema::{self, Form, Slot},
};
use crate::{
    limits,
    question::{
        Action, Answer, Field, FieldOption, Kind, Origin, Question, Role, Subject, action::ARGUMENTS, json,
    },
};

/// The property of a form around a schema of anything but an object.
const VALUE: &str = "value";

/// Members of a schema that others refer to from its root, or that say how to read it.
const OF_ROOT: [&str; 3] = ["$schema", "$defs", "definitions"];

/// Gives a question the fields by which a person fills in a JSON Schema, in the order of its text.
///
/// # Errors
/// The schema is no schema of JSON.
pub fn with_schema(question: Question, text: &str) -> Result<Question, String> {
    let schema: Json = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let form = form(&schema, text)?;
    let is_alone = form.properties.len() == 1 && !question.message.trim().is_empty();
    let fields = form.properties.into_iter().map(|property| {
        let key = if is_alone { question.message.clone() } else { property.key };
        let header = Some(property.group).filter(|group| !group.is_empty());
        Field { label: property.title.unwrap_or(key), header, help: property.description, ..property.field }
    });
    let fields: Vec<_> = fields.collect();
    // Everybody sees the schema, and a default may be the present secret.
    let schema = if fields.iter().any(|field| field.secret) { without_values(schema) } else { schema };
    Ok(Question { fields, schema: Some(Box::new(schema)), ..question })
}

/// Returns a schema without the values in it that are proposed or shown as examples.
fn without_values(schema: Json) -> Json {
    const VALUES: [&str; 2] = ["default", "examples"];
    const NAMED: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
    match schema {
        Json::Array(schemas) => schemas.into_iter().map(without_values).collect(),
        Json::Object(members) => {
            let members = members.into_iter().filter(|(name, _)| !VALUES.contains(&name.as_str()));
            let within = |(name, value): (String, Json)| match value {
                // A property may have any name.
                Json::Object(schemas) if NAMED.contains(&name.as_str()) => {
                    let schemas = schemas.into_iter().map(|(name, schema)| (name, without_values(schema)));
                    (name, Json::Object(schemas.collect()))
                }
                value => (name, without_values(value)),
            };
            Json::Object(members.map(within).collect())
        }
        value => value,
    }
}

/// Returns an answer as the JSON that the schema of its question wants. `None` if it has no schema.
pub fn value(question: &Question, answer: &Answer) -> Option<Json> {
    let schema = question.schema.as_deref()?;
    let form = form(schema, &schema.to_string()).ok()?;
    // Where a member stands in a schema is not kept.
    let slot = |field: &Field| {
        let property = form.properties.iter().find(|property| property.field.name == field.name);
        property.map_or_else(|| Slot::named(&field.name), |property| property.slot.clone())
    };
    let slots = question.fields.iter().map(slot).collect();
    let format = FormReply { slots, groups: form.groups, ..FormReply::default() };
    let (content, _) = write_content(&format, question, answer);
    let mut content: Map<String, Json> = content.0.into_iter().collect();
    if schema::is_typed_object(schema) { Some(content.into()) } else { content.remove(VALUE) }
}

/// Reads a schema, whose text this is, as a form. A schema of anything but an object is the one property of a form.
fn form(schema: &Json, text: &str) -> Result<Form, String> {
    let Some(members) = schema.as_object() else { return Err("a schema must be an object".to_owned()) };
    if schema::is_typed_object(schema) {
        let form = schema::read(text)?;
        // An object of unknown members is one field, and so are more fields than a question may have.
        let is_fit = !form.properties.is_empty() && form.properties.len() <= limits::FIELDS;
        return Ok(if is_fit { form } else { schema::whole(schema) });
    }
    let (of_root, own): (Map<_, _>, Map<_, _>) =
        members.clone().into_iter().partition(|(name, _)| OF_ROOT.contains(&name.as_str()));
    let mut around = Map::from_iter(of_root);
    around.insert("type".to_owned(), "object".into());
    around.insert("properties".to_owned(), json!({ VALUE: own }));
    around.insert("required".to_owned(), json!([VALUE]));
    let mut form = schema::read(&Json::from(around).to_string())?;
    if let Some(property) = form.properties.first_mut().filter(|property| property.slot.place.is_empty()) {
        // It refers to its own root, so that it only means something as it came.
        let kind = Kind::Json { schema: schema.clone() };
        let secret = property.field.secret;
        property.field = Field { secret, ..Field::new(VALUE.to_owned(), VALUE.to_owned(), true, kind) };
        property.slot = Slot::named(VALUE);
        property.key = VALUE.to_owned();
    }
    Ok(form)
}

/// What a program wants to do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(title = "NewSubject"))]
pub struct NewSubject {
    /// The kind of the tool, as ACP names it: `read`, `edit`, `delete`, `execute`, `fetch` and so on. By default, `execute`
    /// if there is a command.
    #[serde(default)]
    pub kind: Option<String>,
    /// The name of the tool.
    #[serde(default)]
    pub tool: Option<String>,
    /// The MCP server that has the tool.
    #[serde(default)]
    pub server: Option<String>,
    /// The arguments of the tool.
    #[serde(default)]
    pub arguments: Option<Map<String, Json>>,
    /// The command that would run.
    #[serde(default)]
    pub command: Option<String>,
    /// The folder that the command would run in.
    #[serde(default)]
    pub folder: Option<String>,
    /// The files that it is about.
    #[serde(default)]
    pub files: Vec<String>,
    /// The act in a few words.
    #[serde(default)]
    pub title: Option<String>,
    /// Why the program asks.
    #[serde(default)]
    pub description: Option<String>,
}

/// Reads an object in which no object has two members of one name: of such, the program and the person might each take
/// another one for what is done.
///
/// # Errors
/// It is no object, or has such members.
pub fn distinct(text: &str) -> Result<Map<String, Json>, String> {
    let all: Json = serde_json::from_str(text).map_err(|error| error.to_string())?;
    // An object with a member twice is read as null.
    if once::from_slice(text.as_bytes()).as_ref() != Some(&all) {
        return Err("two members of an object have the same name".to_owned());
    }
    match all {
        Json::Object(members) => Ok(members),
        _ => Err("it must be an object".to_owned()),
    }
}

/// How a program wants to be allowed something.
#[derive(Clone, Debug, Default)]
pub struct Manner {
    /// Whether the program takes changed arguments.
    pub changes: bool,
    /// The JSON Schema of the arguments.
    pub schema: Option<Json>,
    /// How long an approval counts.
    pub grant: Option<Duration>,
}

/// Makes a question a permission to do this. The only field of the question, if it has one, has the options.
///
/// # Errors
/// What cannot be asked, and why.
pub fn permission(asked: Question, request: Map<String, Json>, manner: Manner) -> Result<Question, String> {
    let new: NewSubject =
        NewSubject::deserialize(Json::from(request.clone())).map_err(|error| format!("subject: {error}"))?;
    let has_words = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.trim().is_empty());
    if ![&new.tool, &new.command, &new.title].into_iter().any(has_words) && new.files.is_empty() {
        return Err("subject: it needs a `tool`, a `command`, `files` or a `title`".to_owned());
    }
    let more = arguments(&new, manner.changes, manner.schema)?;
    let action = Action::new(request, manner.grant).map_err(|why| format!("subject: {why}"))?;
    let mut question = with_action(asked, subject(new), action)?;
    question.fields.extend(more);
    Ok(question)
}

/// Makes a question a permission whose decision is bound to all of a request of another protocol, `context` included, and
/// counts for this long.
///
/// # Errors
/// What cannot be asked, and why.
pub fn permission_of(
    asked: Question,
    request: Map<String, Json>,
    new: NewSubject,
    context: Option<Map<String, Json>>,
    grant: Duration,
) -> Result<Question, String> {
    let content = context.and_then(|context| serde_json::to_string_pretty(&context).ok());
    let subject = Subject { content, ..subject(new) };
    with_action(asked, subject, Action::new(request, Some(grant))?)
}

/// Makes a call of an MCP server's tool a permission, which the bridge itself asks for.
///
/// # Errors
/// What cannot be asked, and why.
pub fn permission_of_tool(new: NewSubject, id: &str) -> Result<Question, String> {
    let options = options(Vec::new())?;
    let described =
        PermissionDescription { subject: subject(new), options, ..PermissionDescription::default() };
    described
        .question(Origin::McpServer, id)
        .ok_or_else(|| "it exceeds the limits of a permission".to_owned())
}

fn with_action(asked: Question, subject: Subject, action: Action) -> Result<Question, String> {
    let title = Some(asked.message).filter(|message| !message.trim().is_empty());
    let options = options(asked.fields)?;
    let described = PermissionDescription {
        title,
        subject,
        is_marked: asked.dangerous,
        options,
        ..PermissionDescription::default()
    };
    let unnamed = || "fields: two options have the same value".to_owned();
    let question = described.question(Origin::Program, &asked.id).ok_or_else(unnamed)?;
    Ok(Question {
        session: asked.session,
        agent: asked.agent,
        project: asked.project,
        title: asked.title,
        submit: asked.submit,
        timeout: asked.timeout,
        action: Some(Box::new(action)),
        ..question
    })
}

/// Returns the subject as agents' permissions have it.
fn subject(new: NewSubject) -> Subject {
    let by_command = new.command.as_ref().map_or("other", |_| "execute");
    let tool: Option<Cow<'_, str>> = match (&new.tool, &new.server) {
        (Some(tool), Some(server)) => Some(format!("{tool}, of the MCP server {server}").into()),
        (Some(tool), None) => Some(tool.into()),
        (None, _) => None,
    };
    let raw_input = new.arguments.as_ref().filter(|arguments| !arguments.is_empty());
    Subject {
        kind: Some(new.kind.unwrap_or_else(|| by_command.to_owned())),
        title: match (new.title, tool) {
            // The act in the program's own words must not hide which tool does it.
            (Some(title), Some(tool)) if title != tool => Some(format!("{title} ({tool})")),
            (Some(title), _) => Some(title),
            (None, tool) => tool.map(Cow::into_owned),
        },
        description: new.description,
        raw_input: raw_input.and_then(|arguments| serde_json::to_string(arguments).ok()),
        command: new.command,
        folder: new.folder,
        locations: new.files,
        ..Subject::default()
    }
}

/// Returns the options, which a program may choose itself.
fn options(fields: Vec<Field>) -> Result<Vec<FieldOption>, String> {
    let mut fields = fields.into_iter();
    let options = match (fields.next().map(|field| field.kind), fields.next()) {
        (None, _) => {
            let option = |value: &str, label: &str, role| FieldOption {
                value: value.to_owned(),
                label: label.to_owned(),
                role: Some(Box::new(role)),
                ..FieldOption::default()
            };
            vec![option("allow", "Allow", Role::AllowOnce), option("reject", "Reject", Role::RejectOnce)]
        }
        (Some(Kind::Choice { options, other: false, .. }), None) => options,
        _ => {
            return Err(
                "fields: a permission has one choice at most, without a text of the person's own".to_owned()
            );
        }
    };
    match options.iter().find(|option| option.role.is_none()) {
        Some(option) => Err(format!("fields: the option {:?} of a permission has no `role`", option.value)),
        None => Ok(options),
    }
}

/// Returns the field for changed arguments, where the program takes them.
fn arguments(new: &NewSubject, changes: bool, schema: Option<Json>) -> Result<Option<Field>, String> {
    match (changes, &new.arguments, schema) {
        (false, _, None) => Ok(None),
        (false, _, Some(_)) => Err("schema: a permission takes one only with `changes`".to_owned()),
        (true, None, _) => Err("changes: the subject has no `arguments` to change".to_owned()),
        (true, Some(_), _) if new.command.is_some() || !new.files.is_empty() => {
            Err("changes: a subject with a `command` or `files` would still show these when its arguments change; \
                 send the arguments alone"
                .to_owned())
        }
        (true, Some(arguments), schema) => {
            let schema = schema.unwrap_or_else(|| json!({ "type": "object" }));
            json::check(&schema, &arguments.clone().into(), false)
                .map_err(|why| format!("subject.arguments: the JSON {why}"))?;
            let label = "Arguments".to_owned();
            let help = "JSON. Leave it blank to allow the arguments as they are.".to_owned();
            let field = Field::new(ARGUMENTS.to_owned(), label, false, Kind::Json { schema });
            Ok(Some(Field { help: Some(help), ..field }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(schema: &Json) -> Question {
        with_schema(Question::new(Origin::Program, "q", Vec::new()), &schema.to_string()).expect("a schema")
    }

    #[test]
    fn a_secret_takes_its_default_out_of_the_schema() {
        let named = json!({ "type": "object", "properties": {
            "default": { "type": "string", "default": "hunter2", "examples": ["hunter2"], "writeOnly": true },
            "a": { "anyOf": [{ "type": "string", "format": "password", "default": "hunter2" }, { "type": "null" }] },
        } });
        let question = asked(&named);
        assert!(!serde_json::to_string(&question).expect("JSON").contains("hunter2"));
        assert!(question.fields.iter().any(|field| field.name == "default" && field.secret));
        let open = json!({ "type": "object", "properties": { "a": { "type": "string", "default": "x" } } });
        assert_eq!(asked(&open).schema.as_deref(), Some(&open));
    }

    #[test]
    fn a_tool_is_named_also_where_the_program_has_words_of_its_own() {
        let heading = |subject: Json, message: &str| {
            let asked =
                Question { message: message.to_owned(), ..Question::new(Origin::Program, "q", Vec::new()) };
            let request = subject.as_object().expect("an object").clone();
            let question = permission(asked, request, Manner::default()).expect("a permission");
            let title = question.subject.and_then(|subject| subject.title);
            (question.message, title)
        };
        let with = |title: &str| Some(title.to_owned());
        let deploy = json!({ "tool": "deploy", "server": "ops" });
        assert_eq!(heading(deploy.clone(), ""), ("deploy, of the MCP server ops".to_owned(), None));
        assert_eq!(heading(deploy, "Go?"), ("Go?".to_owned(), with("deploy, of the MCP server ops")));
        let titled = json!({ "tool": "deploy", "title": "Say hello" });
        assert_eq!(heading(titled, ""), ("Say hello (deploy)".to_owned(), None));
        assert_eq!(heading(json!({ "command": "ls" }), "").0, "ls");
    }
}
