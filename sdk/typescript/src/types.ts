// The types of what askbridge sends. Another version may send names and kinds that this one does not know: a set of names
// that may grow accepts any string, and an object of a kind that is not known becomes one of kind `unknown`, with all that
// was sent in `raw`.

import type { Field, Other, UnknownField } from "./fields.js";

export type * from "./fields.js";

/** A question, from when it opens until it is forgotten. */
export interface QuestionRecord {
  /** Its ID, unique on the machine. */
  id: string;
  /** The name of the bridge that holds the question. */
  bridge: string;
  /** When the question was asked, by RFC 3339. */
  openedAt: string;
  /** The question. */
  question: QuestionBody;
  /** When the question expires, by RFC 3339. Absent if it never does. */
  deadline?: string;
  /** How the same question ended when it was asked before, if that is known. */
  earlier?: Earlier;
  /**
   * Whether other responders must answer: the client cannot show the question, or left it to them. Default: `false`.
   */
  elsewhere?: boolean;
  /** How often the question has changed since it opened. An answer counts only for the edition that its responder saw. Default: `0`. */
  edition?: number;
  /** Whether the turn in which it was asked is over: the agent may not read the answer. Default: `false`. */
  turnOver?: boolean;
  /** Whether four fifths of its time have passed. Default: `false`. */
  expiring?: boolean;
  /** Until when a person has set it aside, by RFC 3339. Absent if it is not set aside. */
  later?: string;
  /** Whether it is known what led to the question: `Question.context()` returns it. Default: `false`. */
  hasContext?: boolean;
  /** The answers that the client gave before it left the rest to other responders. */
  kept?: Answer;
  /** How the question was settled. Absent while it is open. */
  settlement?: Settlement;
  /** The state of the question. Default: `"open"`. */
  state?: State;
  /** What became of what a program was allowed to do, where the program said so. */
  use?: Use;
}

/** What led to a question. Its texts are the agent's own. */
export interface QuestionContext {
  /** The last words of the agent before it asked, in Markdown. A blank line stands where it did something else in between. */
  words: string;
  /** Its last tool calls before it asked, oldest first. */
  calls: ContextCall[];
  /** Whether it said more before this, which is not kept. Default: `false`. */
  truncated?: boolean;
}

/** A tool call of the agent, as it was when the agent asked. */
export interface ContextCall {
  /** What the call does, in the agent's words. */
  title: string;
  /** The kind of the tool, by the name that the agent's protocol has for it. */
  kind?: string;
  /**
   * The status of the call: `pending`, `in_progress`, `completed`, `failed` or `cancelled`; another protocol or version
   * may have others. Absent if the agent did not say it.
   */
  status?: string;
}

/** The state of a question. */
export type State = KnownState | Other;

/** The state of a question. */
export type KnownState = "open" | "delivering" | "settled" | "lost";

/** A question: a form with one or more fields. */
export interface QuestionBody {
  /** Whether the agent waits for the answer. If not, it continues meanwhile. */
  blocking: boolean;
  /** Whether a wrong answer can do harm, of either degree. */
  dangerous: boolean;
  /** The fields to fill in; at least one. */
  fields: Field[];
  /** The question that the form as a whole asks. Empty if the labels of the fields say it all. */
  message: string;
  /** The protocol that the question came in. */
  origin: Origin;
  /** The agent's own ID of the question, or one that the bridge made up. */
  questionId: string;
  /** What a program asks to be allowed, with the digest that binds a decision to it. */
  action?: Action;
  /** The agent or program that asks, by the name that it gives itself. */
  agent?: string;
  /** Whether its person wants a second step before it is allowed, though it is not dangerous. */
  confirm?: boolean;
  /** Whether what asks has a place for notes beside the answer. Without one, it never learns of them. */
  notes?: boolean;
  /** The folder that the session works in, as an absolute path. */
  project?: string;
  /** The purpose of the question: an answer, or a permission. Default: `"question"`. */
  purpose?: Purpose;
  /** The ID of the client's request that the question belongs to, as JSON text, if it names no session. */
  requestId?: string;
  /** The harm that a wrong answer may do. Absent if a bridge of another version has not looked. */
  risk?: Risk;
  /** Why it is not plain. */
  riskReason?: string;
  /** Whether that reason says no more than what its kind of tool does, such as that it runs a command. Default: `false`. */
  riskOfKind?: boolean;
  /** The JSON Schema that a program sent in place of fields. The settlement has the `value` that fits it. */
  schema?: unknown;
  /** The session that the question belongs to, if the dialect or the running turn says so. */
  sessionId?: string;
  /** The subject of a permission. */
  subject?: Subject;
  /** The label of the button that sends the answer. */
  submit?: string;
  /** How long the agent is willing to wait, in milliseconds. */
  timeoutMs?: number;
  /** The subject of the question, in a few words. */
  title?: string;
  /** The tool call that the question came from. */
  toolCallId?: string;
  /** The pages that the asker wants the person to open before the answer. Only the person opens them. */
  links?: Link[];
  /** The images that the asker sent. `Question.image()` returns the data of one. */
  images?: Image[];
  /** Whether the asker takes images in an answer. Default: `false`. */
  takesImages?: boolean;
  /** What the agent sent and no responder can show, each as a sentence: `1 image is not shown`. */
  unshown?: string[];
}

/** An image of a question. */
export interface Image {
  /** Its format, by its own first bytes and not by what its asker says. */
  type: ImageFormat;
  /** The size of its data, in bytes. */
  bytes: number;
  /** Its width, in pixels. */
  width: number;
  /** Its height, in pixels. */
  height: number;
  /** The SHA-256 of its data. */
  digest: string;
  /** What its asker says of it: a description, the name of its file, the option that it belongs to. */
  description?: string;
  /** Its data as Base64. Only what is asked has it: a question that is open tells it by request. */
  data?: string;
}

/** An image that is added to an answer. */
export interface AddedImage {
  /** The PNG, JPEG, WebP or GIF, as Base64. */
  data: string;
  /** What it is, for the record. */
  description?: string;
}

/** The format of an image, as a MIME type. */
export type ImageFormat = KnownImageFormat | Other;

/** The formats that this version knows. */
export type KnownImageFormat = "image/png" | "image/jpeg" | "image/webp" | "image/gif";

/** A page that the person is asked to open. */
export interface Link {
  /** The address, as a browser writes it: `http` or `https`, and the name of the host in ASCII. */
  url: string;
  /** The host, with its port where that is not the usual one. It is what a person has to trust. */
  host: string;
}

/** What a program asks to be allowed. */
export interface Action {
  /** `sha256:` and, in hexadecimal, the SHA-256 of `request` in the canonical form of RFC 8785. */
  digest: string;
  /** What would be done, with each member that the program sent. */
  request: Record<string, unknown>;
  /** How long an approval counts, in milliseconds. Without a limit if it is absent. */
  grantMs?: number;
}

/** The purpose of a question. */
export type Purpose = KnownPurpose | Other;

/** The purpose of a question. */
export type KnownPurpose = "question" | "permission";

/** The protocol in which a question was asked. */
export type Origin = KnownOrigin | Other;

/** The protocol in which a question was asked. */
export type KnownOrigin =
  | "sandboxagent"
  | "elicitation"
  | "permission"
  | "cursor"
  | "grok"
  | "kiro"
  | "ask_user"
  | "claude"
  | "codex"
  | "opencode"
  | "copilot"
  | "mcp"
  | "mcp_server"
  | "program";

/** The harm that a wrong answer may do, in three degrees. */
export type Risk = KnownRisk | Other;

/** The harm that a wrong answer may do, in three degrees. */
export type KnownRisk = "plain" | "acts" | "dangerous";

/** The subject of a permission. Texts that are longer than their limit are cut, and say how much is missing. */
export interface Subject {
  /**
   * The kind of the tool, as ACP names it: `read`, `edit`, `delete`, `execute`, `fetch`, `switch_mode` and so on. Of
   * a subject that is no tool call, its type.
   */
  kind?: string;
  /** The command that would run. */
  command?: string;
  /** The rest of the tool call. */
  content?: string;
  /** Why the agent asks. */
  description?: string;
  /** The changes of files. */
  diffs?: Diff[];
  /** Where the command would run, if that is not simply the machine of the agent. */
  environment?: string;
  /** The folder that the command would run in, where the agent says so. */
  folder?: string;
  /** Parts of the request that this version does not know, each on a line with its name. */
  further?: string[];
  /** What an approval allows beyond the rest of the subject, each on a line: hosts, folders, modes, rules. */
  grants?: string[];
  /** Whether `rawInput` says more than the rest of what would be done, so that a person has to see it. */
  inputSaysMore?: boolean;
  /** The files that it is about, with the line after a colon where the agent names one. */
  locations?: string[];
  /** The changes as a patch in the format of Git, where the agent sends one. */
  patch?: string;
  /** The plan that the agent wants to carry out, as Markdown. */
  plan?: string;
  /** The file that has the plan, where the request itself does not have it. */
  planFile?: string;
  /** The input of the tool, as JSON text. */
  rawInput?: string;
  /** The title of the tool call, where the heading of the permission says something else. */
  title?: string;
  /** The parts of the agent's request that could not be read, or contradict each other. */
  unclear?: string;
}

/** The change of one file: the part that differs, with a few lines around it. */
export interface Diff {
  /** The number of the line that both texts begin with, from 1. */
  line: number;
  /** The text after. */
  new: string;
  /** The file. */
  path: string;
  /** The text before. Absent where the file is new. */
  old?: string;
  /** Whether the file has a text that the change does not show, and replaces. */
  replaces?: boolean;
}

/** The value of one field. */
export type Value = string | string[] | boolean | number | null;

/** The values of a question's fields, by field name. */
export interface Answer {
  /**
   * The chosen or typed value of each field. A field without a value is absent. Once the question is settled, a value
   * of a secret field is the text `(secret)`.
   */
  values: Record<string, Value>;
  /** Notes on fields, by field name. Once the question is settled, a note on a secret field is the text `(secret)`. */
  notes?: Record<string, string>;
  /** The images that the person added, as they were given: the asker alone got their data, which was written anew. */
  images?: Image[];
}

/** A comment on lines of a question. */
export interface Comment {
  /** The file and the line that it is about, of a change: `src/main.rs:7`. The heading above it, of a longer text. */
  where?: string;
  /** What stands there: the beginning of the text that it is about. */
  quote: string;
  /** What the person says of it. */
  text: string;
}

/** How a question was settled. */
export interface Settlement {
  /** When it was settled, by RFC 3339. */
  at: string;
  /** The responder that settled it. */
  by: Provenance;
  /** The outcome: answered, rejected or failed. */
  outcome: Outcome;
  /**
   * How many milliseconds a client took to decide, if a person cannot be that fast: the client decided by itself.
   */
  reactionMs?: number;
  /** The reason of a rejection, in the person's own words. */
  remark?: string;
  /** What is allowed, where a program asked for leave and got it. */
  grant?: Grant;
  /** The answer as JSON that fits the `schema` of the question, where a program sent one. */
  value?: unknown;
}

/** What a program is allowed to do. */
export interface Grant {
  /** The digest of the action that was decided: that of the question, or of the one with changed arguments. */
  digest: string;
  /** The arguments, where the person changed them. */
  arguments?: unknown;
  /** When the approval ends, by RFC 3339. Absent if it never does. */
  expires?: string;
}

/** What became of what a program was allowed to do. */
export interface Use {
  /** When the program took the approval, which is spent since, by RFC 3339. */
  consumedAt?: string;
  /** What the program reported. */
  report?: Report;
  /** When it reported that, by RFC 3339. */
  reportedAt?: string;
}

/** How something ended that a program was allowed to do. */
export interface Report {
  /** Whether it was done. */
  status: ReportStatus;
  /** The program's own words. */
  note?: string;
}

/** Whether something that a program was allowed to do was done. */
export type ReportStatus = KnownReportStatus | Other;

/** Whether something that a program was allowed to do was done. */
export type KnownReportStatus = "succeeded" | "failed";

/** The responder that settled a question. */
export interface Provenance {
  /** The kind of responder. */
  responder: Responder;
  /** The name that the responder gave itself, such as that of a client in `initialize`. */
  name?: string;
}

/** The kinds of responders. */
export type Responder = KnownResponder | Other;

/** The kinds of responders. */
export type KnownResponder =
  | "client"
  | "dialog"
  | "bridge"
  | "command_line"
  | "terminal"
  | "http"
  | "rpc"
  | "page"
  | "notification"
  | "fleet"
  | "rule";

/** How a question ended: one object with a `status`. */
export type Outcome = AnsweredOutcome | RejectedOutcome | FailedOutcome | UnknownOutcome;

/** A responder answered. */
export interface AnsweredOutcome extends Answer {
  status: "answered";
}

/** The question ended without an answer. */
export interface RejectedOutcome {
  status: "rejected";
  /** Why it was rejected. */
  reason: Reason;
}

/** The client failed, or replied with something that only the agent may understand. */
export interface FailedOutcome {
  status: "failed";
}

/** An outcome that this version does not know, or that nobody remembers. */
export interface UnknownOutcome {
  status: "unknown";
  /** The outcome as it was sent. Absent where the question is over and nobody remembers how it ended. */
  raw?: Readonly<Record<string, unknown>>;
}

/** Why a question was rejected. */
export type Reason = KnownReason | Other;

/** Why a question was rejected. */
export type KnownReason =
  | "user"
  | "cancelled"
  | "withdrawn"
  | "over"
  | "call_ended"
  | "timeout"
  | "replied_in_chat"
  | "client_gone"
  | "agent_gone"
  | "session_closed"
  | "shutdown"
  | "policy";

/** The decision about an earlier question that is identical to an open one. */
export interface Earlier {
  /** The ID of the earlier question. */
  id: string;
  /** When it was decided, by RFC 3339. */
  at: string;
  /** The responder that decided it. */
  by: Provenance;
  /** The decision. */
  outcome: Outcome;
  /** Whether the asker got it, as far as that was noted. */
  wasDelivered: boolean;
  /**
   * Whether the asker may have got it all the same: its delivery had begun when the bridge or the agent ended. Where
   * neither is so, nothing of it was given to the asker.
   */
  mayHaveArrived?: boolean;
}

/** A question to ask: the members of a question that its asker chooses. */
export interface NewQuestion {
  /**
   * The fields to fill in; at least one, unless there is a `schema` or a `subject`. A permission has one choice at most, whose
   * options have roles: by default, to allow it and to reject it.
   */
  fields?: Exclude<Field, UnknownField>[];
  /** The name of the program that asks. */
  agent?: string;
  /**
   * The address to which the outcome of a question that is kept is sent, in a POST with the data of its `question.resolved`.
   */
  callback?: string;
  /** Whether the program takes changed arguments. Default: `false`. */
  changes?: boolean;
  /** Whether a wrong answer can do harm. Default: `false`. */
  dangerous?: boolean;
  /** How long an approval counts, in milliseconds. By default, there is no limit. */
  grantMs?: number;
  /** The question that the form as a whole asks. Empty if the labels of the fields say it all. Default: `""`. */
  message?: string;
  /** The directory that the program works in, as an absolute path. */
  project?: string;
  /** `permission` if the program asks for leave to do what `subject` says. */
  purpose?: Purpose;
  /** The asker's own ID of the question; `ask` by default. */
  questionId?: string;
  /**
   * The JSON Schema that the answer must fit, in place of `fields`. The settlement has the `value`. With `changes`, the JSON
   * Schema of the arguments.
   */
  schema?: Record<string, unknown>;
  /** The session that the question belongs to. */
  sessionId?: string;
  /** What the program wants to do. A decision is bound to the digest of this object. */
  subject?: NewSubject;
  /** The label of the button that sends the answer. */
  submit?: string;
  /** How long to wait for an answer, in milliseconds. By default, there is no limit. */
  timeoutMs?: number;
  /** The subject of the question, in a few words. */
  title?: string;
}

/** What a program wants to do. */
export interface NewSubject {
  /** The arguments of the tool. */
  arguments?: Record<string, unknown>;
  /** The command that would run. */
  command?: string;
  /** Why the program asks. */
  description?: string;
  /** The files that it is about. */
  files?: string[];
  /** The folder that the command would run in. */
  folder?: string;
  /**
   * The kind of the tool, as ACP names it: `read`, `edit`, `delete`, `execute`, `fetch` and so on. By default, `execute` if
   * there is a command.
   */
  kind?: string;
  /** The MCP server that has the tool. */
  server?: string;
  /** The act in a few words. */
  title?: string;
  /** The name of the tool. */
  tool?: string;
}

/** Why a request failed. */
export interface Problem {
  /** The HTTP status. */
  status: number;
  /** The stable name of the refusal. */
  name: string;
  /** The name of the HTTP status. */
  title: string;
  /** The mistake in this request, and its remedy. */
  detail?: string;
  /** The errors in the answer or the question, by field. */
  errors?: FieldError[];
  /** The IDs that the ambiguous one may stand for. */
  ids?: string[];
  /** How the question ended, if it did. */
  outcome?: Outcome;
  /** The question, with its settlement. */
  question?: QuestionRecord;
}

/** An error in the answer to one field. */
export interface FieldError {
  /** The name of the field. It may be one that the question does not have. */
  field: string;
  /** The mistake, as a sentence whose subject is the field: `must have at least 5 characters, has 3`. */
  message: string;
}
