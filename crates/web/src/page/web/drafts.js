// What this browser keeps between visits: settings, and what was typed and not sent. No draft has a secret in it.

const MOST = 100;

/** Returns what was kept under a name, or null. @param {string} name */
export function recall(name) {
  try {
    return JSON.parse(localStorage[`askbridge-${name}`]);
  } catch {
    return null;
  }
}

/** Keeps a value. @param {string} name @param {*} value */
export function keep(name, value) {
  try {
    localStorage[`askbridge-${name}`] = JSON.stringify(value);
  } catch {
    // The storage is full or forbidden: the page works without it.
  }
}

/** Returns the drafts by the ids of their questions, oldest first. Other tabs write them, too. */
export const drafts = () => new Map(recall("drafts"));

/** Keeps a draft; null forgets it. */
export function keepDraft(id, draft) {
  const all = drafts();
  if (all.delete(id) || draft) keep("drafts", [...all, ...(draft ? [[id, draft]] : [])].slice(-MOST));
}
