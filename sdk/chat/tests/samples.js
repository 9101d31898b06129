// Questions as the inbox sends them, by name.

const choice = (name, label, options, more = {}) => ({ kind: "choice", name, label, required: true, other: false, options, ...more });
const option = (value, label = value, more = {}) => ({ value, label, ...more });
const base = { agent: "Claude", project: "/src/shop", sessionId: "s-1", message: "", purpose: "question", origin: "claude", dangerous: false, risk: "plain", blocking: true };
const roles = [option("allow-once", "Allow once", { role: "allow_once" }), option("allow-always", "Allow always", { role: "allow_always" }), option("reject-once", "Reject", { role: "reject_once" })];
const permission = (message, subject, more = {}) => ({ ...base, message, purpose: "permission", subject, fields: [choice("q0", message, roles)], ...more });

export const SAMPLES = {
  choice: { ...base, fields: [choice("q0", "Which **database**?", [option("pg", "Postgres"), option("lite", "SQLite")])] },
  other: { ...base, fields: [choice("q0", "Which database?", [option("pg", "Postgres"), option("lite", "SQLite", { description: "One file" })], { other: true })] },
  choices: { ...base, fields: [{ kind: "choices", name: "q0", label: "Which features?", required: true, options: [option("auth", "Login"), option("find", "Search"), option("pay", "Billing")] }] },
  text: { ...base, message: "What is the *name* of the release?", fields: [{ kind: "text", name: "q0", label: "Name", required: true }] },
  number: { ...base, fields: [{ kind: "number", name: "q0", label: "Which port?", required: true, integer: true }] },
  confirm: { ...base, fields: [{ kind: "confirm", name: "q0", label: "Deploy now?", yes: "Deploy", no: "Wait", required: true }] },
  form: {
    ...base,
    message: "Before the release",
    fields: [
      choice("where", "Where?", [option("eu", "Europe"), option("us", "America")]),
      { kind: "choices", name: "what", label: "Which parts?", required: false, options: [option("api", "API"), option("web", "Web")] },
      { kind: "text", name: "note", label: "Anything else?", required: false, help: "One sentence will do." },
    ],
  },
  risky: { ...base, dangerous: true, risk: "dangerous", riskReason: "it drops data", fields: [choice("q0", "Drop which table?", [option("a", "users"), option("b", "orders")])] },
  secret: { ...base, fields: [{ kind: "text", name: "q0", label: "The password?", required: true, secret: true }] },
  plain: permission("Read src/main.rs", { kind: "read", locations: ["/src/shop/src/main.rs"] }),
  acts: permission("make test", { kind: "execute", command: "make test", folder: "/src/shop" }, { dangerous: true, risk: "acts", riskReason: "it runs a command" }),
  dangerous: permission("rm -rf build", { kind: "execute", command: "rm -rf build", folder: "/src/shop", content: "Remove the build folder" }, { dangerous: true, risk: "dangerous", riskReason: "`rm` removes or moves files" }),
  edit: permission("Edit src/main.rs", { kind: "edit", locations: ["/src/shop/src/main.rs:2"], diffs: [{ path: "/src/shop/src/main.rs", line: 1, old: "fn main() {\n    serve(80);\n}\n", new: "fn main() {\n    serve(8080);\n}\n" }] }),
  long: permission("deploy", { kind: "execute", command: `deploy ${"--flag ".repeat(1000)}`, folder: "/src/shop" }, { dangerous: true, risk: "dangerous", riskReason: "it deploys" }),
  bigEdit: permission("Edit src/big.rs", { kind: "edit", diffs: [{ path: "/src/shop/src/big.rs", line: 1, old: "a\n".repeat(900), new: "b\n".repeat(900) }] }),
  folded: permission("Edit src/menu.rs", { kind: "edit", diffs: [{ path: "/src/shop/src/menu.rs", line: 1, old: "a\n".repeat(8), new: "b\n".repeat(8) }] }),
  cut: permission("make x", { kind: "execute", command: "make x\n… 120 more bytes are not shown" }),
  image: { ...permission("Publish this screenshot", { kind: "other" }), images: [{ type: "image/png", bytes: 70, width: 1, height: 1, digest: "sha256:00" }] },
  images: { ...permission("Replace the logo", { kind: "other" }), images: [{ type: "image/png", bytes: 70, width: 1, height: 1, digest: "sha256:00", description: "before.png" }, { type: "image/webp", bytes: 70, width: 2, height: 2, digest: "sha256:02", description: "after\u202e.webp" }] },
  pictured: { ...base, fields: [choice("q0", "Which colour?", [option("red", "Red"), option("blue", "Blue")])], images: [{ type: "image/jpeg", bytes: 70, width: 640, height: 480, digest: "sha256:05" }] },
  recording: { ...permission("Publish this recording", { kind: "other" }), unshown: ["1 audio recording is not shown"] },
  grants: permission("Run tests", { kind: "execute", command: "ls", grants: ["network access"] }, { fields: [choice("q0", "Run tests", [option("a", "Allow once", { role: "allow_once" }), option("b", "Allow `ls` always", { role: "allow_always", grants: ["every `ls`"] }), option("r", "Reject", { role: "reject_once" })])] }),
  noReject: permission("Look", { kind: "read" }, { fields: [choice("q0", "Look", [option("a", "Allow once", { role: "allow_once" })])] }),
  hostile: {
    ...base,
    agent: "Eve\u202e\nnext line",
    message: "Hi @everyone <!channel> <@U1> *bold* _it_ `code` [bank](http://evil.example) ![pic](http://evil.example/p.png) <b>raw</b>\n```\n``` out of it?\n````\n\n> quote\n\n1. one\n   - two\n\n|a|b|\n|-|-|\n|1|2|",
    fields: [choice("q0", "@room?", [option("a", "\u202eABC"), option("b", "ok\u0000")])],
  },
};

/** Returns the record of a sample. */
export function record(name, id, more = {}) {
  const question = SAMPLES[name];
  if (!question) throw new Error(`no sample ${name}`);
  const { openedAt = "2026-01-01T09:00:00Z", question: changed, ...rest } = more;
  return { id, bridge: "k3f9q2", openedAt, state: "open", question: { ...question, questionId: id, ...changed }, ...rest };
}
