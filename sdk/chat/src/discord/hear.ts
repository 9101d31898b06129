// What Discord tells of persons, as the bot hears it. Whatever has another shape is not heard.

import {
  type APIInteraction,
  type APIMessageComponentInteraction,
  type APIModalSubmitInteraction,
  type APIUser,
  ComponentType,
  type GatewayMessageCreateDispatchData as Message,
  InteractionType,
  MessageType,
} from "discord-api-types/v10";

import type { Heard } from "../adapter.js";
import { readValues } from "./form.js";
import type { Responder } from "./responder.js";

/** What the adapter needs to respond to a person: the interaction, or the message that the person wrote. */
export interface DiscordRaw {
  responder?: Responder;
  message?: string;
}

export type Answerable = APIMessageComponentInteraction | APIModalSubmitInteraction;

/** Whether an interaction is a tap on a button, or a form that was sent. */
export function isAnswerable(interaction: APIInteraction): interaction is Answerable {
  if (interaction.type === InteractionType.ModalSubmit) return true;
  return interaction.type === InteractionType.MessageComponent && interaction.data.component_type === ComponentType.Button;
}

/** Reads a tap, or a form. */
export function readInteraction(interaction: Answerable, responder: Responder): Heard | undefined {
  const { id, channel } = interaction;
  const user = interaction.member?.user ?? interaction.user;
  if (!user || !channel) return undefined;
  const act = { id, chat: channel.id, ...who(user), raw: { responder } satisfies DiscordRaw };
  if (interaction.type === InteractionType.ModalSubmit) {
    return { type: "filled", filled: { ...act, data: interaction.data.custom_id, values: readValues(interaction.data) } };
  }
  return { type: "tap", tap: { ...act, data: interaction.data.custom_id, ref: interaction.message.id } };
}

const who = ({ id, global_name: shown, username }: APIUser): { user: string; name: string } => ({ user: id, name: shown ?? username });

/** Reads a reply to a message of the bot. Its text is empty where Discord keeps it from the bot. */
export function readReply(message: Message, me: string): Heard | undefined {
  const { id, type, author, content, channel_id: chat, message_reference: to, referenced_message: above } = message;
  if (type !== MessageType.Reply || author.bot || !to?.message_id || above?.author.id !== me) return undefined;
  const text = content.replace(new RegExp(`^<@!?${me}>\\s*`), "");
  return { type: "reply", reply: { id, chat, ...who(author), text, to: to.message_id, raw: { message: id } satisfies DiscordRaw } };
}

/** Whether a person asks for the IDs that the settings need: by `id` to the bot, or after its name. */
export function asksForIds({ author, content, guild_id: guild }: Message, me: string): boolean {
  const [, named, word] = /^\s*(?:<@!?(\d+)>)?\s*(\w+)\s*$/.exec(content) ?? [];
  if (author.bot || word?.toLowerCase() !== "id") return false;
  return named === undefined ? guild === undefined : named === me;
}
