//! What to put into an editor whose settings are a program: Emacs and Neovim.

use super::{clients::Client, plan::Found};

/// Returns the lines that start this agent through askbridge, for Emacs or Neovim. `None` for other clients.
pub fn snippet(client: Client, found: &Found, askbridge: &str) -> Option<String> {
    match client {
        Client::Emacs => Some(emacs(found, askbridge)),
        Client::Neovim => Some(neovim(found, askbridge)),
        Client::Zed | Client::JetBrains | Client::VsCode => None,
    }
}

fn emacs(found: &Found, askbridge: &str) -> String {
    let Some(variable) = found.agent.emacs else {
        // It is put before the command of every agent.
        return format!(
            ";; agent-shell, in init.el: for all agents\n(setq agent-shell-command-prefix '({}))\n",
            list(&words(askbridge, &["run", "--"]), " ")
        );
    };
    let launch = found.launch.wrapped(askbridge);
    let command: Vec<_> = std::iter::once(launch.command).chain(launch.args).collect();
    format!(";; agent-shell, in init.el\n(setq {variable}\n      '({}))\n", list(&command, " "))
}

fn neovim(found: &Found, askbridge: &str) -> String {
    let launch = found.launch.wrapped(askbridge);
    let command: Vec<_> = std::iter::once(launch.command).chain(launch.args).collect();
    let adapter = found.agent.neovim.unwrap_or(found.agent.key);
    let lines = [
        "-- CodeCompanion, in init.lua",
        "require(\"codecompanion\").setup({ adapters = { acp = {",
        &format!("  {adapter} = function()"),
        &format!("    return require(\"codecompanion.adapters\").extend(\"{adapter}\", {{"),
        &format!("      commands = {{ default = {{ {} }} }},", list(&command, ", ")),
        "    })",
        "  end,",
        "} } })",
        "",
    ];
    lines.join("\n")
}

fn words(first: &str, rest: &[&str]) -> Vec<String> {
    std::iter::once(first).chain(rest.iter().copied()).map(str::to_owned).collect()
}

/// Returns the words as strings of Lisp or Lua, in which a backslash and a quote are written alike.
fn list(words: &[String], between: &str) -> String {
    let quoted = words.iter().map(|word| format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"")));
    quoted.collect::<Vec<_>>().join(between)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::{agents, launch::Launch};

    fn shown(client: Client, key: &str) -> String {
        let agent = agents::named(key).unwrap();
        let launch = Launch::new("/b/\"x\"", &["--acp"]);
        snippet(client, &Found { agent, launch, is_installed: true }, "/b/askbridge").unwrap()
    }

    #[test]
    fn a_snippet_has_the_whole_command() {
        let emacs = shown(Client::Emacs, "claude");
        assert!(emacs.contains(r#"'("/b/askbridge" "run" "--" "/b/\"x\"" "--acp"))"#), "{emacs}");
        assert!(shown(Client::Emacs, "grok").contains("agent-shell-command-prefix"));
        let neovim = shown(Client::Neovim, "codex");
        assert!(neovim.contains(r#"{ "/b/askbridge", "run", "--", "/b/\"x\"", "--acp" }"#), "{neovim}");
    }
}
