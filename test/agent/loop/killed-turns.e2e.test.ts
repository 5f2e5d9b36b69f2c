/**
 * Goal: a turn of the loop survives its process, wherever that dies. Method: real processes carry turns with tools, a steer, an
 * approval and a compaction over a real store and a scripted model's service on loopback, and die by SIGKILL at every site
 * of kill-sites.ts; another process goes on with each. Here every site once and every kind of site over both wires and stores;
 * in the soak lane every site over every wire and store, and the process that goes on is killed as well: more than 200 kills.
 */
import { expect, test } from "vitest";
import { KILL_SITES, type KillSite, sampleOfKills } from "../../support/kill-sites.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Conversation } from "#conversation/conversation";
import { Holdfast } from "#conversation/holdfast";
import { type Usage, assistant, user } from "#log/message";
import type { Store } from "#store/store";
import { jsonlStore } from "#stores/jsonl/index";
import { sqliteStore } from "#stores/sqlite/index";
import { judgeConversation } from "#testing/index";
import type { ScriptedAnswer, WireName } from "../../support/model-server/scripted-answer.ts";
import { type ModelServer, startModelServer } from "../../support/model-server.ts";
import { type ProcessLife, runProgram } from "../../support/process-life.ts";

const program = join(import.meta.dirname, "../../support/agent-process.ts");

type KilledWire = Extract<WireName, "anthropic" | "openai">;
const MODELS: { readonly [W in KilledWire]: string } = {
  anthropic: "anthropic/claude-scripted",
  openai: "openai/gpt-scripted",
};

/** What a request says of how far its conversation is: steps stand in the calls, in results and in summaries alike. */
function stepIn(body: string): number {
  return Math.max(0, ...[...body.matchAll(/step_no\\*":\s?(\d)/g)].map(([, step]) => Number(step)));
}

/** More than is gathered before it is written: what is left of a whole answer is written with it. */
const MANY_WORDS = " on and on".repeat(420);

function answerOf({ body, parsed, number }: ModelServer["requests"][number]): ScriptedAnswer {
  const mark = `[r${number}]`;
  const step = stepIn(body);
  const { tools } = parsed as { readonly tools?: readonly unknown[] };
  if (tools === undefined || tools.length === 0) return { text: `## Done\n${mark} {"step_no":${step}}` };
  if (step >= 2) return { text: [mark, MANY_WORDS, " All", " is", " done."] };
  const input = { step_no: step + 1 };
  const other = step === 0 ? "look" : "fetch";
  return {
    text: [mark, MANY_WORDS, " Going on."],
    calls: [
      { name: "mail", input },
      { name: other, input },
    ],
  };
}

interface Line {
  readonly id: string;
  readonly accepted?: string;
  readonly steered?: true;
  readonly ended?: string;
  readonly text?: string;
}

/** Turns whose processes are killed, over one store and one scripted service. */
class KilledTurns implements AsyncDisposable {
  readonly #kind: string;
  readonly #path: string;
  readonly #outbox: string;
  readonly #server: ModelServer;
  /** What was acknowledged to any process before it died. */
  readonly #heard: Line[] = [];
  kills: number = 0;

  private constructor(kind: string, dir: string, server: ModelServer) {
    this.#kind = kind;
    this.#path = join(dir, "store");
    this.#outbox = join(dir, "outbox");
    this.#server = server;
  }

  static async start(kind: string, dir: string): Promise<KilledTurns> {
    return new KilledTurns(kind, dir, await startModelServer(answerOf));
  }

  async #open(): Promise<Holdfast> {
    const path = this.#path;
    const store: Store = this.#kind === "sqlite" ? await sqliteStore({ path }) : jsonlStore({ dir: path });
    return new Holdfast(store, "default", undefined, () => store.close());
  }

  /** Conversations with something said in them before. */
  async create(ids: readonly string[]): Promise<void> {
    await using holdfast = await this.#open();
    for (const id of ids) {
      const { id: made } = await holdfast.create({ id });
      const conversation = holdfast.handle(made);
      const words = (id.endsWith("small") ? "before " : ".").repeat(260);
      for (let at = 0; at < 3; at++) await conversation.append([user(words), assistant(words)]);
    }
  }

  /** One life of a process: it is killed at the point, unless it never comes there. */
  async life(wire: KilledWire, site: KillSite | "none", ids: readonly string[]): Promise<ProcessLife> {
    const url = this.#server.baseUrl(wire).replace(`/${wire}/`, "/WIRE/");
    const given = [this.#kind, this.#path, this.#outbox, url, MODELS[wire], site, ...ids];
    const life = await runProgram(program, ...given);
    const lines = life.stdout.split("\n").filter(Boolean);
    this.#heard.push(...lines.map((line) => JSON.parse(line) as Line));
    if (life.signal === "SIGKILL") this.kills++;
    return life;
  }

  /** What is wrong with conversations that have been gone on with, in words. */
  async faults(ids: readonly string[]): Promise<readonly string[]> {
    await using holdfast = await this.#open();
    const found = await holdfast.check({ repair: false });
    const faults = found.map((finding) => `check: ${JSON.stringify(finding)}`);
    for (const id of ids) {
      const conversation = await holdfast.conversation(id);
      const more = [
        ...(await judgeConversation(conversation)),
        ...(await this.#lost(conversation)),
        ...this.#twice(id),
        ...(await this.#miscounted(conversation)),
      ];
      faults.push(...more.map((what) => `${id}: ${what}`));
    }
    return faults;
  }

  async #lost(conversation: Conversation): Promise<readonly string[]> {
    const heard = this.#heard.filter(({ id }) => id === conversation.id);
    const log = await Array.fromAsync(conversation.log());
    const holds = (type: string, text: string): number =>
      log.filter((entry) => entry.type === type && entry.payload.includes(text)).length;
    const last = heard.findLast(({ ended }) => ended !== undefined);
    const accepted = new Set(heard.flatMap(({ accepted: prompt }) => prompt ?? []));
    const steered = holds("message", `faster, ${conversation.id}`);
    return [
      ...[...accepted]
        .filter((prompt) => !log.some(({ id }) => id === prompt))
        .map((one) => `${one} is lost`),
      ...(holds("message", `go ${conversation.id}`) === 1 ? [] : ["the prompt is not there once"]),
      ...(steered <= 1 ? [] : [`the steer was delivered ${steered} times`]),
      ...(heard.some((line) => line.steered) && steered === 0 ? ["the steer is lost"] : []),
      ...((await conversation.queue()).length === 0 ? [] : ["something waits to be delivered"]),
      ...((await conversation.openTurn()) === null ? [] : ["the turn is open"]),
      ...(last?.ended === "completed" ? [] : [`it ended ${last?.ended}`]),
      ...(last?.text?.endsWith("All is done.") === true ? [] : [`it said ${last?.text}`]),
    ];
  }

  acts(id: string): readonly { readonly tool: string; readonly input: unknown }[] {
    if (!existsSync(this.#outbox)) return [];
    const lines = readFileSync(this.#outbox, "utf8").split("\n").filter(Boolean);
    const all = lines.map((line) => JSON.parse(line) as { id: string; tool: string; input: unknown });
    return all.filter((one) => one.id === id);
  }

  #twice(id: string): readonly string[] {
    const counts = Map.groupBy(this.acts(id), (act) => JSON.stringify(act));
    return [...counts]
      .filter(([act, all]) => all.length > (act.includes('"mail"') ? 1 : 3))
      .map(([act, all]) => `${act} was done ${all.length} times`);
  }

  /** Each answer in the log was paid for once: by its mark it is known which request it was the answer to. */
  async #miscounted(conversation: Conversation): Promise<readonly string[]> {
    const faults: string[] = [];
    const seen = new Set<string>();
    let [input, output] = [0, 0];
    for (const entry of await conversation.facts(["message", "compaction", "attempt_end"])) {
      const usage: Usage = usageOf(entry);
      input += usage.inputTokens ?? 0;
      output += usage.outputTokens ?? 0;
      if (entry.type === "attempt_end") continue;
      const text = entry.type === "compaction" ? entry.summary : JSON.stringify(entry.payload);
      if (entry.type === "message" && entry.message.role !== "assistant") continue;
      for (const [mark] of text.matchAll(/\[r\d+\]/g)) {
        if (seen.has(mark) && entry.type === "message") faults.push(`the answer ${mark} is there twice`);
        seen.add(mark);
        if (usage.outputTokens === undefined) faults.push(`what ${mark} used is not known`);
      }
    }
    const usage = await conversation.usage();
    if (usage.inputTokens !== input || usage.outputTokens !== output)
      faults.push(`used ${JSON.stringify(usage)}, not ${input} and ${output}`);
    if (seen.size < 3) faults.push(`only ${seen.size} answers`);
    return faults;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.close();
  }
}

function usageOf(entry: unknown): Usage {
  const { usage, message } = entry as { usage?: Usage; message?: { usage?: Usage } };
  return usage ?? message?.usage ?? {};
}

const SOAK = process.env["HOLDFAST_SOAK"] !== undefined;
const WIRES: readonly KilledWire[] = ["anthropic", "openai"];
const STORES = ["sqlite", "jsonl"] as const;
const PLACES = STORES.flatMap((store) => WIRES.map((wire) => ({ store, wire })));

interface Case {
  readonly id: string;
  readonly store: (typeof STORES)[number];
  readonly wire: KilledWire;
  readonly site: KillSite;
  readonly next: KillSite | null;
}

/** Where each is killed, and where the process after it: at every site over every wire and store in the soak lane, else a sample. */
const CASES: readonly Case[] = SOAK
  ? PLACES.flatMap(({ store, wire }) =>
      KILL_SITES.map((site, at): Case => {
        const small = site.startsWith("summary") || at % 3 === 0 ? "-small" : "";
        const next = KILL_SITES[(at * 7 + WIRES.indexOf(wire) * 3 + 5) % KILL_SITES.length] ?? null;
        return { id: `${at}-${wire}${small}`, store, wire, site, next };
      }),
    )
  : sampleOfKills(PLACES).map(({ site, place: { store, wire } }, at): Case => {
      const small = site.startsWith("summary") ? "-small" : "";
      return { id: `${at}-${wire}${small}`, store, wire, site, next: null };
    });

/** Behind these the first email was promised and not sent; nobody sends it later. */
const NEVER_SENT: ReadonlySet<string> = new Set(["intent/after", "act/before"]);

test.concurrent.each(STORES)(
  "a turn that is killed anywhere is gone on with, nothing lost and nothing twice, in the %s store",
  async (kind) => {
    using dir = tempDir();
    await using turns = await KilledTurns.start(kind, dir.path);
    const cases = CASES.filter(({ store }) => store === kind);
    const ids = cases.map(({ id }) => id);
    await turns.create(ids);
    for (const { id, wire, site, next } of cases) {
      const { signal, stderr } = await turns.life(wire, site, [id]);
      expect({ id, site, signal, stderr }).toEqual({ id, site, signal: "SIGKILL", stderr: "" });
      if (next !== null) expect((await turns.life(wire, next, [id])).stderr).toBe("");
    }
    for (const wire of WIRES) {
      const left = cases.filter((one) => one.wire === wire).map(({ id }) => id);
      const { signal, stderr } = await turns.life(wire, "none", left);
      expect([signal, stderr]).toEqual(["null", ""]);
    }
    expect(await turns.faults(ids)).toEqual([]);
    for (const { id, site, next } of cases) {
      const sent = turns.acts(id).filter(({ tool }) => tool === "mail").length;
      const most = NEVER_SENT.has(site) ? 1 : 2;
      expect([id, sent]).toEqual([id, next === null ? most : Math.min(sent, most)]);
    }
    console.log(`${kind}: ${turns.kills} kills of ${ids.length} turns`);
    expect(turns.kills).toBeGreaterThanOrEqual(SOAK ? 100 : ids.length);
  },
);
