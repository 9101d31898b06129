import type { Askbridge } from "./askbridge.js";
import { AskbridgeError } from "./error.js";
import type { AddedImage, Comment, FieldOption, Outcome, QuestionBody, QuestionContext, QuestionRecord, Role, Subject, Value } from "./types.js";

/** What ends a request early. */
export interface Cancel {
  signal?: AbortSignal | undefined;
}

/** For whom a program decides. */
export interface DecideOptions extends Cancel {
  /** The person who decided, and where, such as `Ben in Telegram`: the history shows it. At most 200 bytes. */
  by?: string | undefined;
}

/** What a reply can have besides its values. */
export interface ReplyOptions extends DecideOptions {
  /** Notes on fields, by field name. */
  notes?: Record<string, string>;
  /** The edition of the question that the person saw. The answer is refused as `changed` where there is a later one. */
  seen?: number | undefined;
  /** Comments on lines of the question, which go into the note on its first field. */
  comments?: Comment[] | undefined;
  /** Images to add where the question has `takesImages`: at most 4, of 640 KiB together. The asker gets their pixels alone. */
  images?: AddedImage[] | undefined;
}

/** What a rejection can have besides its reason. */
export interface RejectOptions extends DecideOptions {
  /** Comments on lines of the question, which stand below the reason. */
  comments?: Comment[] | undefined;
}

/** How to allow a permission. */
export interface AllowOptions extends DecideOptions {
  /** Says that you know that it is dangerous: nothing dangerous is allowed without it. */
  dangerous?: boolean;
  /** Allows it from now on instead of this time. */
  always?: boolean;
  /** The value of the option to choose, where several allow it. */
  option?: string;
}

/** All that is known of a question, and what can be done with it. It does not change: a changed question is a new object. */
export interface Question extends QuestionBody, Omit<QuestionRecord, "question"> {}

export class Question {
  readonly #inbox: Askbridge;
  readonly #record: QuestionRecord;
  /** The machine that it was asked on, where that is another one. */
  declare readonly machine: string | undefined;

  constructor(inbox: Askbridge, record: QuestionRecord) {
    this.#inbox = inbox;
    this.#record = record;
    const { question, ...rest } = record;
    const slash = record.id.indexOf("/");
    const machine = slash < 0 ? undefined : record.id.slice(0, slash);
    for (const members of [{ machine }, rest, question] as Record<string, unknown>[]) {
      for (const name in members) {
        // A member of another version does not replace a method of this one.
        if (!(name in this)) (this as Record<string, unknown>)[name] = members[name];
      }
    }
  }

  /** The question as it was sent. */
  get record(): QuestionRecord {
    return this.#record;
  }

  /** What is asked, in one text: the message, or else the label of the only field, or the title. */
  get text(): string {
    return this.message || (this.fields.length === 1 ? this.fields[0]!.label : (this.title ?? ""));
  }

  /** Whether it is a permission. */
  isPermission(): this is Permission {
    return this.purpose === "permission";
  }

  /** Answers the question as this object has it. When this returns, the asker has the answer. */
  reply(values: Record<string, Value>, options?: ReplyOptions): Promise<void> {
    return this.#inbox.replyQuestion(this.id, values, { seen: this.#record.edition, ...options });
  }

  /** Rejects the question. */
  reject(reason?: string, options?: RejectOptions): Promise<void> {
    return this.#inbox.rejectQuestion(this.id, reason, options);
  }

  /** Moves the deadline, and returns the question with its new one. */
  extend(milliseconds: number, options?: Cancel): Promise<Question> {
    return this.#inbox.extendQuestion(this.id, milliseconds, options);
  }

  /** Sets the question aside for this long from now, and returns it with `later`; 0 brings it back. */
  postpone(milliseconds: number, options?: Cancel): Promise<Question> {
    return this.#inbox.postponeQuestion(this.id, milliseconds, options);
  }

  /** Returns what led to the question: the last words of the agent, and its last tool calls, before it asked. */
  async context(options?: Cancel): Promise<QuestionContext> {
    // A server of an earlier version does not know the request.
    return this.hasContext ? this.#inbox.contextOfQuestion(this.id, options) : { words: "", calls: [] };
  }

  /** Returns an image of the question, by its number from 1, while the question is open. `images` says which there are. */
  image(number: number, options?: Cancel): Promise<Blob> {
    return this.#inbox.imageOfQuestion(this.id, number, options);
  }

  /** Waits until the question is over, and returns how it ended. */
  settled(options?: Cancel): Promise<Outcome> {
    return this.#inbox.waitFor(this.id, options);
  }
}

/** An agent wants permission to do something. */
export class Permission extends Question {
  /** What it is about. */
  declare readonly subject?: Subject;

  /** The options to decide between. */
  get options(): FieldOption[] {
    const field = this.fields[0];
    return field?.kind === "choice" ? field.options : [];
  }

  /** Whether it has to be allowed with `{ dangerous: true }`: it may do harm, or the settings of its user want a second step. */
  get needsConfirmation(): boolean {
    const { risk, dangerous, confirm } = this;
    // A name of another version may mean more harm than those that are known.
    return !!confirm || (risk === undefined ? dangerous : risk !== "plain" && risk !== "acts");
  }

  /** Allows it this time, or `always`. */
  async allow({ dangerous, always, option, by, signal }: AllowOptions = {}): Promise<void> {
    if (this.needsConfirmation && !dangerous) {
      const text = `${this.id} may do harm: look at it, and then call allow({ dangerous: true })`;
      throw new AskbridgeError("needs_confirmation", text);
    }
    const role: Role = always ? "allow_always" : "allow_once";
    const allowing = this.options.filter(one => (option === undefined ? one.role === role : one.value === option));
    const [chosen] = allowing;
    if (!chosen || allowing.length > 1 || chosen.role?.startsWith("reject")) {
      const offered = JSON.stringify(this.options.map(({ value, role }) => ({ value, role })));
      const wanted = JSON.stringify(option ?? role);
      throw new AskbridgeError("no_such_option", `${this.id} has not exactly one option ${wanted} that allows it: ${offered}`);
    }
    await this.reply({ [this.fields[0]!.name]: chosen.value }, { by, signal });
  }
}

/** Makes the object of a record. */
export function questionOf(inbox: Askbridge, record: QuestionRecord): Question {
  return new (record.question.purpose === "permission" ? Permission : Question)(inbox, record);
}
