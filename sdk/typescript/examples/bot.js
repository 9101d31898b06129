// A bot: puts each question and permission into a chat, and answers by the buttons that a person presses there.
// `chat` has `post(text, buttons)`, which returns a message with `edit(text)`, and calls a button's `press(user)`.

/** Starts the bot. Returns what stops it. */
export function startBot(inbox, chat) {
  const messages = new Map();
  const stop = new AbortController();
  const { signal } = stop;

  const post = (question, text, buttons) => messages.set(question.id, chat.post(text, buttons));
  const button = (label, act) => ({
    label,
    // Whoever presses too late is told what counts.
    press: async user => act(user).catch(error => chat.post(`${user}: ${error.message}`, [])),
  });

  inbox.onQuestion(question => {
    const [field, ...more] = question.fields;
    const where = question.machine ? ` (on ${question.machine})` : "";
    if (more.length || !["choice", "boolean"].includes(field.kind)) {
      return post(question, `${question.text}${where}: answer it at a computer`, []);
    }
    const options = field.kind === "boolean" ? [{ label: "Yes", value: true }, { label: "No", value: false }] : field.options;
    const buttons = options.map(({ label, value }) => button(label, () => question.reply({ [field.name]: value })));
    post(question, question.text + where, [...buttons, button("Not now", user => question.reject(`${user} has no time`))]);
  }, { signal });

  inbox.onPermission(permission => {
    const what = permission.subject?.command ?? permission.text;
    const reject = button("Reject", user => permission.reject(`${user} rejected it`));
    const allow = button("Allow", () => permission.allow());
    const ask = button("Allow …", async () => chat.post(`Allow it? ${what}`, [allow, reject]));
    // Only what is plain is one press away. What acts takes two, and what may do harm is allowed at a computer.
    const isPlain = permission.risk === "plain" && !permission.needsConfirmation;
    post(permission, what, permission.needsConfirmation ? [reject] : [isPlain ? allow : ask, reject]);
  }, { signal });

  inbox.onResolved(({ question, outcome }) => {
    const said = outcome.status === "answered" ? Object.values(outcome.values).join(", ") : outcome.reason ?? outcome.status;
    messages.get(question.id)?.edit(`${question.text}: ${said}`);
    messages.delete(question.id);
  }, { signal });

  return () => stop.abort();
}
