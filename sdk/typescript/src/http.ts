// Requests to askbridge, with the token, and repeated where that is safe.

import { AskbridgeError } from "./error.js";
import type { Problem } from "./types.js";
import { abortable, BackOff, Limit } from "./wait.js";

/** The address of the server, and its token. */
export interface Access {
  url: string | URL;
  token: string;
}

/** The access, or a function that finds it. The library calls it again if the server is not reached or refuses the token. */
export type AccessSource = Access | (() => Access | Promise<Access>);

/** How a request is sent. */
export interface Call {
  body?: unknown;
  /** `POST` with a body and `GET` without one by default. */
  method?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** Whether it may be sent again when it is not known whether it arrived. */
  isSafe?: boolean;
  /** Whether the response comes only when a person has answered. */
  isLong?: boolean;
  /** Reads a response: as JSON by default. */
  read?: (response: Response) => Promise<unknown>;
}

/** How long one attempt may take, and how long a request is repeated. */
const ATTEMPT = 10_000;
const PATIENCE = 25_000;
/** How many characters of a response are read. An inbox holds less. */
const LONGEST_BODY = 1 << 26;
const TOO_BUSY = new Set([429, 502, 503, 504]);

/** Sends requests. */
export class Http {
  #access: Promise<Access> | undefined;

  constructor(private readonly source: AccessSource) {
    // A wrong address is a mistake of the program, and no lost connection: it throws at once.
    if (typeof source !== "function") new URL("/", source.url);
  }

  /** Sends a request and returns the parsed response. What is safe is sent again over a lost connection. */
  async call<T>(path: string, call: Call = {}): Promise<T> {
    const backOff = new BackOff(100, 2_000);
    const end = Date.now() + PATIENCE;
    for (let wasSent = false; ; ) {
      const limit = new Limit(call.signal, call.isLong ? undefined : ATTEMPT);
      try {
        const response = await this.open(path, { ...call, signal: limit.signal });
        return (response.status === 204 ? undefined : await (call.read ?? jsonOf)(response)) as T;
      } catch (error) {
        call.signal?.throwIfAborted();
        const known = error instanceof AskbridgeError ? error : undefined;
        // Status 0: the server was not found. It may be starting again.
        const isPassing = !known || (!known.status && known.name !== "too_large") || TOO_BUSY.has(known.status);
        if (!call.isSafe || !isPassing || Date.now() > end) throw asError(error, call, wasSent);
        wasSent ||= !known;
        await backOff.wait(call.signal, known ? 1_000 : 0);
      } finally {
        // What is left of a response is not read.
        limit.abort();
      }
    }
  }

  /** Sends a request once, and again if another token is found. Returns a response that is no error. */
  async open(path: string, call: Call = {}): Promise<Response> {
    const used = await abortable(this.#find(), call.signal);
    let response = await this.#fetch(used, path, call);
    if (response.status === 401 && typeof this.source === "function") {
      const found = await abortable(this.#find(used), call.signal);
      if (found.token !== used.token) response = await this.#fetch(found, path, call);
    }
    if (response.ok) return response;
    throw await refusal(response);
  }

  /** Returns the access, and looks for another one in the place of this one. */
  async #find(stale?: Access): Promise<Access> {
    const { source } = this;
    if (typeof source !== "function") return source;
    const access = this.#access;
    if (!access || (stale && (await access) === stale)) {
      // What was not found is looked for again by the next request.
      this.#access = Promise.resolve(source());
      this.#access.catch(() => (this.#access = undefined));
    }
    return this.#access!;
  }

  async #fetch({ url, token }: Access, path: string, { body, method, headers, signal }: Call): Promise<Response> {
    const hasBody = body !== undefined;
    const init: RequestInit = {
      method: method ?? (hasBody ? "POST" : "GET"),
      // What is sent, such as an answer, is for this server alone.
      redirect: "manual",
      headers: { Authorization: `Bearer ${token}`, ...(hasBody && { "Content-Type": "application/json" }), ...headers },
      ...(hasBody && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    };
    try {
      return await fetch(new URL(path, url), init);
    } catch (error) {
      // The server may be somewhere else by now.
      this.#access = undefined;
      throw error;
    }
  }
}

/** Hands on the text of a response in pieces. */
export async function readText({ body }: Response, take: (piece: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  const reader = body!.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    take(decoder.decode(value, { stream: true }));
  }
}

/** Returns the error of what has no end. */
export const tooLarge = (longest: number): AskbridgeError =>
  new AskbridgeError("too_large", `askbridge sent more than ${longest} characters`);

/** Reads JSON, as long as it has an end. */
async function jsonOf(response: Response): Promise<unknown> {
  let text = "";
  await readText(response, piece => {
    text += piece;
    if (text.length > LONGEST_BODY) throw tooLarge(LONGEST_BODY);
  });
  return JSON.parse(text);
}

/** Returns the error that a response is. */
async function refusal(response: Response): Promise<AskbridgeError> {
  // A browser hides the status of a redirection.
  const status = response.status || 302;
  const problem = status < 400 ? undefined : ((await jsonOf(response).catch(() => {})) as Problem | undefined);
  const name = status < 400 ? "redirected" : status === 503 ? "unavailable" : `http_${status}`;
  const known = problem?.name ? problem : { status, title: response.statusText, name };
  return new AskbridgeError(known.name, known.detail ?? `askbridge responded ${status} ${known.title}`, { problem: known });
}

/** Returns the path and the request of a call of the control protocol. */
export function rpc(method: string, params: object): Call & { path: string } {
  return { path: "/rpc", body: { jsonrpc: "2.0", id: 1, method, params }, read: readResponse };
}

/** What a call of the control protocol gets. */
interface RpcResponse {
  result?: unknown;
  error?: { code: number; message: string; data?: Partial<Problem> };
}

/** The statuses that REST has where the control protocol has a code of its own. */
const STATUSES: Record<string, number> = { ambiguous: 409, changed: 409, unknown: 503, unreached: 503 };

async function readResponse(response: Response): Promise<unknown> {
  const { result, error } = (await jsonOf(response)) as RpcResponse;
  if (!error) return result;
  const { code, message, data } = error;
  const name = data?.name ?? `rpc_${code}`;
  const outcome = data?.question?.settlement?.outcome;
  const problem = { ...data, ...(outcome && { outcome }), name, status: STATUSES[name] ?? (code > 0 ? code : 400), title: message };
  throw new AskbridgeError(name, message, { problem });
}

/** Returns the error of a request that may have arrived. */
export function unconfirmed(cause: unknown): AskbridgeError {
  const text = "the connection to askbridge was lost: it is not known whether it acted";
  return new AskbridgeError("unconfirmed", text, { cause, wasSent: true });
}

/** Returns the error to throw. Where only something was asked for, it does not matter whether the server got the request. */
export function asError(error: unknown, { body }: Call = {}, wasSent = false): AskbridgeError {
  if (!(error instanceof AskbridgeError)) {
    return body === undefined
      ? new AskbridgeError("no_connection", `askbridge was not reached: ${String(error)}`, { cause: error })
      : unconfirmed(error);
  }
  const { name, message, problem } = error;
  return wasSent ? new AskbridgeError(name, message, { problem, wasSent }) : error;
}

/** Says whether another attempt cannot help. */
export function isFinal(error: unknown): error is AskbridgeError {
  return error instanceof AskbridgeError && error.status >= 300 && error.status < 500 && ![408, 429].includes(error.status);
}

/** Returns the path of a question. */
export const pathOf = (id: string, verb = ""): string => `/v1/questions/${encodeURIComponent(id)}${verb && `/${verb}`}`;

