import type { Listening } from "#edges/http/node/listen";
import { type Grant, newSecret } from "#edges/http/access/grant";
import type { HttpOptions } from "#edges/http/index";
import type { AgentSources } from "#edges/http/turns/agent-source";
import { type Call, answer, remark } from "#edges/cli/command";
import { LogError } from "#log/errors";
import type { KeptAccess } from "#edges/http/access/launch-codes";
import type { FaultInjection } from "#edges/http/faults/fault-handlers";

/** One run of the server: what it is given, when it stops, and who is told. */
export interface ServerRun {
  /** The token of this run. */
  readonly secret: string;
  readonly keptAccess: (HttpOptions["keptAccess"] & object) | null;
  /** Those that are served, made of those that the command line names. */
  agents(sources: AgentSources): AgentSources;
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
    agents: (sources) => sources,
    stop: call.io.catchInterrupt(),
    graceMs: GRACE_MS,
    closeMs: CLOSE_MS,
    ready: ({ url, handler }, { space, rights, ...grant }) => {
      // A browser comes by the name that the proxy has: its cookie may be for TLS alone.
      const address = publicUrlOf(call.flags.text("public-url")) ?? url;
      const serving = `Serving the space ${space} at ${url}`;
      if (!mayPrintSecrets(call))
        return answer(
          call,
          { url, space, rights },
          () =>
            `${serving}\nTo open a browser: holdfast link ${address}; with --print-link a link is printed here.`,
        );
      const launch = `${address}/launch?code=${handler.launchCode({ ...grant, space, rights })}`;
      return answer(
        call,
        { url, launch, token: secret, space, rights },
        () => `${serving}
Open once, within five minutes: ${launch}
Ctrl-C stops it.`,
      );
    },
    ended: async () => {
      if (!call.json) await remark(call, "Stopping. Running requests and turns finish first.");
    },
  };
}

/** What a server is handed by the process that watches over it. It goes over their pipe: no secret is on a disk or in a command line. */
export interface Handover {
  readonly secret: string;
  /** What browsers were let in by at the server before. */
  readonly access: KeptAccess | null;
  /** The page that a link is wanted to; null: no link is. */
  readonly to: string | null;
}

export type FromServer =
  | { readonly kind: "ready"; readonly url: string; readonly port: number; readonly launch: string | null }
  | { readonly kind: "access"; readonly access: KeptAccess };

// Together less than it takes until whoever asked for the end loses patience.
const SUPERVISED_GRACE_MS = 1_000;
const SUPERVISED_CLOSE_MS = 500;
const KILL_MS = 100; // until the answer that says so is out

const KILL_SERVER = "kill_server";

/** A run that ends with the process that watches over it, and that is watched over for this: it may be killed. */
export async function supervisedRun(call: Call): Promise<ServerRun> {
  const stop = call.io.catchInterrupt();
  const parentExit = new AbortController();
  const handover = Promise.withResolvers<Handover>();
  if (process.send === undefined)
    throw new LogError("invalid_request", "--supervised is for `holdfast ui`, which starts servers with it");
  process.once("message", (message) => handover.resolve(message as Handover));
  process.once("disconnect", () => {
    parentExit.abort();
    handover.reject(new LogError("store_gone", "The parent process exited, so the server stops"));
  });
  // The pipe would keep the process, also one that could not begin.
  call.onEnd(async () => void (process.connected && process.disconnect()));
  const { secret, access, to } = await handover.promise;
  return {
    secret,
    keptAccess: { known: access, keep: (all) => send({ kind: "access", access: all }) },
    agents: withKill,
    stop: AbortSignal.any([stop, parentExit.signal]),
    graceMs: SUPERVISED_GRACE_MS,
    closeMs: SUPERVISED_CLOSE_MS,
    ready: async ({ url, port, handler }: Listening, grant: Grant) =>
      send({
        kind: "ready",
        url,
        port,
        launch:
          to === null ? null : `${url}/launch?code=${handler.launchCode(grant, to === "/" ? undefined : to)}`,
      }),
    ended: async () => undefined,
  };
}

function send(message: FromServer): void {
  // Whoever is gone is told nothing; that it is gone is heard elsewhere.
  if (process.connected) process.send?.(message, () => undefined);
}

/** Where faults can be injected into an agent, the server can be killed too. */
function withKill(sources: AgentSources): AgentSources {
  return Object.fromEntries(
    Object.entries(sources).map(([name, source]) => {
      const { faults } = source;
      if (faults === undefined) return [name, source];
      const killing: FaultInjection = {
        kinds: [...faults.kinds, KILL_SERVER],
        inject: async (holdfast, fault) => {
          if (fault.kind !== KILL_SERVER) return faults.inject(holdfast, fault);
          setTimeout(() => process.kill(process.pid, "SIGKILL"), KILL_MS);
          return { phase: "now", deduped: false };
        },
        waiting: (holdfast) => faults.waiting(holdfast),
        cancel: (holdfast, kind) => faults.cancel(holdfast, kind),
      };
      return [name, { ...source, faults: killing }];
    }),
  );
}
