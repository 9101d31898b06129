// What a block of the documentation may use without saying where it comes from.

declare const inbox: import("@askbridge/client").Askbridge;
declare const token: string;
declare const id: string;
declare const signal: AbortSignal;
declare const AskbridgeError: typeof import("@askbridge/client").AskbridgeError;
type AskbridgeError = import("@askbridge/client").AskbridgeError;
type Value = import("@askbridge/client").Value;
