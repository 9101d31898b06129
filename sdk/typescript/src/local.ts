// Finds the inbox of this machine, for Node, Bun and Deno.

import type { Stats } from "node:fs";
import { lstat, readdir, readFile } from "node:fs/promises";
import { connect } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { Askbridge as Remote } from "./askbridge.js";
import { AskbridgeError } from "./error.js";
import type { Access } from "./http.js";

export * from "./index.js";

/** Where the inbox of this machine is, if not in the default folder. */
export interface LocalOptions {
  /**
   * The folder of the sockets; by default each `askbridge` in `$XDG_RUNTIME_DIR`, `/run/user/UID`, `$XDG_STATE_HOME` and
   * `~/.local/state` that is yours alone.
   */
  folder?: string;
  /** The token file; by default `token` in that folder. */
  tokenFile?: string;
}

/** A client of the inbox of this machine. */
export class Askbridge extends Remote {
  /**
   * Finds the inbox that this user runs, and its token. The library looks for both again if it does not reach the inbox,
   * or the inbox refuses the token.
   */
  static async local(options: LocalOptions = {}): Promise<Askbridge> {
    await access(options);
    return new Askbridge(() => access(options));
  }
}

/** How long a bridge may take to say its status. */
const PATIENCE = 2_000;

async function access({ folder: chosen, tokenFile }: LocalOptions): Promise<Access> {
  const folders = chosen === undefined ? places() : [chosen];
  for (const folder of folders) {
    const { mode = 0, uid } = await lstat(folder).catch(() => ({}) as Partial<Stats>);
    // Another user could change what is in it.
    if (chosen === undefined && (uid !== process.geteuid!() || (mode & 0o170_077) !== 0o040_000)) continue;
    const names = await readdir(folder).catch(() => []);
    const sockets = names.filter(name => name.endsWith(".sock"));
    const found = (await Promise.all(sockets.map(name => address(join(folder, name))))).find(Boolean);
    if (!found) continue;
    const file = tokenFile ?? join(folder, "token");
    const token = await readFile(file, "utf8").catch((cause: unknown) => {
      throw new AskbridgeError("no_token", `cannot read the token in ${file}`, { cause });
    });
    return { url: `http://${found}`, token: token.trim() };
  }
  throw new AskbridgeError("no_inbox", `no inbox runs in ${folders.join(" or ")}: start one with \`askbridge inbox --detach\``);
}

/** Returns the folders that an inbox of this user may be in, whatever its environment was. */
function places(): string[] {
  const { XDG_RUNTIME_DIR: runtime, XDG_STATE_HOME: state } = process.env;
  const bases = [runtime, `/run/user/${process.geteuid!()}`, state, join(homedir(), ".local/state")];
  return bases.flatMap(base => (base ? [join(base, "askbridge")] : []));
}

/** Returns the address of the server behind a socket, if it is an inbox. */
function address(path: string): Promise<string | undefined> {
  return new Promise(resolve => {
    const socket = connect(path);
    const end = (found?: string) => {
      socket.destroy();
      resolve(found);
    };
    socket.setTimeout(PATIENCE, end);
    socket.on("error", () => end());
    socket.on("close", () => end());
    const lines = createInterface(socket);
    lines.once("line", line => end(addressIn(line)));
    // It hands on the errors of the socket: without a listener, an inbox that is killed just now would end the program.
    lines.on("error", () => end());
    socket.write('{"jsonrpc":"2.0","id":1,"method":"bridge_status"}\n');
  });
}

function addressIn(line: string): string | undefined {
  try {
    const { result } = JSON.parse(line) as { result: { agent?: string; address?: string }[] };
    const inbox = result.find(({ agent, address }) => agent === "askbridge inbox" && address);
    // An inbox that listens everywhere is reached at the loopback address.
    return inbox?.address?.replace(/^0\.0\.0\.0:/, "127.0.0.1:").replace(/^\[::\]:/, "[::1]:");
  } catch {
    return undefined;
  }
}
