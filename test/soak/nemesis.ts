/** What goes wrong, one thing after another, by a seed. */
import pg from "pg";
import type { History } from "./history.ts";
import type { Random } from "./random.ts";
import type { Server, Servers } from "./servers.ts";

const FAULTS = ["kill", "stop", "cut", "stall", "terminate", "restart"] as const;
export type Fault = (typeof FAULTS)[number];

interface NemesisOptions {
  readonly servers: Servers;
  readonly history: History;
  readonly random: Random;
  /** How long a process or a connection is silent at most. */
  readonly silentMs: number;
  /** Whether this server's process may be killed now; one that is never killed shows what grows. */
  readonly mayKill: (at: number) => boolean;
}

export class Nemesis {
  readonly #options: NemesisOptions;
  /** How often each fault was. */
  readonly counts: Map<Fault, number> = new Map();

  constructor(options: NemesisOptions) {
    this.#options = options;
  }

  /** One fault, until it is over. */
  async strike(): Promise<void> {
    const { servers, random } = this.#options;
    const possible = FAULTS.filter(
      (fault) => servers.postgres !== null || fault === "kill" || fault === "stop",
    );
    const fault = random.one(possible);
    const at = random.below(servers.list.length);
    if (fault === "kill" && !this.#options.mayKill(at)) return;
    this.counts.set(fault, (this.counts.get(fault) ?? 0) + 1);
    await this.#act(fault, servers.at(at));
  }

  async #act(fault: Fault, server: Server): Promise<void> {
    const { servers, random, silentMs } = this.#options;
    const ms = 50 + random.below(silentMs);
    const { postgres } = servers;
    switch (fault) {
      case "kill":
        return server.kill();
      case "stop":
        server.signal("SIGSTOP");
        await pause(ms);
        server.signal("SIGCONT");
        return;
      case "cut":
        server.proxy?.pointAt(null);
        await pause(ms / 4);
        server.proxy?.pointAt(postgres?.port ?? null);
        return;
      case "stall":
        server.proxy?.stall(true);
        await pause(ms);
        server.proxy?.stall(false);
        return;
      case "terminate":
        return postgres === null ? undefined : terminate(postgres.direct);
      case "restart": {
        const crash = this.#options.history.crash();
        await postgres?.kill();
        crash.to = this.#options.history.now();
        await postgres?.restart();
        return;
      }
    }
  }
}

/** Ends what the database does for everybody. */
async function terminate(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  await client.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()",
  );
  await client.end();
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
