// Tells the person of new questions: a screen reader always, and while the page has no focus by a notification and a sound.

import { keep, recall } from "./drafts.js";
import { title } from "./rows.js";

/** New questions are collected for so long, in which a tab with the focus says that it shows them. */
const PAUSE = 300;
/** More than so many at once make one notification. */
const MOST = 3;
/** A screen reader, and who is elsewhere, hears of new questions not more often than this. */
const CHATTER = 4_000;

/** The alerts of one inbox. At first notification and sound are off. */
export class Alerts {
  settings = recall("alerts") ?? {};
  #inbox;
  #new = new Map();
  #shown = new Map();
  #timer;
  #last = 0;
  #tabs = new BroadcastChannel("askbridge");

  /**
   * @param {object} inbox with functions: `from` says of a record which agent asks, and in which project, `show` shows a
   * question by its id, and `say` tells a screen reader
   */
  constructor(inbox) {
    this.#inbox = inbox;
    this.#tabs.onmessage = ({ data }) => data.forEach(id => this.#new.delete(id));
  }

  /** Turns `notify` or `sound` on or off. Returns why it stays off, or "". */
  async set(name, on) {
    const refusal = on && name == "notify" ? await allow() : "";
    if (on && name == "sound") beep();
    this.settings[name] = on && !refusal;
    keep("alerts", this.settings);
    return refusal;
  }

  /** Tells of new questions. */
  arrived(records) {
    for (const record of records) this.#new.set(record.id, record);
    if (document.hasFocus()) this.#tabs.postMessage(records.map(({ id }) => id));
    this.#timer ??= setTimeout(() => this.#tell(), Math.max(PAUSE, this.#last + CHATTER - Date.now()));
  }

  /** Takes back what was told of a question that waits no more. */
  ended(id) {
    this.#shown.get(id)?.close();
    this.#shown.delete(id);
    this.#new.delete(id);
  }

  #tell() {
    const records = [...this.#new.values()];
    this.#new.clear();
    this.#timer = null;
    if (!records.length) return;
    this.#last = Date.now();
    const count = `${records.length} new question${records.length == 1 ? "" : "s"}`;
    if (!document.hasFocus()) this.#alert(records, count);
    const [from, ...others] = new Set(records.map(this.#inbox.from));
    this.#inbox.say(others.length ? count : `${count} from ${from}`);
  }

  #alert(records, count) {
    if (this.settings.sound) beep();
    if (!this.settings.notify) return;
    if (records.length > MOST) this.#notify(records[0].id, count);
    else for (const record of records) this.#notify(record.id, `${this.#inbox.from(record)} asks`, title(record));
  }

  #notify(id, heading, body = "") {
    try {
      // Several tabs with one tag show one.
      const notification = new Notification(heading, { body, tag: id });
      notification.onclick = () => {
        window.focus();
        this.#inbox.show(id);
      };
      this.#shown.set(id, notification);
    } catch {
      // Browsers of phones show notifications of service workers only.
    }
  }
}

async function allow() {
  if (!window.Notification) return "Notifications need HTTPS, or a page of this machine.";
  if ((await Notification.requestPermission()) == "granted") return "";
  return "Allow notifications in the browser's settings for this page.";
}

let audio;

function beep() {
  audio ??= new AudioContext();
  audio.resume();
  const end = audio.currentTime + 0.3;
  const volume = new GainNode(audio, { gain: 0.1 });
  const tone = new OscillatorNode(audio, { frequency: 660 });
  tone.connect(volume).connect(audio.destination);
  volume.gain.exponentialRampToValueAtTime(0.001, end);
  tone.start();
  tone.stop(end);
}
