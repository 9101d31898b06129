//! Checks the MCP servers in the settings of the hosts that start them: before which of them askbridge stands, whether
//! their programs exist, and which hosts drop what their servers ask.

use std::collections::BTreeSet;

use crate::{
    command::setup::{
        environment::Environment,
        mcp::{
            Listed,
            hosts::{Asked, Host, Place},
            look,
            servers::{Part, Start, own_at},
        },
    },
    present::doctor::{Level, Report},
};

const AREA: &str = "mcp";

/// Looks at the servers of every host.
pub(super) fn look_at_servers(around: &Environment, report: &mut Report) {
    let before = report.findings.len();
    for host in Host::ALL {
        let mut found = Found::default();
        for place in host.places(&around.folders) {
            in_file(around, host, &place, &mut found, report);
        }
        found.tell(host, report);
    }
    if report.findings.len() == before {
        report.add(AREA, Level::Note, "no MCP server is in the settings of a host", None);
    }
}

/// The servers of a host, by their names: a file may have one several times.
#[derive(Default)]
struct Found {
    wrapped: BTreeSet<String>,
    plain: BTreeSet<String>,
}

fn in_file(around: &Environment, host: Host, place: &Place, found: &mut Found, report: &mut Report) {
    let servers = match look(host, place) {
        Ok(servers) => servers,
        Err(error) => {
            let advice = format!("repair it, then run `askbridge setup mcp --host {}`", host.name());
            let text = format!("{}: {error}", host.title());
            return report.add(AREA, Level::Warning, text, Some(&advice));
        }
    };
    for server in servers.iter().filter(|server| !server.is_off) {
        match (server.part, missing(around, server)) {
            (Part::Proxy, Some(program)) => report.add(
                AREA,
                Level::Problem,
                format!("{}: {} starts {program}, which does not exist", host.title(), server.shown),
                Some(&format!(
                    "install it, or correct the command; `askbridge setup mcp {:?} --host {} --undo` takes askbridge out",
                    server.name,
                    host.name()
                )),
            ),
            (Part::Proxy, None) => drop(found.wrapped.insert(server.shown.clone())),
            (Part::None, _) if server.start != Start::Other => drop(found.plain.insert(server.shown.clone())),
            _ => {}
        }
    }
}

impl Found {
    fn tell(&self, host: Host, report: &mut Report) {
        let title = host.title();
        if !self.wrapped.is_empty() {
            report.connected = true;
            let text = format!("{title}: what these ask is in the inbox: {}", names(&self.wrapped));
            report.add(AREA, Level::Ok, text, None);
        }
        if !self.plain.is_empty() {
            let names = names(&self.plain);
            let text = match host.asked() {
                Asked::Dropped => format!("{title} drops what its MCP servers ask: {names}"),
                Asked::Sometimes => {
                    format!(
                        "{title} shows in its terminal alone, and declines elsewhere, what these ask: {names}"
                    )
                }
                Asked::Shown => format!("{title} alone shows what its MCP servers ask: {names}"),
            };
            let advice = format!("`askbridge setup mcp --host {}`", host.name());
            report.add(AREA, Level::Note, text, Some(&advice));
        }
    }
}

fn names(names: &BTreeSet<String>) -> String {
    names.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// Returns the program that a wrapped server needs and that does not exist: askbridge, or the server itself.
fn missing(around: &Environment, server: &Listed) -> Option<String> {
    let Start::Command(launch) = &server.start else { return None };
    let own = own_at(launch).and_then(|at| launch.args.get(at));
    // A host finds a program in its own way if it has variables, another folder or another `PATH` for it.
    let is_known = |program: &&String| {
        !server.has_path && !program.contains(['$', '{']) && !program.starts_with(['.', '~'])
    };
    [Some(&launch.command), own]
        .into_iter()
        .flatten()
        .filter(is_known)
        .find(|it| !around.has_program(it))
        .cloned()
}
