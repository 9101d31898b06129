// The response to a tap or a form. Discord waits 3 s for the first one, and takes more for 15 minutes.

import type { REST } from "@discordjs/rest";
import { type APIInteractionResponse, type APIModalInteractionResponseCallbackData, InteractionResponseType, MessageFlags, Routes } from "discord-api-types/v10";

import { cut } from "../core/card.js";
import type { Answerable } from "./hear.js";
import { escape } from "./render.js";

/** How long the bot thinks before it says that it has heard. Until then, a form can open. */
const DEFER_AFTER = 1_500;

/** The most characters of what a person is told: each may be two with its escape. */
const TOLD = 900;

/** Returns what a person is told, as the API takes it. */
export const told = (text: string): string => escape(cut(text, TOLD));

/** Says something to one person alone. */
const privately = (text: string) => ({ content: told(text), flags: MessageFlags.Ephemeral, allowed_mentions: { parse: [] } });

export class Responder {
  #first: Promise<unknown> | undefined;
  readonly #timer: NodeJS.Timeout;

  constructor(
    private readonly rest: REST,
    private readonly interaction: Answerable,
  ) {
    this.#timer = setTimeout(() => void this.#respond({ type: InteractionResponseType.DeferredMessageUpdate }).catch(() => {}), DEFER_AFTER);
    this.#timer.unref();
  }

  async tell(text: string): Promise<void> {
    if (!this.#first) {
      await this.#respond(text ? { type: InteractionResponseType.ChannelMessageWithSource, data: privately(text) } : { type: InteractionResponseType.DeferredMessageUpdate });
    } else if (text) {
      // Discord takes no more before it has the first one.
      await this.#first.catch(() => {});
      const { application_id: application, token } = this.interaction;
      await this.rest.post(Routes.webhook(application, token), { auth: false, body: privately(text) });
    }
  }

  async open(data: APIModalInteractionResponseCallbackData): Promise<void> {
    if (this.#first) return this.tell("That took too long for a form. Tap again.");
    await this.#respond({ type: InteractionResponseType.Modal, data });
  }

  #respond(body: APIInteractionResponse): Promise<unknown> {
    clearTimeout(this.#timer);
    const { id, token } = this.interaction;
    return (this.#first ??= this.rest.post(Routes.interactionCallback(id, token), { auth: false, body }));
  }
}
