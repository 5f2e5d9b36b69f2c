import type { Holdfast } from "#conversation/holdfast";
import type { Handler, HandlersOf, ServerParts } from "#edges/http/handlers/route-request";
import { LogError } from "#log/errors";
import type { FaultApi, WaitingTrouble } from "./fault-api.ts";

/** Injects faults into a simulated agent, in one space at a time. */
export interface FaultInjection {
  readonly kinds: readonly string[];
  /** `deduped`: it was injected under this key before. */
  inject(
    holdfast: Holdfast,
    fault: { readonly kind: string; readonly phase?: string; readonly key: string | undefined },
  ): Promise<{ readonly phase: string; readonly deduped: boolean }>;
  waiting(holdfast: Holdfast): readonly WaitingTrouble[];
  /** Cancels those that wait, all or those of a kind, and returns them. */
  cancel(holdfast: Holdfast, kind?: string): readonly WaitingTrouble[];
}

const HANDLERS: HandlersOf<FaultApi> = {
  async strikeAgent({ agent, ...fault }, { server, holdfast, key }) {
    const injected = await faultsOf(server, agent).inject(holdfast, { ...fault, key });
    return { agent, kind: fault.kind, ...injected };
  },
  async listTroubles({ agent }, { server, holdfast }) {
    return { agent, waiting: faultsOf(server, agent).waiting(holdfast) };
  },
  async callOffTroubles({ agent, kind }, { server, holdfast }) {
    return { agent, calledOff: faultsOf(server, agent).cancel(holdfast, kind) };
  },
};

export const FAULT_HANDLERS = HANDLERS as object as { readonly [K in keyof FaultApi]: Handler<object> };

function faultsOf({ turns }: ServerParts, agent: string): FaultInjection {
  const { faults } = turns.source(agent);
  if (faults !== undefined) return faults;
  throw new LogError(
    "invalid_request",
    `Agent "${agent}" doesn't support fault injection. Use a simulated agent.`,
    { agent },
  );
}
