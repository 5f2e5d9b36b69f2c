import type { Listening } from "#edges/http/node/listen";
import { type Grant, newSecret } from "#edges/http/access/grant";
import { type AgentSources, type HttpOptions } from "#edges/http/index";
import { answer, type Call, remark } from "#edges/cli/command";
import { LogError } from "#log/errors";

/** One run of the server: what it is given, when it stops, and who is told. */
export interface ServerRun {
  /** The token of this run. */
  readonly secret: string;
  readonly keptAccess: (HttpOptions["keptAccess"] & object) | null;
  /** Those that are served, made of those that the command line names. */
  agents(named: AgentSources): AgentSources;
  readonly stop: AbortSignal;
  /** How long turns are waited for, and then connections. */
  readonly graceMs: number;
  readonly closeMs: number;
  ready(listening: Listening, grant: Grant): Promise<void>;
  ended(): Promise<void>;
}

const GRACE_MS = 10_000;
const CLOSE_MS = 2_000;

/** How it is reached through a proxy. */
export function publicUrlOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.pathname === "/" && url.search === "")
    return url.origin;
  throw new LogError("invalid_request", `--public-url takes https://NAME, without a path, not "${text}"`);
}

/** What is printed to a terminal is read there and then; what goes elsewhere may be kept by a journal. */
export function mayPrintSecrets({ io, flags }: Call): boolean {
  return io.out.isTerminal || flags.has("print-link");
}

/** A run by itself: it prints where it is and stops at Ctrl-C. */
export function ownRun(call: Call): ServerRun {
  const secret = newSecret("hf");
  return {
    secret,
    keptAccess: null,
    agents: (named) => named,
    stop: call.io.catchInterrupt(),
    graceMs: GRACE_MS,
    closeMs: CLOSE_MS,
    ready: ({ url, handler }, { space, rights, ...grant }) => {
      // A browser comes by the name that the proxy has: its cookie may be for TLS alone.
      const shown = publicUrlOf(call.flags.text("public-url")) ?? url;
      const serving = `Serving the space ${space} at ${url}`;
      if (!mayPrintSecrets(call))
        return answer(
          call,
          { url, space, rights },
          () =>
            `${serving}\nTo open a browser: holdfast link ${shown}; with --print-link a link is printed here.`,
        );
      const launch = `${shown}/launch?code=${handler.launchCode({ ...grant, space, rights })}`;
      return answer(
        call,
        { url, launch, token: secret, space, rights },
        () => `${serving}
Open once, within five minutes: ${launch}
Ctrl-C stops it.`,
      );
    },
    ended: async () => {
      if (!call.json) await remark(call, "Stopping: nothing new is begun, what is under way is finished.");
    },
  };
}
