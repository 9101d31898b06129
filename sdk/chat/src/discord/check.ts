// Looks whether the bot may write in a channel.

import type { REST } from "@discordjs/rest";
import { type APIGuildMember, type APIRole, type APITextChannel, OverwriteType, PermissionFlagsBits as May, Routes } from "discord-api-types/v10";

import { ChatError } from "../adapter.js";
import { isId } from "./render.js";

/** What is needed, by the name that Discord shows. */
const NEEDED: [string, bigint][] = [
  ["View Channel", May.ViewChannel],
  ["Send Messages", May.SendMessages],
  ["Read Message History", May.ReadMessageHistory],
  ["Attach Files", May.AttachFiles],
];

type Channel = Pick<APITextChannel, "id" | "name" | "permission_overwrites"> & { guild_id?: string; parent_id?: string | null; thread_metadata?: object };

/** Returns a sentence, or throws one. */
export async function checkChat(rest: REST, chat: string, me: string): Promise<string> {
  if (!isId(chat)) throw new ChatError("forbidden", `chats: ${chat} is no ID of a chat: write “id” to the bot there, or “@name id” in a channel`);
  const channel = (await rest.get(Routes.channel(chat))) as Channel;
  const { guild_id: guild } = channel;
  if (guild === undefined) return `the bot may write in the chat ${chat} with one person`;
  // What may be done in a thread is set in its channel.
  const place = channel.thread_metadata && channel.parent_id ? ((await rest.get(Routes.channel(channel.parent_id))) as Channel) : channel;
  const member = (await rest.get(Routes.guildMember(guild, me))) as APIGuildMember;
  const roles = (await rest.get(Routes.guildRoles(guild))) as APIRole[];
  const may = permissionsOf(place, guild, me, member, roles);
  const missing = NEEDED.filter(([, bit]) => (may & bit) !== bit).map(([name]) => name);
  if (missing.length) throw new ChatError("forbidden", `the bot lacks ${missing.join(", ")} in #${channel.name} (${chat}): give it to the bot or to a role of it`);
  return `the bot may write in #${channel.name}`;
}

/** Returns what a member may do in a channel: by its roles, and by what the channel takes and gives, the narrowest last. */
function permissionsOf({ permission_overwrites: changes = [] }: Channel, guild: string, me: string, { roles: own }: APIGuildMember, roles: APIRole[]): bigint {
  const has = (id: string) => id === guild || own.includes(id);
  const base = roles.filter(({ id }) => has(id)).reduce((sum, { permissions }) => sum | BigInt(permissions), 0n);
  if (base & May.Administrator) return ~0n;
  const apply = (may: bigint, which: typeof changes) => {
    const all = (name: "allow" | "deny") => which.reduce((sum, change) => sum | BigInt(change[name]), 0n);
    return (may & ~all("deny")) | all("allow");
  };
  const everyone = changes.filter(({ id }) => id === guild);
  const byRole = changes.filter(({ id, type }) => type === OverwriteType.Role && id !== guild && own.includes(id));
  const byMember = changes.filter(({ id, type }) => type === OverwriteType.Member && id === me);
  return [everyone, byRole, byMember].reduce(apply, base);
}
