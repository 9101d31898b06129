//! The options of a permission by what they do. Reading a permission from the wire is left to the dialects.

use super::{FieldOption, Question, Role};

/// Returns the options of a permission that have this role.
pub fn options_with_role(question: &Question, role: Role) -> impl Iterator<Item = &FieldOption> {
    let options = question.fields.iter().flat_map(|field| field.kind.options());
    options.filter(move |option| option.role.as_deref() == Some(&role))
}
