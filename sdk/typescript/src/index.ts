export { Askbridge, type ListenOptions, type Resolution, type Stop } from "./askbridge.js";
export { AskbridgeError, type ErrorName } from "./error.js";
export type { InboxEvent } from "./feed.js";
export type { Access, AccessSource } from "./http.js";
export { type AllowOptions, type Cancel, type DecideOptions, Permission, Question, type RejectOptions, type ReplyOptions } from "./question.js";
export type * from "./types.js";
