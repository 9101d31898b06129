// The requests of Matrix' client-server API that the bot needs. They are few: a library for them would be larger than the bot.

import { ChatError } from "../adapter.js";

/** An event, as far as the bot reads it. */
export interface MatrixEvent {
  event_id: string;
  type: string;
  sender: string;
  origin_server_ts: number;
  content: Record<string, unknown>;
  redacts?: string;
  unsigned?: { "m.relations"?: { "m.replace"?: MatrixEvent } };
}

/** What `/sync` returns, as far as the bot reads it. */
export interface Sync {
  next_batch: string;
  rooms?: {
    join?: Record<string, { timeline?: { events: MatrixEvent[]; limited?: boolean; prev_batch?: string } }>;
    invite?: Record<string, { invite_state?: { events: { type: string; sender: string; state_key: string; content: { membership?: string } }[] } }>;
  };
}

/** What the server says of an error. */
interface Problem {
  errcode?: string;
  error?: string;
  retry_after_ms?: number;
}

const TIMEOUT = 30_000;

export class MatrixClient {
  constructor(
    private readonly homeserver: string,
    private readonly token: string,
  ) {}

  /** Sends a request. Throws what the bot knows how to go on from. */
  async call<T>(method: string, path: string, body?: unknown, signal?: AbortSignal, type = "application/json"): Promise<T> {
    const isRaw = body instanceof Uint8Array;
    let response: Response;
    try {
      response = await fetch(new URL(path, this.homeserver), {
        method,
        headers: { Authorization: `Bearer ${this.token}`, ...(body !== undefined && { "Content-Type": type }) },
        ...(body !== undefined && { body: isRaw ? (body as Uint8Array<ArrayBuffer>) : JSON.stringify(body) }),
        signal: signal ?? AbortSignal.timeout(TIMEOUT),
        redirect: "error",
      });
    } catch (cause) {
      if (signal?.aborted) throw cause;
      throw new ChatError("passing", "the Matrix server is not reached; trying again");
    }
    const json = (await response.json().catch(() => ({}))) as T & Problem;
    if (response.ok) return json;
    throw problemOf(response.status, json);
  }

  /** Uploads a file. Returns its address. */
  async upload(filename: string, type: string, bytes: Uint8Array): Promise<string> {
    const path = `/_matrix/media/v3/upload?${new URLSearchParams({ filename })}`;
    const { content_uri: url } = await this.call<{ content_uri: string }>("POST", path, bytes, undefined, type);
    return url;
  }

  /** Returns the path of something in a room. */
  static room = (room: string, ...parts: string[]): string => ["/_matrix/client/v3/rooms", room, ...parts].map((part, place) => (place ? encodeURIComponent(part) : part)).join("/");
}

/** Returns what an error of the server means. */
export function problemOf(status: number, { errcode = "", error = "", retry_after_ms: after = 0 }: Problem): ChatError {
  const says = (kind: ChatError["kind"], text: string) => new ChatError(kind, text, after);
  if (status === 429) return says("rate", "the Matrix server takes no more messages for now");
  if (status === 401 || errcode === "M_USER_DEACTIVATED") return says("revoked", "the Matrix server refuses the token: sign the bot in again, and set the new access token");
  if (status >= 500) return says("passing", `the Matrix server has a problem (${error || status}); trying again`);
  if (status === 413 || errcode === "M_TOO_LARGE") return says("refused", "the Matrix server does not take a message, because it is too long: less of it is posted");
  if (status === 403 || status === 404) return says("forbidden", `the bot may not write in its room (${error || errcode || status}): invite it there, and let it write; what waits is posted then`);
  return says("refused", `the Matrix server does not take a message (${error || errcode || status}): less of it is posted`);
}
