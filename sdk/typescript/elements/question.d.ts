import type { AddedImage, Comment, QuestionContext, QuestionRecord, Value } from "../dist/index.js";

/** What a person entered, without secrets. It can be stored as JSON. */
export interface Draft {
  values: Record<string, Value>;
  notes: Record<string, string>;
  others: Record<string, string>;
  reason: string;
  comments: (Comment & { at: string })[];
}

/** Why an answer was refused. */
export interface Failure {
  message: string;
  fields?: { field: string; message: string }[] | undefined;
}

/** What is decided about one of several permissions: an answer for the edition that was shown, or a rejection. */
export interface Decision {
  id: string;
  answer?: { values: Record<string, Value>; notes: Record<string, string> };
  seen?: number;
}

/** `<askbridge-question>`: shows one question or permission. */
export interface AskbridgeQuestion extends HTMLElement {
  /** The question, as `record` of a `Question` has it. A changed record of the same ID keeps what was entered. */
  record: QuestionRecord | null;
  /** What was entered. */
  draft: Partial<Draft>;
  /** Whether the person entered something. */
  readonly touched: boolean;
  /** Whether what was decided is on its way: the buttons do nothing. */
  busy: boolean;
  /** Whether the question has only just appeared, so that its buttons and keys do nothing yet. */
  paused: boolean;
  /** Why it was refused, or null. */
  failure: Failure | null;
  /** The open permissions that are like this one: the person may list them, and decide all of them together. */
  alike: QuestionRecord[];
  /** What led to the question, or why it is not known. Set it after `askbridge-context`. */
  set context(context: QuestionContext | { problem: string } | null);
  /** The clock of the bridge minus the one of the page, in milliseconds. */
  clockOffset: number;
  /** Shows an image by its number, or says why it is not there. Call it after `askbridge-image`. */
  showImage(image: number, data: Uint8Array | { problem: string }): void;
  /** Moves the focus to the first field, or to the heading of a permission. */
  focusFirst(): void;
  /** Chooses the option with this number, from 1. Returns whether there is one. */
  choose(number: number): boolean;
  /** Sends the answer, or takes the step that is open. It never allows what is dangerous. */
  submit(): void;
  /** Asks for a reason, and then rejects. */
  reject(): void;
  /** Lists the permissions of `alike` with this one. */
  together(): void;
  /** Asks for a time until which it is set aside, or brings it back. */
  setAside(): void;
  /** Forgets what was entered. */
  discard(): void;
}

/** The events of `<askbridge-question>`, which bubble and cross shadow roots. */
export interface QuestionEvents {
  "askbridge-answer": CustomEvent<{ id: string; values: Record<string, Value>; notes: Record<string, string>; comments?: Comment[]; images?: AddedImage[] }>;
  "askbridge-reject": CustomEvent<{ id: string; reason?: string; comments?: Comment[] }>;
  "askbridge-together": CustomEvent<{ id: string; allows: boolean; decisions: Decision[] }>;
  "askbridge-extend": CustomEvent<{ id: string; milliseconds: number }>;
  "askbridge-later": CustomEvent<{ id: string; milliseconds?: number }>;
  "askbridge-context": CustomEvent<{ id: string }>;
  "askbridge-image": CustomEvent<{ id: string; image: number }>;
  "askbridge-draft": CustomEvent<{ id: string }>;
}

declare global {
  interface HTMLElementTagNameMap {
    "askbridge-question": AskbridgeQuestion;
  }
  interface HTMLElementEventMap extends QuestionEvents {}
}
