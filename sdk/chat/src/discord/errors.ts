// What errors of Discord mean for the bot.

import { DiscordAPIError, HTTPError, RateLimitError } from "@discordjs/rest";
import { RESTJSONErrorCodes as Code } from "discord-api-types/v10";

import { ChatError } from "../adapter.js";

const ADD = "let it see the channel and send messages there; what waits is posted then";
const KNOWN = new Map<number | string, readonly [ChatError["kind"], string]>([
  [Code.UnknownChannel, ["forbidden", "the bot does not know its channel: look at the ID in discord.chats, or add the bot there"]],
  [Code.UnknownMessage, ["gone", "the message was deleted in Discord"]],
  [Code.CannotEditMessageAuthoredByAnotherUser, ["gone", "the message is not one of this bot"]],
  [Code.UnknownInteraction, ["gone", "Discord did not get the response within 3 s of the tap"]],
  [Code.InteractionHasAlreadyBeenAcknowledged, ["gone", "Discord had this response already"]],
  [Code.MissingAccess, ["forbidden", `the bot may not see its channel: ${ADD}`]],
  [Code.MissingPermissions, ["forbidden", `the bot may not write in its channel: ${ADD}`]],
  [Code.CannotSendMessagesToThisUser, ["forbidden", "the person takes no messages from this bot: the person has to share a server with it, and allow them"]],
]);

const REVOKED = "Discord refuses the token: make a new one at discord.com/developers (Bot, Reset Token), and set it";

/** Returns what an error means. */
export function chatError(error: unknown): ChatError {
  if (error instanceof ChatError) return error;
  if (error instanceof RateLimitError) {
    return new ChatError("rate", "Discord takes no more messages for now", Math.max(error.retryAfter, error.timeToReset, 1));
  }
  if (error instanceof HTTPError) return new ChatError("passing", `Discord has a problem (${error.status}); trying again`);
  if (error instanceof DiscordAPIError) {
    const [kind, text] = KNOWN.get(error.code) ?? [];
    if (kind) return new ChatError(kind, text!);
    if (error.status === 401) return new ChatError("revoked", REVOKED);
    if (error.status === 403 || error.status === 404) return new ChatError("forbidden", `Discord does not let the bot do that (${error.code}): ${ADD}`);
    return new ChatError("refused", `Discord does not take a message (${error.code}): less of it is posted`);
  }
  const message = error instanceof Error ? error.message : String(error);
  // The library forgets a token that was refused.
  if (/^Expected token to be set|^Authentication failed/.test(message)) return new ChatError("revoked", REVOKED);
  if (/intents$/.test(message)) return new ChatError("revoked", `Discord refuses the connection (${message}): look at the Bot page at discord.com/developers`);
  return new ChatError("passing", "Discord is not reached; trying again");
}
