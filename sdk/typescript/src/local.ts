// Finds the inbox of this machine, for Node, Bun and Deno.

import { readdir, readFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { Askbridge as Remote } from "./askbridge.js";
import { AskbridgeError } from "./error.js";
import type { Access } from "./http.js";

export * from "./index.js";

/** Where the inbox of this machine is, if not in the default folder. */
export interface LocalOptions {
  /** The folder of the sockets; by default `askbridge` in `$XDG_RUNTIME_DIR`, `$XDG_STATE_HOME` or `~/.local/state`. */
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

async function access(options: LocalOptions): Promise<Access> {
  const folder = options.folder ?? defaultFolder();
  const names = await readdir(folder).catch(() => []);
  const sockets = names.filter(name => name.endsWith(".sock"));
  const found = (await Promise.all(sockets.map(name => address(join(folder, name))))).find(Boolean);
  if (!found) throw new AskbridgeError("no_inbox", `no inbox runs in ${folder}: start one with \`askbridge inbox --detach\``);
  const file = options.tokenFile ?? join(folder, "token");
  const token = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new AskbridgeError("no_token", `cannot read the token in ${file}`, { cause });
  });
  return { url: `http://${found}`, token: token.trim() };
}

function defaultFolder(): string {
  const { XDG_RUNTIME_DIR: runtime, XDG_STATE_HOME: state, HOME: home } = process.env;
  const base = [runtime, state, home && join(home, ".local/state")].find(Boolean);
  if (!base) throw new AskbridgeError("no_inbox", "no folder for the inbox: set XDG_RUNTIME_DIR, XDG_STATE_HOME or HOME");
  return join(base, "askbridge");
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
    createInterface(socket).once("line", line => end(addressIn(line)));
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
