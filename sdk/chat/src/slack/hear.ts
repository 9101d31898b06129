// What Slack tells of persons, as the bot hears it. Whatever has another shape is not heard.

import type { Heard } from "../adapter.js";
import { type FormOrigin, readValues } from "./form.js";
import { unescape } from "./render.js";

/** What a connection brings. */
export interface Envelope {
  ack(response?: object): Promise<void>;
  body: Record<string, unknown>;
}

/** A message that somebody wrote. */
export interface SlackMessageEvent {
  channel: string;
  channel_type?: string;
  ts: string;
  thread_ts?: string;
  user?: string;
  text?: string;
  bot_id?: string;
  subtype?: string;
}

/** What the adapter needs to respond to a person. */
export interface SlackRaw {
  /** Opens a form, for 3 s. */
  trigger?: string;
  /** The thread in which the person wrote. */
  thread?: string;
}

interface Actions {
  user: { id: string; name?: string };
  trigger_id: string;
  container?: { message_ts?: string; channel_id?: string };
  actions?: { value?: string }[];
}

/** Reads a tap, or a form that was sent. */
export function readInteraction(body: Record<string, unknown>): Heard | undefined {
  if (body["type"] === "block_actions") return readAction(body);
  return body["type"] === "view_submission" ? readSubmission(body) : undefined;
}

function readAction(body: Record<string, unknown>): Heard | undefined {
  const { user, trigger_id: id, container, actions } = body as unknown as Actions;
  const data = actions?.[0]?.value;
  const { channel_id: chat, message_ts: ref } = container ?? {};
  if (data === undefined || chat === undefined || ref === undefined) return undefined;
  const raw: SlackRaw = { trigger: id };
  return { type: "tap", tap: { id, chat, user: user.id, ...(user.name && { name: user.name }), data, ref, raw } };
}

interface Submission {
  user: { id: string; name?: string };
  view: { id: string; private_metadata: string; state: { values: Parameters<typeof readValues>[0] } };
}

export function readSubmission(body: Record<string, unknown>): Heard | undefined {
  const { user, view } = body as unknown as Submission;
  const origin = originOf(view.private_metadata);
  if (!origin) return undefined;
  const raw: SlackRaw = {};
  return { type: "filled", filled: { id: view.id, chat: origin.chat, user: user.id, ...(user.name && { name: user.name }), data: origin.data, values: readValues(view.state.values), raw } };
}

/** The form may be of an earlier version of the bot. */
function originOf(text: string): FormOrigin | undefined {
  try {
    const { chat, data } = JSON.parse(text) as FormOrigin;
    return typeof chat === "string" && typeof data === "string" ? { chat, data } : undefined;
  } catch {
    return undefined;
  }
}

/** Reads a message that a person wrote. What a bot writes, and what is changed or deleted, is none. */
export function readEvent(body: Record<string, unknown>): SlackMessageEvent | undefined {
  const event = body["event"] as (SlackMessageEvent & { type: string }) | undefined;
  const isWritten = event?.type === "message" && !event.bot_id && (!event.subtype || event.subtype === "thread_broadcast");
  return isWritten ? event : undefined;
}

/** Reads that a message was deleted. */
export function readDeleted(body: Record<string, unknown>): Heard | undefined {
  const { type, subtype, channel, deleted_ts: ref } = (body["event"] ?? {}) as Record<string, unknown>;
  const isDeleted = type === "message" && subtype === "message_deleted" && typeof channel === "string" && typeof ref === "string";
  return isDeleted ? { type: "deleted", chat: channel, ref } : undefined;
}

/** Reads a reply: a message in the thread of another one. */
export function readReply({ channel, ts, thread_ts: to, user, text }: SlackMessageEvent, id: string): Heard | undefined {
  if (!to || to === ts || !user || !text) return undefined;
  const raw: SlackRaw = { thread: to };
  return { type: "reply", reply: { id, chat: channel, user, text: unescape(text), to, raw } };
}

/** Whether a person asks for the IDs that the settings need: by `id` to the bot, or after its name. */
export function asksForIds({ channel_type: type, text = "" }: SlackMessageEvent, me: string): boolean {
  const [, named, word] = /^\s*(<@(?:[^<>|]+)(?:\|[^<>]*)?>)?\s*(\w+)\s*$/.exec(text) ?? [];
  if (word?.toLowerCase() !== "id") return false;
  return named === undefined ? type === "im" : named.startsWith(`<@${me}`);
}
