import type { AgentSource, AgentSources, Grant, KeptAccess, Listening } from "#edges/http/index";
import { LogError } from "#log/errors";
import type { Call } from "#edges/cli/command";
import type { ServerRun } from "./server-run.ts";

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
const GRACE_MS = 1_000;
const CLOSE_MS = 500;
const KILL_MS = 100; // until the answer that says so is out

const KILL_SERVER = "kill_server";

/** A run that ends with the process that watches over it, and that is watched over for this: it may be killed. */
export async function supervisedRun(call: Call): Promise<ServerRun> {
  const stop = call.io.catchInterrupt();
  const gone = new AbortController();
  const handover = Promise.withResolvers<Handover>();
  if (process.send === undefined)
    throw new LogError("invalid_request", "--supervised is for `holdfast ui`, which starts servers with it");
  process.once("message", (message) => handover.resolve(message as Handover));
  process.once("disconnect", () => {
    gone.abort();
    handover.reject(new LogError("store_gone", "Whoever started this server has ended"));
  });
  // The pipe would keep the process, also one that could not begin.
  call.onEnd(async () => void (process.connected && process.disconnect()));
  const { secret, access, to } = await handover.promise;
  return {
    secret,
    keptAccess: { known: access, keep: (all) => tell({ kind: "access", access: all }) },
    agents: withKill,
    stop: AbortSignal.any([stop, gone.signal]),
    graceMs: GRACE_MS,
    closeMs: CLOSE_MS,
    ready: async ({ url, port, handler }: Listening, grant: Grant) =>
      tell({
        kind: "ready",
        url,
        port,
        launch:
          to === null ? null : `${url}/launch?code=${handler.launchCode(grant, to === "/" ? undefined : to)}`,
      }),
    ended: async () => undefined,
  };
}

function tell(message: FromServer): void {
  // Whoever is gone is told nothing; that it is gone is heard elsewhere.
  if (process.connected) process.send?.(message, () => undefined);
}

/** Agents that can be made to go through troubles can also lose the server under them. */
function withKill(sources: AgentSources): AgentSources {
  const killable = (source: AgentSource): AgentSource => ({
    ...source,
    ...(source.troubles === undefined ? {} : { troubles: [...source.troubles, KILL_SERVER] }),
    open: async (holdfast) => {
      const agent = await source.open(holdfast);
      const strike = agent.strike?.bind(agent);
      if (strike === undefined) return agent;
      const killing: typeof strike = async (trouble) => {
        if (trouble.kind !== KILL_SERVER) return strike(trouble);
        setTimeout(() => process.kill(process.pid, "SIGKILL"), KILL_MS);
        return { phase: "now" };
      };
      return Object.assign(agent, { strike: killing });
    },
  });
  return Object.fromEntries(Object.entries(sources).map(([name, source]) => [name, killable(source)]));
}
