//! What to put into an editor whose settings are a program: Emacs and Neovim.

use super::{clients::SetupClient, plan::AvailableAgent};

/// Returns the lines that start this agent through askbridge, for Emacs or Neovim. `None` for other clients.
pub fn snippet(client: SetupClient, found: &AvailableAgent, askbridge: &str) -> Option<String> {
    match client {
        SetupClient::Emacs => Some(emacs(found, askbridge)),
        SetupClient::Neovim => Some(neovim(found, askbridge)),
        SetupClient::Zed | SetupClient::JetBrains | SetupClient::VsCode => None,
    }
}

fn emacs(found: &AvailableAgent, askbridge: &str) -> String {
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

fn neovim(found: &AvailableAgent, askbridge: &str) -> String {
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

    fn shown(client: SetupClient, key: &str) -> String {
        let agent = agents::named(key).unwrap();
        let launch = Launch::new("/b/\"x\"", &["--acp"]);
        snippet(client, &AvailableAgent { agent, launch, is_installed: true }, "/b/askbridge").unwrap()
    }

    #[test]
    fn a_snippet_has_the_whole_command() {
        let emacs = shown(SetupClient::Emacs, "claude");
        assert!(emacs.contains(r#"'("/b/askbridge" "run" "--" "/b/\"x\"" "--acp"))"#), "{emacs}");
        assert!(shown(SetupClient::Emacs, "grok").contains("agent-shell-command-prefix"));
        let neovim = shown(SetupClient::Neovim, "codex");
        assert!(neovim.contains(r#"{ "/b/askbridge", "run", "--", "/b/\"x\"", "--acp" }"#), "{neovim}");
    }
}
