import type { Listening } from "#edges/http/node/listen";
import type { KeptAccess } from "#edges/http/access/launch-codes";
import type { Grant } from "#edges/http/access/grant";
import type { FaultInjection } from "#edges/http/faults/fault-handlers";
import type { AgentSources } from "#edges/http/index";
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
