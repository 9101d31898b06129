//! Schemas that real generators wrote, once, with their versions: what a person sees of each.
//! `UPDATE=1 cargo test --test suites forms::` writes `fixtures/forms/generated/seen.txt`.

use std::{fmt::Write, fs, path::Path};

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{forms::reading::Form, support::golden};

const GENERATORS: [&str; 3] = ["pydantic", "schemars", "zod"];

#[derive(Deserialize)]
struct Generated {
    generator: String,
    forms: Vec<Named>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
    // The order of the fields is that of the generator.
    schema: Box<RawValue>,
}

#[test]
fn forms_of_generators_are_seen_as_fields() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/forms/generated");
    let mut seen = String::new();
    for generator in GENERATORS {
        let text = fs::read_to_string(folder.join(generator).with_extension("json")).expect("schemas");
        let generated: Generated = serde_json::from_str(&text).expect("schemas");
        writeln!(seen, "# {}", generated.generator).expect("a text");
        for Named { name, schema } in &generated.forms {
            let form =
                Form::read(&format!(r#"{{"sessionId":"s","message":"M","requestedSchema":{schema}}}"#));
            writeln!(seen, "\n{name}").expect("a text");
            for line in form.seen() {
                writeln!(seen, "  {line}").expect("a text");
            }
        }
        seen.push('\n');
    }
    golden::is(&folder.join("seen.txt"), &seen);
}
