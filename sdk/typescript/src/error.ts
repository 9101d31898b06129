import { readOutcome } from "./read.js";
import type { FieldError, Other, Outcome, Problem } from "./types.js";

/** The names of errors that this version knows: those of the server, and in the last row those of the library itself. */
export type ErrorName =
  | "not_found" | "ambiguous" | "conflict" | "changed" | "gone" | "does_not_fit" | "bad_question" | "no_deadline"
  | "too_many_questions" | "own_agent" | "read_only" | "unavailable" | "unknown" | "unreached" | "history_unavailable" | "wrong_token"
  | "wrong_host" | "wrong_origin" | "too_many_requests" | "key_used" | "not_allowed" | "spent" | "expired" | "stale" | "reported" | "bad_key" | "bad_callback"
  | "held" | "not_kept" | "inbox_ends" | "other"
  | "unconfirmed" | "no_connection" | "not_answered" | "needs_confirmation" | "no_such_option" | "no_inbox" | "no_token" | "redirected" | "too_large"
  | Other;

/** Why something could not be done. */
export class AskbridgeError extends Error {
  /** The stable name of the reason, for programs. */
  override name: ErrorName;
  /** The HTTP status of the response; 0 without a response. */
  readonly status: number;
  /** The response. */
  readonly problem: Problem | undefined;
  /** Whether an earlier attempt got no response, so that askbridge may have acted on it. */
  readonly wasSent: boolean;
  /** How the question ended, where it did: of a conflict, the outcome that counts. */
  readonly outcome: Outcome | undefined;

  constructor(name: ErrorName, message: string, more: ErrorDetails = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = name;
    this.status = more.problem?.status ?? 0;
    this.problem = more.problem;
    this.wasSent = more.wasSent ?? false;
    this.outcome = more.outcome ?? (more.problem?.outcome && readOutcome(more.problem.outcome));
  }

  /** The errors in an answer or a question, by field. */
  get errors(): FieldError[] {
    return this.problem?.errors ?? [];
  }
}

/** What an error can have besides its name and its text. */
export interface ErrorDetails {
  problem?: Problem | undefined;
  outcome?: Outcome | undefined;
  wasSent?: boolean;
  cause?: unknown;
}
