// Everything that the board hears, and everything that it wants done.

import type { Outcome, QuestionRecord, Settlement, Value } from "@askbridge/client";

import type { Form } from "./card.js";

/** Something that a person did in the chat. `raw` is the adapter's own. */
export interface Act {
  /** The ID of the tap or the message: one that comes twice counts once. */
  id: string;
  chat: string;
  user: string;
  /** The name that the chat shows of the person. Nothing is decided by it. */
  name?: string;
  raw?: unknown;
}

/** A tap on a button of a message. */
export interface Tap extends Act {
  data: string;
  ref: string;
}

/** A text in reply to a message. */
export interface Reply extends Act {
  text: string;
  to: string;
}

/** A form of the chat that was sent. */
export interface Filled extends Act {
  data: string;
  values: Record<string, string | string[]>;
}

/** What the board hears. */
export type BoardEvent =
  | { type: "opened"; record: QuestionRecord }
  | { type: "changed"; record: QuestionRecord }
  | { type: "ended"; record: QuestionRecord; outcome: Outcome; settlement?: Settlement }
  /** These are all that are open: whatever else is known ended while nobody listened. */
  | { type: "snapshot"; open: string[] }
  /** Nobody remembers a question that was looked up. */
  | { type: "forgotten"; id: string }
  | { type: "tap"; tap: Tap }
  | { type: "reply"; reply: Reply }
  | { type: "filled"; filled: Filled }
  /** A message is being posted, and its ID is not known yet; and this is over, whatever came of it. */
  | { type: "posting"; slot: string }
  | { type: "posted"; slot: string }
  /** A message shows this card now. */
  | { type: "shown"; slot: string; ref: string; digest: string }
  /** A message is not there any more. */
  | { type: "lost"; slot: string }
  /** The chat takes no message that long, whatever the adapter thought. */
  | { type: "refused"; slot: string }
  /** What came of a decision. */
  | { type: "decided"; id: string; act: Act; refusal?: Refusal }
  | { type: "time" };

/** Why a decision did not count. */
export interface Refusal {
  /** `late`: it was decided before; `changed`: it says something else by now; `wrong`: the answer does not fit; `failed`. */
  why: "late" | "changed" | "wrong" | "failed";
  /** What is wrong, as a sentence. */
  text: string;
}

/** What a person decided. */
export type Decision = { kind: "answer"; values: Record<string, Value>; seen: number } | { kind: "reject"; reason?: string };

/** What the board wants done. */
export type Effect =
  /** What this message says has changed: `Board.card` has it. */
  | { do: "show"; slot: string }
  /** Tells a person something, in response to what the person did. */
  | { do: "tell"; act: Act; text: string }
  /** Opens a form of the chat. */
  | { do: "form"; act: Act; form: Form }
  /** Takes the buttons from a message that the board does not know. */
  | { do: "clear"; chat: string; ref: string }
  | { do: "decide"; id: string; act: Act; by: string; decision: Decision }
  /** Looks up what became of a question. */
  | { do: "recall"; id: string };
