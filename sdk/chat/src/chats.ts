// The chats, and what is set for each. Its library is loaded only once it is chosen.

import type { Adapter } from "./adapter.js";
import type { Policy } from "./core/policy.js";

export type ChatKind = "telegram" | "slack" | "discord" | "matrix";

/** What a chat needs to know of its own. */
export interface ChatSpec {
  /** Its name, as the history shows it. */
  name: string;
  own: Record<string, { isRequired: boolean; isSecret: boolean }>;
  load(own: Record<string, string>, policy: Policy): Promise<Adapter>;
}

const secret = { isRequired: true, isSecret: true };
const required = { isRequired: true, isSecret: false };
const optional = { isRequired: false, isSecret: false };

export const CHATS: Record<ChatKind, ChatSpec> = {
  telegram: {
    name: "Telegram",
    own: { token: secret, "api-root": optional, pace: optional },
    async load(own) {
      const { Telegram } = await import("./telegram/adapter.js");
      const { token = "", "api-root": apiRoot, pace } = own;
      return new Telegram({ token, ...(apiRoot !== undefined && { apiRoot }), ...paceOf(pace) });
    },
  },
  slack: {
    name: "Slack",
    own: { "bot-token": secret, "app-token": secret, "api-root": optional, pace: optional },
    async load(own) {
      const { Slack } = await import("./slack/adapter.js");
      const { "bot-token": botToken = "", "app-token": appToken = "", "api-root": apiRoot, pace } = own;
      return new Slack({ botToken, appToken, ...(apiRoot !== undefined && { apiRoot }), ...paceOf(pace) });
    },
  },
  discord: {
    name: "Discord",
    own: { token: secret, "api-root": optional, pace: optional },
    async load({ token = "", "api-root": apiRoot, pace }) {
      const { Discord } = await import("./discord/adapter.js");
      return new Discord({ token, ...(apiRoot !== undefined && { apiRoot }), ...paceOf(pace) });
    },
  },
  matrix: {
    name: "Matrix",
    own: { homeserver: required, token: secret, pace: optional },
    async load({ homeserver = "", token = "", pace }, { chats, escalate, users }) {
      const { Matrix } = await import("./matrix/adapter.js");
      const all = escalate?.chat === undefined ? chats : [...chats, escalate.chat];
      return new Matrix({ homeserver, token, chats: all, users: [...users.keys()], ...paceOf(pace) });
    },
  },
};

/** A pace other than that of the chat, in milliseconds between two messages, for a server of one's own. */
const paceOf = (pace: string | undefined): { everyMs?: number } => (pace !== undefined && /^\d+$/.test(pace) ? { everyMs: Number(pace) } : {});
