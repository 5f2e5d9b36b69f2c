/**
 * Every operation through the library, the command line and HTTP: the same answer, the same log, and the same error in the same
 * sentence. Each way has a space of its own with the same conversations in it.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "#conversation/clock";
import { Agent } from "#agent/agent";
import type { Holdfast } from "#conversation/holdfast";
import type { Skills } from "#agent/skills/skills";
import { ownSkills } from "#edges/cli/chat/own-skills";
import { ApiError, type Client } from "#edges/http/client/index";
import { AuditLog } from "#edges/http/access/audit-log";
import { RunningReplays } from "#edges/http/replays/running-replays";
import { CancelRequests } from "#edges/http/turns/cancel-requests";
import { RunningTurns } from "#edges/http/turns/running-turns";
import { isLogError } from "#log/errors";
import { type AnyOperation, Download, type Operation, perform, valueOf } from "#operations/operation";
import type { TurnBegun } from "#operations/turns";
import { LOCAL_OPERATIONS, OPERATION_LIST, OPERATIONS } from "#operations/table";
import { tempDir } from "../support/temp-dir.ts";
import { ScriptedModel } from "../agent/scripted-model.ts";
import { holdfastHere } from "../edges/cli/cli-here.ts";
import { jsonLines } from "../edges/cli/cli-run.ts";
import { serve, type Served } from "../edges/http/served.ts";
import type { Case } from "./case.ts";
import { CASES } from "./cases.ts";
import { seed } from "./seeded-space.ts";

const AGENTS = {
  scripted: {
    open: (holdfast: Holdfast): Agent =>
      new Agent(holdfast, { model: new ScriptedModel([]), instructions: false }),
  },
};

const REPLAYS = { models: ["sim"], agent: () => ({ instructions: false }) };

const TURN_MS = 10_000; // the library waits so long for a turn to end

type Outcome =
  | { readonly output: object }
  | { readonly error: { readonly code: string; readonly message: string } };

/** All cases on a store of this kind; `store` names one that three connections can open. */
export function sameEverywhere(kind: string, store: () => string): void {
  describe(`on ${kind}`, () => {
    let served: Served;
    const home = tempDir();
    beforeAll(async () => {
      const folder = join(home.path, ".agents/skills/tidy");
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, "SKILL.md"), "---\nname: tidy\ndescription: Tidies up.\n---\nTidy up.\n");
      served = await serve({ store: store(), agents: AGENTS, replays: REPLAYS, skills: skillsOf(home.path) });
    });
    afterAll(async () => {
      await served[Symbol.asyncDispose]();
      home[Symbol.dispose]();
    });

    test.each(CASES)("$operation $name", async (one) => {
      const ways = await Promise.all(
        (["library", "http", "cli"] as const).map(async (way) => {
          if (way === "cli" ? one.argv === undefined : way === "http" && isLocal(one)) return null;
          const holdfast = served.holdfast.inSpace(`${way}-${CASES.indexOf(one)}`);
          await seed(holdfast, one);
          const outcome = await WAYS[way](one, { served, holdfast, store: store(), home: home.path });
          return { outcome: normal(outcome, holdfast), logs: normal(await logsOf(holdfast), holdfast) };
        }),
      );
      const [library, http, cli] = ways;
      expect(library?.outcome).toEqual(
        one.fails === undefined
          ? { output: expect.anything() }
          : { error: { code: one.fails, message: expect.any(String) } },
      );
      // Over HTTP nobody learns which process of the machine is at work.
      if (isLocal(one)) expect(http).toBeNull();
      else if (one.fails !== "busy") expect(http).toEqual(library);
      else expect(http).toMatchObject({ outcome: { error: { code: one.fails } }, logs: library?.logs });
      // --json adds fields of its own and drops none.
      if (cli !== null && cli !== undefined) expect(cli).toMatchObject(library ?? {});
    });
  });

  test("every operation has a case that succeeds, one that fails where it takes anything, and a command line where it is a command", () => {
    const names = (cases: readonly Case[]): ReadonlySet<string> =>
      new Set(cases.map(({ operation }) => operation));
    const [good, bad] = [
      CASES.filter(({ fails }) => fails === undefined),
      CASES.filter(({ fails }) => fails !== undefined),
    ];
    const typed = names(CASES.filter(({ argv }) => argv !== undefined));
    for (const [name, { cli, input }] of [...OPERATION_LIST, ...Object.entries(LOCAL_OPERATIONS)])
      expect([
        name,
        names(good).has(name),
        names(bad).has(name) || Object.keys(input).length === 0,
        typed.has(name) || cli === undefined,
      ]).toEqual([name, true, true, true]);
  });
}

function isLocal({ operation }: Case): boolean {
  return Object.hasOwn(LOCAL_OPERATIONS, operation);
}

interface Place {
  readonly served: Served;
  readonly holdfast: Holdfast;
  readonly store: string;
  /** Of the person: skills lie in it. */
  readonly home: string;
}

function skillsOf(home: string): Skills {
  return ownSkills({ HOME: home });
}

type Way = (one: Case, place: Place) => Promise<Outcome>;

const WAYS: { readonly [way in "library" | "http" | "cli"]: Way } = {
  async library({ operation, input, key }, { holdfast, home }) {
    const turns = new RunningTurns(AGENTS, new CancelRequests(holdfast), () => undefined);
    try {
      const row = { ...OPERATIONS, ...LOCAL_OPERATIONS }[operation] as AnyOperation as Operation;
      const skills = skillsOf(home);
      const audit = new AuditLog(holdfast);
      const replays = new RunningReplays(REPLAYS, () => undefined);
      const context = { holdfast, clock: systemClock, key, turns, skills, audit, replays, caller: "admin" };
      const output = await perform(row, input, context);
      if (output instanceof Download) return { output: { text: await textOf(output) } };
      const { schemaVersion: _, ...value } = valueOf(output) as { readonly schemaVersion?: number };
      return { output: JSON.parse(JSON.stringify(value)) as object };
    } catch (error) {
      if (!isLogError(error)) throw error;
      return { error: { code: error.code, message: error.message } };
    } finally {
      await turns.drain(TURN_MS);
    }
  },

  async http({ operation, input, key }, { served, holdfast }) {
    const client = served.client(await served.token("admin", holdfast.spaceId));
    try {
      const call = (client as object as Record<Case["operation"], AnyCall>)[operation];
      const answer = await call(input, key === undefined ? {} : { key });
      if (answer instanceof Uint8Array) return { output: { text: Buffer.from(answer).toString() } };
      const { schemaVersion: _, ...output } = answer;
      await turnEnded(client, output);
      return { output };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { error: { code: error.code, message: error.message } };
    }
  },

  async cli({ argv = [], stdin = "", rows, bytes, key }, { store, holdfast, home }) {
    const args = [
      "--space",
      holdfast.spaceId,
      ...argv,
      ...(key === undefined ? [] : ["--key", key]),
      "--json",
    ];
    const { out, err, status } = await holdfastHere(store, args, { input: stdin, env: { HOME: home } });
    if (status !== 0) {
      const [{ error }] = jsonLines(err) as unknown as readonly [
        { readonly error: { readonly code: string; readonly message: string } },
      ];
      return { error: { code: error.code, message: error.message } };
    }
    if (bytes === true) return { output: { text: out } };
    const printed = jsonLines(out).map(({ schemaVersion: _, ...line }: { schemaVersion?: number }) => line);
    return { output: rows === undefined ? (printed[0] ?? {}) : { [rows]: printed, next: null } }; // a command prints all pages
  },
};

/** Reads the events of the turn that an answer names, to their end. */
async function turnEnded(client: Client, output: object): Promise<void> {
  const { turn } = output as { readonly turn?: string | TurnBegun | null };
  if (turn === undefined || turn === null) return;
  for await (const _ of client.turnEvents(typeof turn === "string" ? (output as TurnBegun) : turn));
}

async function textOf({ bytes }: Download): Promise<string> {
  if (bytes instanceof Uint8Array) return Buffer.from(bytes).toString();
  return Buffer.concat(await Array.fromAsync(bytes)).toString();
}

type AnyCall = (input: object, options: object) => Promise<{ readonly schemaVersion?: number }>;

/** What each conversation of the space says after the act. */
async function logsOf(holdfast: Holdfast): Promise<object> {
  const logs: Record<string, unknown> = {};
  for await (const { conversation } of holdfast.list()) {
    const entries: unknown[] = [];
    for await (const entry of holdfast.handle(conversation).log())
      entries.push([entry.type, JSON.parse(entry.payload)]);
    logs[conversation] = entries;
  }
  return logs;
}

/** Ids that are made, times and the name of the space differ between any two. */
function normal<T>(value: T, { spaceId }: Holdfast): T {
  const text = JSON.stringify(value)
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "ID")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replaceAll(/\b[0-9a-f]{64}\b/g, "DIGEST")
    .replaceAll(/in \d+ ms/g, "in N ms")
    .replaceAll(/"by":"admin-\d+"/g, '"by":"admin"')
    .replaceAll(/"score":[\d.]+/g, '"score":1')
    .replaceAll(/"untilMs":\d+/g, '"untilMs":0')
    .replaceAll(`"${spaceId}"`, '"SPACE"');
  return JSON.parse(text) as T;
}
