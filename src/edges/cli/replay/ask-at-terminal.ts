import type { Host } from "#turn/host";
import { askPerson } from "#edges/cli/chat/permission-question";
import { chatInput } from "#edges/cli/chat/chat-input";
import type { Call } from "#edges/cli/command";
import { Printer } from "#edges/cli/terminal/printer";

/** A person at the terminal: who is asked, and may stop it all. */
export interface PersonAtTerminal extends AsyncDisposable {
  readonly ask: NonNullable<Host["onPermission"]>;
  readonly signal: AbortSignal;
}

/** Null where nobody is there. Every call is asked for: nothing is allowed for good by a replay. */
export function askAtTerminal(call: Call, cwd: string): PersonAtTerminal | null {
  const { io } = call;
  if (call.json || io.keyboard === undefined) return null;
  const stop = new AbortController();
  const input = chatInput(io, {
    first: () => false,
    ahead: () => undefined,
    unsent: () => undefined,
    interrupt: () => {
      stop.abort();
      return false;
    },
  });
  return {
    ask: askPerson({ io, printer: new Printer(io.out), input, cwd }),
    signal: AbortSignal.any([stop.signal, io.catchInterrupt()]),
    [Symbol.asyncDispose]: async () => void input.close(),
  };
}
