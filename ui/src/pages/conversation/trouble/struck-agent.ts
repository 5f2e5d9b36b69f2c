import { computed, effect, type Signal, signal } from "@preact/signals";
import type { WaitingTrouble } from "#edges/http/faults/fault-api";
import { AnswerOrder } from "../../../data/answer-order.ts";
import { faults, connection } from "../../../data/api-client.ts";
import { attempted } from "../entry/acts.ts";
import { KILL_SERVER, type Trouble, troubleOf } from "./trouble-table.ts";

/** A trouble that this tab asked for, so that what becomes of it can be told until it is put away. */
interface Strike {
  readonly trouble: Trouble;
  readonly conversation: string;
  /** What was known of the conversation at that time. */
  readonly seq: number;
  /** Of the server, where that is what was killed: when it was gone, and when it was back. */
  readonly goneMs: number | null;
  readonly backMs: number | null;
}

/** Troubles of the space that have not struck yet, whoever asked for them. */
const waiting: Signal<readonly WaitingTrouble[]> = signal([]);
export const waitingTroubles: Signal<readonly Trouble[]> = computed(() => waiting.value.map(troubleOf));
export const lastStrike: Signal<Strike | null> = signal(null);

/** Whether it happens at once, without waiting for a turn. */
export function isAtOnce({ kind }: Trouble): boolean {
  return kind === KILL_SERVER || kind === "restart";
}

const order = new AnswerOrder();

export async function reloadWaiting(agent: string): Promise<void> {
  const isTaken = order.ask();
  const found = await faults.listTroubles({ agent }).catch(() => null);
  if (found !== null && isTaken()) waiting.value = found.waiting;
}

export async function strike(
  agent: string,
  at: { readonly conversation: string; readonly seq: number },
  trouble: Trouble,
): Promise<void> {
  const { kind, phase } = trouble;
  lastStrike.value = { trouble, ...at, goneMs: null, backMs: null };
  const done = await attempted(() =>
    faults.strikeAgent({ agent, kind, ...(phase === undefined ? {} : { phase }) }),
  );
  if (done === null) lastStrike.value = null;
  else await reloadWaiting(agent);
}

export async function callOff(agent: string): Promise<void> {
  await attempted(() => faults.callOffTroubles({ agent }));
  lastStrike.value = null;
  await reloadWaiting(agent);
}

/** A server that was killed is noticed like every other that does not answer. */
effect(() => {
  const now = connection.value;
  const last = lastStrike.peek();
  if (last?.trouble.kind !== KILL_SERVER || last.backMs !== null) return;
  if (now === "lost" && last.goneMs === null) lastStrike.value = { ...last, goneMs: Date.now() };
  if (now === "live" && last.goneMs !== null) lastStrike.value = { ...last, backMs: Date.now() };
});
