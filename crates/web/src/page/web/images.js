// The images of a question: small in place, and large in a dialog. Their data is asked for, and decoded by the browser, which
// draws the first frame of each on a canvas: the page loads no image from any address.

import { button, el } from "./dom.js";
import { line } from "./words.js";

const NAMES = { "image/png": "PNG", "image/jpeg": "JPEG", "image/webp": "WebP", "image/gif": "GIF" };
/** The most pixels of a side, small and large: what is larger is scaled while it is decoded. */
const SMALL = [720, 480];
const LARGE = [4096, 4096];

const size = bytes => (bytes < 1000 ? `${bytes} B` : bytes < 1e6 ? `${Math.round(bytes / 1000)} KB` : `${(bytes / 1e6).toFixed(1)} MB`);

/** Returns a canvas for an image that fits into this many pixels. */
function canvas({ width, height }, [most, tall]) {
  const scale = Math.min(1, most / width, tall / height);
  return el("canvas", { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) });
}

async function draw(canvas, blob) {
  // A photo may say that it lies on its side: its height follows from what it is then.
  const bitmap = await createImageBitmap(blob, { resizeWidth: canvas.width, resizeQuality: "high" });
  canvas.getContext("bitmaprenderer").transferFromImageBitmap(bitmap);
}

class Picture {
  #entry;
  #name;
  #canvas;
  #problem = el("p.error", { role: "status" });
  #data;
  #isAsked = false;
  element;

  /** @param {Object} entry an image of a record @param {number} number from 1 @param {function} ask called for its data */
  constructor(entry, number, ask) {
    this.#entry = entry;
    this.ask = () => this.#isAsked || ((this.#isAsked = true), ask(number));
    const { type, bytes, width, height, description } = entry;
    this.#name = [`Image ${number}`, description && line(description)].filter(Boolean).join(": ");
    const facts = `${NAMES[type] ?? line(type)}, ${width}×${height}, ${size(bytes)}`;
    this.#canvas = canvas(entry, SMALL);
    const open = button("image", () => this.#enlarge(), this.#canvas);
    open.ariaLabel = `${this.#name}. ${facts}. Show it large`;
    this.element = el("figure.shot", open, el("figcaption", el("bdi", this.#name), " ", el("span.hint", facts), this.#problem));
  }

  /** Shows its data, or why it is not there. @param {Uint8Array|{problem: string}} data */
  async show(data) {
    this.#isAsked = !data.problem;
    this.#problem.textContent = data.problem ? line(data.problem) : "";
    if (data.problem || !Object.hasOwn(NAMES, this.#entry.type)) return;
    this.#data = new Blob([data], { type: this.#entry.type });
    await this.#drawn(this.#canvas);
  }

  #drawn(canvas) {
    return draw(canvas, this.#data).catch(() => (this.#problem.textContent = "This browser cannot decode it: it is damaged."));
  }

  /** What is pressed in the dialog is no command of the page. */
  #enlarge() {
    if (!this.#data) return this.ask();
    const large = canvas(this.#entry, LARGE);
    large.role = "img";
    large.ariaLabel = this.#name;
    const close = button("", () => dialog.close(), "Close");
    const dialog = el("dialog.large", { ariaLabel: this.#name, onclose: () => dialog.remove(), onkeydown: event => event.stopPropagation() }, el("div", { tabIndex: 0, role: "region", ariaLabel: "The image" }, large), close);
    large.onclick = () => dialog.close();
    this.element.after(dialog);
    dialog.showModal();
    this.#drawn(large);
  }
}

/** The images of one question. */
export class Images {
  #pictures;
  /** The part of a card that shows them; null where there are none. */
  node = null;

  /** @param {Object[]} images of a record @param {function} ask called with the number of one whose data is needed */
  constructor(images, ask) {
    this.#pictures = images.map((entry, place) => new Picture(entry, place + 1, ask));
    if (images.length) this.node = el("div.shots", this.#pictures.map(({ element }) => element));
  }

  /** Asks for what is not there. */
  ask() {
    for (const picture of this.#pictures) picture.ask();
  }

  /** @param {number} number from 1 @param {Uint8Array|{problem: string}} data */
  show(number, data) {
    return this.#pictures[number - 1]?.show(data);
  }
}
