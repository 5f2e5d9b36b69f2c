/** One kill: a prompt whose calls leave tokens, the end of some processes, and what is known afterwards. */
import { setTimeout as pause } from "node:timers/promises";
import type { AcpHost } from "./acp-host.ts";
import type { Talk } from "./agent-rig.ts";
import type { BridgeRig } from "./bridge-rig.ts";
import type { AgentName } from "./install.ts";
import { type Judged, judgeRequest, judgeTokens } from "./kill-judge.ts";
import { EFFECTS_FILE, hasRun, type Kill, type Target } from "./kill-plan.ts";
import type { Running } from "./processes.ts";
import type { Reply } from "./reply.ts";
import { until } from "./until.ts";
import type { Reading } from "./wire.ts";

const PIECE_MS = 40;

export interface Round {
  /** Where the conversation goes on. */
  readonly talk: Talk;
  /** Whether the prompt was answered before the kill. */
  readonly late: boolean;
  readonly calls: readonly Judged[];
  readonly violations: readonly string[];
}

/** The model makes the calls of a kill when it is asked for it, however often it is asked. */
function repliesFor(kill: Kill): (request: Reading) => Reply | undefined {
  return ({ prompt, toolResult }) => {
    if (prompt.trimEnd().split("\n").at(-1) !== promptOf(kill)) return undefined;
    const ran = kill.calls.findLastIndex(({ token }) => toolResult?.includes(hasRun(token)) === true);
    if (toolResult !== undefined && ran === -1) return { text: "That did not work." };
    const [next, ...more] = kill.together && ran !== -1 ? [] : kill.calls.slice(ran + 1);
    if (next === undefined)
      return { text: "All of that is done, as you asked me to do it.", pieceMs: PIECE_MS };
    return {
      text: "Let me do that for you, one moment please.",
      command: next.command,
      moreCommands: kill.together ? more.map(({ command }) => command) : [],
      asking: true,
      ...(kill.slow ? { pieceMs: PIECE_MS } : {}),
    };
  };
}

function promptOf({ name }: Kill): string {
  return `do ${name}`;
}

export async function playKill(rig: BridgeRig, agent: AgentName, talk: Talk, kill: Kill): Promise<Round> {
  const { host, sessionId } = talk;
  const violations: string[] = [];
  rig.model.say(repliesFor(kill));
  host.policy = kill.policy;
  const since = { line: host.lines.length, request: rig.model.requests().length };
  let isAnswered = false;
  const answered = host.answered(talk.begin(promptOf(kill))).then(
    () => void (isAnswered = true),
    () => undefined,
  );
  await Promise.race([answered, seen(rig, talk, kill, since).catch(() => undefined)]);
  await pause(kill.delayMs);
  const late = isAnswered;
  end(host, kill.target);
  const survives = !endsBridge(kill.target);
  await (survives ? answered : host.exited());
  if (survives && !isAnswered) violations.push(`${kill.name}: the prompt was never answered`);
  if (survives && kill.thenBridge) await host.kill();
  await pause(kill.pauseMs);
  const stays = survives && !kill.thenBridge;
  if (!stays) await killReload(rig, sessionId, kill);
  const next = stays ? talk : await rig.reload(sessionId);
  next.host.policy = "allow";
  const tokens = kill.calls.map(({ token }) => token);
  if (kill.asks) {
    const { said } = await next.prompt(`what is color? #${kill.name}`);
    if (!said.includes(`color is blue #${kill.name}`))
      violations.push(`${kill.name}: does not recall: ${said}`);
    if (next !== talk)
      await until("the end of what was left", () => (host.running().length === 0 ? true : undefined)).catch(
        () => violations.push(`${kill.name}: left running: ${JSON.stringify(host.running())}`),
      );
  }
  const judged = await judgeTokens(rig, { agent, sessionId, tokens });
  violations.push(...judged.violations);
  if (kill.asks) violations.push(...judgeRequest(rig, judged.calls));
  return { talk: next, late, calls: judged.calls, violations };
}

/** A kill in the middle of what a load recovers. */
async function killReload(rig: BridgeRig, sessionId: string, { reload }: Kill): Promise<void> {
  if (reload === null) return;
  const host = await rig.start();
  host.send("session/load", { sessionId, cwd: rig.home.project, mcpServers: [] });
  await pause(reload.afterMs);
  end(host, reload.target);
  await host.exited();
}

function endsBridge(target: Target): boolean {
  return target !== "adapter" && target !== "agent" && target !== "adapter and agent";
}

/** Resolves at the moment of the kill, if it comes. */
async function seen(
  rig: BridgeRig,
  { host, sessionId }: Talk,
  { moment, nth, calls: [call] }: Kill,
  since: { readonly line: number; readonly request: number },
): Promise<unknown> {
  const lineWith = (words: string): Promise<unknown> =>
    host.until(({ raw }) => raw.includes(words), { since: since.line });
  switch (moment) {
    case "line":
      return host.until(() => host.lines.length >= since.line + 1 + nth, { since: since.line });
    case "request":
      return until("the request", () => rig.model.requests()[since.request + Math.ceil(nth / 4) - 1]);
    case "call":
      return lineWith(`"sessionUpdate":"tool_call"`);
    case "permission":
      return lineWith("session/request_permission");
    case "intent":
      return rig.recorded(sessionId, call.token, "tool_intent");
    case "effect":
      return until("the effect", () => rig.linesOf(EFFECTS_FILE).find((line) => line === call.token));
    case "result":
      return until("the result", () =>
        rig.model.requests().find(({ toolResult }) => toolResult?.includes(hasRun(call.token))),
      );
    case "answer":
      return new Promise(() => undefined);
  }
}

/** SIGKILL to processes that this host started, and to no other. */
function end(host: AcpHost, target: Target): void {
  for (const { pid } of victims(host, target)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It ended by itself in between.
    }
  }
}

function victims(host: AcpHost, target: Target): readonly Running[] {
  const running = host.running();
  const under = (parents: readonly Running[]): readonly Running[] =>
    running.filter(({ parent }) => parents.some(({ pid }) => pid === parent));
  const bridge = running.filter(({ pid }) => pid === host.pid);
  const adapter = under(bridge);
  const agent = under(adapter);
  switch (target) {
    case "bridge":
      return bridge;
    case "adapter":
      return adapter;
    case "agent":
      return agent;
    case "bridge and adapter":
      return [...bridge, ...adapter];
    case "adapter and agent":
      return [...adapter, ...agent];
    case "all three":
      return [...bridge, ...adapter, ...agent];
    case "everything":
      return running;
  }
}
