//! The users of a broker: their credentials, and the configuration of the server that has them. What each may do is left
//! to `subjects.rs`.

use std::fmt::Write as _;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

use super::{
    access::{Credentials, Role},
    place::UserName,
    subjects::{Subjects, subjects},
};
use crate::limits as limit;

/// A user that is to be added.
pub struct NewUser {
    name: UserName,
    role: Role,
    password: String,
}

impl NewUser {
    /// Makes a user with a new password.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn new(name: UserName, role: Role) -> Result<Self, String> {
        let mut random = [0; 32];
        getrandom::fill(&mut random).map_err(|error| error.to_string())?;
        Ok(NewUser { name, role, password: URL_SAFE_NO_PAD.encode(random) })
    }

    /// Reads the credentials of a user.
    ///
    /// # Errors
    /// As those of [`super::Access::read`].
    pub fn read(path: &std::path::Path) -> Result<Self, String> {
        let Credentials { user, role, password } = super::access::read(path)?;
        Ok(NewUser { name: user.parse()?, role, password })
    }

    /// Returns the name.
    pub fn name(&self) -> &UserName {
        &self.name
    }

    /// Returns what the user may do.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Returns the content of the user's file with credentials.
    pub fn credentials(&self) -> String {
        let (user, password) = (self.name.to_string(), self.password.clone());
        let credentials = Credentials { user, role: self.role, password };
        // It has texts alone, so that this cannot fail.
        serde_json::to_string_pretty(&credentials).unwrap_or_default() + "\n"
    }
}

/// Returns the users as a part of the configuration of a server: one account for all of them.
pub fn server_config(users: &[NewUser]) -> String {
    let mut text = format!(
        "# Written by `askbridge fleet credentials`, which writes it anew: include it in the configuration of the \
         server.\naccounts {{\n  askbridge {{\n    jetstream: enabled\n    limits {{ max_payload: {} }}\n    users = [\n",
        limit::MESSAGE
    );
    for user in users {
        let Subjects { publish, subscribe } = subjects(&user.name, user.role);
        let what = match user.role {
            Role::Bridge => "a bridge: shows its own questions, and nothing else",
            Role::Person => "a person: sees and answers the questions of all machines",
            Role::Operator => "the operator: creates the directory, and sees no question",
        };
        let list = |subjects: &[String]| {
            subjects.iter().map(|subject| format!("            {subject:?}\n")).collect::<String>()
        };
        // Writing to a text cannot fail.
        write!(
            text,
            "      # {what}.\n      {{\n        user: {:?}, password: {:?}\n        permissions {{\n          \
             publish = [\n{}          ]\n          subscribe = [\n{}          ]\n        }}\n      }}\n",
            user.name.as_str(),
            user.password,
            list(&publish),
            list(&subscribe),
        )
        .unwrap_or_default();
    }
    text + "    ]\n  }\n}\n"
}
