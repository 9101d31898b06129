// The machine of the examples, with a client of the library that was just built.

import { Askbridge } from "../dist/local.js";
import { Machine as Base } from "../examples/machine.js";

export { PROGRAM, until } from "../examples/machine.js";

export class Machine extends Base {
  /** Returns a client. */
  client() {
    return new Askbridge({ url: this.url, token: this.token });
  }

  /** Asks, in a process that outlives the inbox. */
  ask(label, options = ["a", "b"]) {
    return this.spawn(["ask", label, "--timeout", "1h", ...options.flatMap(option => ["--option", option])]);
  }
}
