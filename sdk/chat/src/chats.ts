// The chats, and what is set for each. Its library is loaded only once it is chosen.

import type { Adapter } from "./adapter.js";

export type ChatKind = "telegram";

/** What a chat needs to know of its own. */
export interface ChatSpec {
  /** Its name, as the history shows it. */
  name: string;
  own: Record<string, { isRequired: boolean; isSecret: boolean }>;
  load(own: Record<string, string>): Promise<Adapter>;
}

const secret = { isRequired: true, isSecret: true };
const optional = { isRequired: false, isSecret: false };

export const CHATS: Record<ChatKind, ChatSpec> = {
  telegram: {
    name: "Telegram",
    own: { token: secret, "api-root": optional, pace: optional },
    async load(own) {
      const { Telegram } = await import("./telegram/adapter.js");
      const { token = "", "api-root": apiRoot, pace } = own;
      return new Telegram({ token, ...(apiRoot !== undefined && { apiRoot }), ...(pace !== undefined && { everyMs: Number(pace) }) });
    },
  },
};
