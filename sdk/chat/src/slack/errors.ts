// What errors of Slack mean for the bot.

import { WebAPIHTTPError, WebAPIPlatformError, WebAPIRateLimitedError, WebAPIRequestError } from "@slack/web-api";

import { ChatError } from "../adapter.js";

/** The message says so already: nothing is wrong. */
export const UNCHANGED = "unchanged";

type Says = readonly [ChatError["kind"], string];

const ADD = "invite it there (/invite); what waits is posted then";
const KNOWN: Record<string, Says> = {
  channel_not_found: ["forbidden", `the bot does not know its chat: look at the ID in slack.chats, or ${ADD}`],
  not_in_channel: ["forbidden", `the bot is not in its channel: ${ADD}`],
  is_archived: ["forbidden", "the channel is archived: choose another one in slack.chats"],
  restricted_action: ["forbidden", "the workspace does not let the bot write in its channel: ask an administrator"],
  message_not_found: ["gone", "the message was deleted in Slack"],
  thread_not_found: ["gone", "the message was deleted in Slack"],
  cannot_reply_to_message: ["gone", "the message was deleted in Slack"],
  cant_update_message: ["gone", "the message cannot be changed any more in Slack"],
  edit_window_closed: ["gone", "the message cannot be changed any more in Slack"],
  no_change: ["gone", UNCHANGED],
  user_not_in_channel: ["gone", "the person is not in the channel, and was told nothing"],
  expired_trigger_id: ["gone", "Slack did not get the form within 3 s of the tap"],
  exchanged_trigger_id: ["gone", "Slack had this form already"],
  internal_error: ["passing", "Slack has a problem (internal_error); trying again"],
  fatal_error: ["passing", "Slack has a problem (fatal_error); trying again"],
  service_unavailable: ["passing", "Slack has a problem (service_unavailable); trying again"],
  request_timeout: ["passing", "Slack has a problem (request_timeout); trying again"],
  ratelimited: ["rate", "Slack takes no more messages for now"],
};

/** The token, or the app, does not count any more. */
const REVOKED = new Set(["invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "user_removed_from_team", "team_disabled", "not_allowed_token_type", "team_access_not_granted", "access_denied"]);

/** Returns what an error means, of a request with this token. */
export function chatError(error: unknown, token: "bot-token" | "app-token" = "bot-token"): ChatError {
  if (error instanceof ChatError) return error;
  if (error instanceof WebAPIRateLimitedError) return new ChatError("rate", "Slack takes no more messages for now", error.retryAfter * 1000);
  if (error instanceof WebAPIHTTPError) return new ChatError("passing", `Slack has a problem (${error.statusCode}); trying again`);
  if (error instanceof WebAPIRequestError) return new ChatError("passing", "Slack is not reached; trying again");
  if (!(error instanceof WebAPIPlatformError)) return new ChatError("passing", `Slack: ${error instanceof Error ? error.message : String(error)}`);
  const { error: code, needed } = error.data as { error: string; needed?: string };
  const known = Object.hasOwn(KNOWN, code) ? KNOWN[code] : undefined;
  if (known) return new ChatError(known[0], known[1], known[0] === "rate" ? 1_000 : 0);
  if (REVOKED.has(code)) return new ChatError("revoked", `Slack refuses the ${token} (${code}): ${MAKE[token]}`);
  if (code === "missing_scope") return new ChatError("forbidden", `the app has no scope ${needed ?? "for this"}: add it under ${token === "bot-token" ? "OAuth & Permissions, and install the app again" : "Basic Information, App-Level Tokens"}`);
  if (token === "app-token") return new ChatError("revoked", `Slack opens no connection (${code}): turn Socket Mode on at api.slack.com/apps`);
  return new ChatError("refused", `Slack does not take a message (${code}): less of it is posted`);
}

const MAKE = {
  "bot-token": "install the app again at api.slack.com/apps, and set the token that OAuth & Permissions shows (xoxb-…)",
  "app-token": "make one with connections:write at api.slack.com/apps, Basic Information, App-Level Tokens (xapp-…), and turn Socket Mode on",
};
