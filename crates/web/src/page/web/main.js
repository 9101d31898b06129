// The page `/`: takes the token out of the address, signs in, keeps the settings, and shows in the tab how many questions
// wait.

const find = selector => document.querySelector(selector);
const inbox = find("askbridge-inbox");
const settings = find("dialog");
const icon = find("link[rel=icon]");

/** Returns what the address says after `#`, and leaves no token there. */
function take() {
  const said = new URLSearchParams(location.hash.slice(1));
  const token = said.get("token");
  said.delete("token");
  if (token) history.replaceState(null, "", said.size ? `#${said}` : location.pathname);
  return { token, question: said.get("question"), search: said.get("search") ?? "" };
}

async function signIn(token) {
  const refusal = await inbox.connection.signIn(token).catch(({ message }) => message[0].toUpperCase() + message.slice(1));
  find("#refusal").textContent = refusal?.replaceAll("`", "") ?? "";
}

/** What the address says: the question that is shown, and the search. */
const place = {};

function follow({ token, question, search }) {
  if (token) signIn(token);
  place.search = inbox.search = search;
  if (question || !token) inbox.show(question);
}

/** Keeps the place in the address, so that a reload and a bookmark lead there. */
function keepPlace(change, isDeeper) {
  Object.assign(place, change);
  const said = new URLSearchParams(Object.entries(place).filter(([, value]) => value));
  history[isDeeper ? "pushState" : "replaceState"](null, "", said.size ? `#${said}` : location.pathname);
}

// Before anything else is loaded, so that the token is in the address as short as can be.
const first = take();
// Once the shell is painted, all modules are asked for at once. A hidden page paints nothing.
if (!document.hidden) await new Promise(painted => requestAnimationFrame(() => setTimeout(painted)));
const { content } = find("template");
const styles = [...content.querySelectorAll("[rel=stylesheet]")];
const loaded = styles.map(link => new Promise(done => (link.onload = link.onerror = done)));
document.head.append(content);
await Promise.all(loaded);
await import("./inbox.js");

find("form").onsubmit = async event => {
  event.preventDefault();
  await signIn(find("#token").value.trim());
  find("#token").value = "";
};

for (const box of settings.querySelectorAll("input")) {
  const show = () => (box.checked = inbox.alerts.settings[box.name]);
  box.onchange = async () => {
    find("#refused").textContent = await inbox.alerts.set(box.name, box.checked);
    show();
  };
  show();
}
const hear = (name, run) => inbox.addEventListener(`askbridge-${name}`, run);
const help = ({ detail }) => {
  settings.classList.toggle("by-key", !!detail?.isByKey);
  settings.showModal();
};
find("#settings").onclick = help;
hear("help", help);
find("#sign-out").onclick = () => inbox.connection.signOut();

hear("count", ({ detail: { waiting } }) => {
  document.title = waiting ? `(${waiting}) askbridge` : "askbridge";
  icon.href = new URL(waiting ? "waiting.svg" : "icon.svg", import.meta.url);
  // None is no badge.
  navigator.setAppBadge?.(waiting).catch(() => {});
});

// On a phone, Back leads from a question to the list.
hear("select", ({ detail: { id } }) => {
  const isDeeper = id && !place.question && matchMedia("(max-width: 899px)").matches;
  keepPlace({ question: id }, isDeeper);
});
hear("search", ({ detail }) => keepPlace(detail));
addEventListener("popstate", () => follow(take()));
follow(first);
