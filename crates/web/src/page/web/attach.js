// The images that a person adds to an answer: chosen, pasted or dropped. They are drawn anew and scaled down, so that what is
// sent has the pixels alone, and fits into one request.

import { button, el, fill } from "./dom.js";
import { cut, line } from "./words.js";

export const NONE = "This agent takes no image in an answer.";
export const READING = "An image is still being read. Try again in a moment.";
/** How many an answer has, and how many bytes all of them have at most. */
const MOST = 4;
const BYTES = 640 * 1024;
/** The longest sides, with the qualities of a JPEG, that are tried until one is small enough. A PNG comes first: what is drawn stays sharp in it. */
const STEPS = [[1568], [1568, 0.85], [1568, 0.7], [1120, 0.75], [800, 0.7], [320, 0.6]];

/** Returns the files that a paste or a drop brings. A text that comes with its picture is meant as a text. @param {DataTransfer} data */
export const brought = data => (data?.getData("text/plain") ? [] : [...(data?.files ?? [])]);

/** Draws an image, on white if what it is written as has nothing transparent. */
function drawn(bitmap, side, isOpaque) {
  const scale = Math.min(1, side / bitmap.width, side / bitmap.height);
  const [width, height] = [bitmap.width, bitmap.height].map(it => Math.max(1, Math.round(it * scale)));
  const canvas = el("canvas", { width, height });
  const context = canvas.getContext("2d");
  context.imageSmoothingQuality = "high";
  context.fillStyle = "#fff";
  if (isOpaque) context.fillRect(0, 0, width, height);
  context.drawImage(bitmap, 0, 0, width, height);
  return canvas;
}

/** Returns what is sent of an image, as Base64. */
async function encoded(bitmap, most) {
  let blob;
  for (const [side, quality] of STEPS) {
    const canvas = drawn(bitmap, side, !!quality);
    blob = await new Promise(resolve => canvas.toBlob(resolve, quality ? "image/jpeg" : "image/png", quality));
    if (blob.size <= most) break;
  }
  let bytes = "";
  for (const byte of new Uint8Array(await blob.arrayBuffer())) bytes += String.fromCharCode(byte);
  return btoa(bytes);
}

/** The part of a card that takes images. */
export class Attachments {
  #added = [];
  #list = el("ul.shots");
  #status = el("p.hint", { role: "status" });
  #problem = el("p.error", { role: "alert" });
  #choose;
  #turn = Promise.resolve();
  #changed;
  /** How many pastes, drops and choices are still being read. */
  reading = 0;
  node;

  /** @param {function} changed called after each change */
  constructor(changed) {
    this.#changed = changed;
    const onchange = () => (this.add([...input.files]), (input.value = ""));
    const input = el("input", { type: "file", hidden: true, accept: "image/png,image/jpeg,image/webp,image/gif", multiple: true, onchange });
    this.#choose = button("", () => input.click(), "Choose images");
    const hint = el("p.hint", { id: "attach-hint" }, `Paste or drop up to ${MOST}, or choose them. Only their pixels are sent, scaled down: not where a photo was taken.`);
    this.#choose.setAttribute("aria-describedby", "attach-hint");
    this.node = el("div.field.attach", { role: "group", "aria-labelledby": "attach" }, el("p.label", { id: "attach" }, "Images (optional)"), hint, this.#list, this.#choose, input, this.#status, this.#problem);
  }

  /** What is sent. */
  get images() {
    return this.#added.map(({ data }) => ({ data }));
  }

  /** @param {File[]} files */
  async add(files) {
    this.reading++;
    this.#turn = this.#turn.then(() => this.#take(files));
    await this.#turn;
    this.reading--;
  }

  async #take(files) {
    const [added, wrong] = [[...this.#added], []];
    for (const file of files) {
      if (added.length == MOST) {
        wrong.push(`An answer has at most ${MOST} images.`);
        break;
      }
      const bitmap = await createImageBitmap(file).catch(() => null);
      if (bitmap) added.push({ bitmap, name: cut(line(file.name), 60), canvas: drawn(bitmap, 720) });
      else wrong.push(`“${cut(line(file.name), 60)}” was not added: this browser cannot read it as an image.`);
    }
    // One alone may have more bytes than each of several.
    const isMore = added.length > this.#added.length;
    if (isMore) for (const it of added) it.data = await encoded(it.bitmap, BYTES / added.length);
    this.#problem.textContent = wrong.join(" ");
    if (isMore) this.#show(added);
  }

  #show(added) {
    this.#added = added;
    const shown = added.map((it, place) => {
      const remove = () => {
        this.#show(this.#added.filter(other => other != it));
        this.#choose.focus();
      };
      const take = button("link", remove, "Remove");
      take.ariaLabel = `Remove image ${place + 1}, ${it.name}`;
      it.canvas.role = "img";
      it.canvas.ariaLabel = `Image ${place + 1}, ${it.name}`;
      return el("li.shot", it.canvas, take);
    });
    fill(this.#list, shown);
    const { length } = added;
    this.#status.textContent = length ? `${length == 1 ? "1 image goes" : `${length} images go`} with your answer.` : "No image is added.";
    this.#changed();
  }
}
