// The file in which the bot keeps its messages over a restart, and that no second bot uses it.

import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { dirname } from "node:path";

import type { BoardState } from "./core/board.js";
import type { Kept } from "./core/entry.js";

/** The first line has everything; each further one is a question as it is since. */
export interface Head extends BoardState {
  version: 1;
  /** What the chat has told is heard up to here. */
  position?: string;
}

/** The file of one chat. */
export class StateFile {
  constructor(readonly path: string) {}

  /** Reads what was kept. Throws if the file is damaged: without it, each question would be posted again. */
  read(): Head | undefined {
    let text: string;
    try {
      text = readFileSync(this.path, "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
    const [first = "", ...lines] = text.split("\n");
    const head = parsed<Head>(first);
    if (head?.version === 1 && Array.isArray(head.questions) && Array.isArray(head.acts)) {
      const questions = new Map(head.questions.map(kept => [kept.id, kept]));
      // A crash may have cut the last line.
      for (const kept of lines.map(line => parsed<Kept>(line))) if (kept?.slots) questions.set(kept.id, kept);
      return { ...head, questions: [...questions.values()] };
    }
    throw new Error(`${this.path} is not a state file of this version: remove it, and each open question is posted again`);
  }

  /** Writes the whole file, so that a crash leaves the earlier one. */
  write(state: Omit<Head, "version">): void {
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    const head: Head = { version: 1, ...state };
    writeFileSync(`${this.path}.new`, `${JSON.stringify(head)}\n`, { mode: 0o600 });
    renameSync(`${this.path}.new`, this.path);
  }

  /** Adds what has become of one question, which costs less than the whole. */
  add(kept: Kept): void {
    appendFileSync(this.path, `${JSON.stringify(kept)}\n`, { mode: 0o600 });
  }
}

function parsed<T>(line: string): T | undefined {
  try {
    return JSON.parse(line) as T;
  } catch {
    return undefined;
  }
}

/** Holds a name until the process ends, however it does. Throws if another process has it. */
export async function hold(path: string): Promise<Server> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const first = await listen(path);
  if (first) return first;
  if (await answers(path)) throw new Error(`another askbridge-chat runs already (${path})`);
  // It was left behind by a process that was killed.
  rmSync(path, { force: true });
  const second = await listen(path);
  if (!second) throw new Error(`another askbridge-chat runs already (${path})`);
  return second;
}

function listen(path: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer(socket => socket.destroy());
    server.unref();
    server.once("error", (error: NodeJS.ErrnoException) => (error.code === "EADDRINUSE" ? resolve(undefined) : reject(error)));
    server.listen(path, () => resolve(server));
  });
}

function answers(path: string): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(path);
    const end = (does: boolean) => {
      socket.destroy();
      resolve(does);
    };
    socket.once("connect", () => end(true));
    socket.once("error", () => end(false));
  });
}
