// The images of a question: what each message of them shows, and whether they are in a chat. Nothing is allowed there before
// all of them are.

import type { Image } from "@askbridge/client";

import { type Block, type Card, cut, digestOf, printableLine, text } from "./card.js";
import { type Entry, slotOf } from "./entry.js";

/** The most characters of what its asker says of an image. */
const DESCRIPTION = 300;
const NAMES: Record<string, string> = { "image/png": "PNG", "image/jpeg": "JPEG", "image/webp": "WebP", "image/gif": "GIF" };

/** How many images of a question are on their way to a chat, and how many it did not take. */
export interface Absent {
  coming: number;
  missing: number;
}

export const NONE_ABSENT: Absent = { coming: 0, missing: 0 };

/** Says what an image is: `Image 1: PNG, 640×480, what its asker says`. */
export function captionOf({ type, width, height, description }: Image, number: number): string {
  const said = description ? `, ${cut(printableLine(description), DESCRIPTION)}` : "";
  return `Image ${number}: ${NAMES[type] ?? printableLine(type)}, ${width}×${height}${said}`;
}

/** Returns the message of each image, by its slot in a chat. Another image has another slot, and one that stays has the same. */
export function imageCards({ key, record }: Entry, chat: string): Map<string, Card> {
  const cards = new Map<string, Card>();
  for (const [place, image] of (record?.question.images ?? []).entries()) {
    const number = place + 1;
    const { type, width, height, digest } = image;
    const name = `image-${number}.${NAMES[type]?.toLowerCase() ?? "bin"}`;
    const card: Card = { blocks: [text(captionOf(image, number))], rows: [], image: { id: record!.id, number, digest, name, type, width, height } };
    cards.set(slotOf(key, "image", chat, digestOf(card)), card);
  }
  return cards;
}

/** What stands in the place of an image that the question has no more: an adapter takes it away. */
export const outdatedCard: Card = { blocks: [text("This image is no part of the question any more.")], rows: [] };

/** Returns how many images a chat lacks. */
export function absentIn(entry: Entry, chat: string): Absent {
  const lacking = [...imageCards(entry, chat).keys()].filter(slot => !(slot in entry.slots));
  const missing = lacking.filter(slot => entry.unsent?.has(slot)).length;
  return { missing, coming: lacking.length - missing };
}

/** Says which images a chat lacks. */
export function absence({ coming, missing }: Absent): Block[] {
  const count = (number: number, one: string, more: string) => (number === 1 ? `1 image is ${one}.` : `${number} images are ${more}.`);
  return [
    ...(coming ? [text({ text: count(coming, "on its way", "on their way"), italic: true })] : []),
    ...(missing ? [text({ text: count(missing, "not shown here", "not shown here"), italic: true })] : []),
  ];
}
