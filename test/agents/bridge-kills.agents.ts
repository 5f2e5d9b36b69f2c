/**
 * Kills at random moments around tools: bridge, adapter, agent, or all of them. No effect happens twice, none is recorded as done
 * that did not run, and none that ran is missing. HOLDFAST_KILLS=100 makes it a campaign; HOLDFAST_SEED repeats one.
 */
import { expect, test } from "vitest";
import type { Talk } from "./agent-rig.ts";
import { type BridgeRig, bridgeRig } from "./bridge-rig.ts";
import type { AgentName } from "./install.ts";
import { type Judged, judgeTokens } from "./kill-judge.ts";
import { planKill } from "./kill-plan.ts";
import { playKill } from "./kill-round.ts";

const KILLS = Number(process.env["HOLDFAST_KILLS"] ?? 12);
const SEED = Number(process.env["HOLDFAST_SEED"] ?? Math.floor(Math.random() * 1e9));
const KILLS_OF_A_CONVERSATION = 3;
const ROUND_MS = 40_000;

type Tally = Record<string, number>;

test.each(["claude", "codex"] as const)(
  "%s: kills around tools make no effect happen twice, pass for done or go missing",
  async (agent) => {
    const tally: Tally = {};
    const violations: string[] = [];
    for (let at = 0; at < KILLS; at += KILLS_OF_A_CONVERSATION) {
      await using rig = await bridgeRig({ agents: [agent] });
      const numbers = Array.from({ length: Math.min(KILLS_OF_A_CONVERSATION, KILLS - at) }, (_, n) => at + n);
      violations.push(...(await playConversation(rig, agent, numbers, tally)));
    }
    const report = Object.entries(tally)
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([name, times]) => `${name}: ${times}`);
    console.log([`${agent}: ${KILLS} kills, seed ${SEED}`, ...report, ...violations].join("\n"));
    expect(violations).toEqual([]);
  },
  60_000 + KILLS * ROUND_MS,
);

async function playConversation(
  rig: BridgeRig,
  agent: AgentName,
  numbers: readonly number[],
  tally: Tally,
): Promise<readonly string[]> {
  const violations: string[] = [];
  let talk = await openTalk(rig, agent, numbers);
  await talk.prompt("remember color=blue");
  const tokens: string[] = [];
  for (const at of numbers) {
    const kill = planKill(SEED, at);
    tokens.push(...kill.calls.map(({ token }) => token));
    const round = await playKill(rig, agent, talk, kill).catch((error: unknown) => String(error));
    if (typeof round === "string") {
      violations.push(`${agent} seed ${SEED}, ${kill.name}: ${round}`);
      break;
    }
    count(tally, `kill of ${kill.target}`);
    count(tally, `moment ${round.late ? "after the answer" : kill.moment}`);
    if (kill.reload !== null && round.talk.host !== talk.host) count(tally, "kill of a load");
    violations.push(...round.violations.map((text) => `${agent} seed ${SEED}, ${kill.name}: ${text}`));
    talk = round.talk;
  }
  const { sessionId } = talk;
  for (const host of rig.hosts) await host[Symbol.asyncDispose]();
  const last = await judgeTokens(rig, { agent, sessionId, tokens });
  for (const call of last.calls) count(tally, nameOf(call));
  return [...violations, ...last.violations.map((text) => `${agent} seed ${SEED}, at the end: ${text}`)];
}

/** Every other conversation with Codex is in its mode that asks the editor. */
async function openTalk(rig: BridgeRig, agent: AgentName, numbers: readonly number[]): Promise<Talk> {
  const talk = await rig.open();
  const asks = agent === "codex" && (numbers[0] ?? 0) % (2 * KILLS_OF_A_CONVERSATION) === 0;
  const mode = { sessionId: talk.sessionId, modeId: "read-only" };
  if (asks) expect((await talk.host.ask("session/set_mode", mode)).error).toBeUndefined();
  return talk;
}

function nameOf({ ran, recorded }: Judged): string {
  const state = recorded.length === 0 ? "not recorded" : recorded.join(" and ");
  return `call that ${ran ? "ran" : "did not run"}, ${state}`;
}

function count(tally: Tally, name: string): void {
  tally[name] = (tally[name] ?? 0) + 1;
}
