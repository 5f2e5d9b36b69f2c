import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { Agent } from "#agent/agent";
import { codingTools } from "#agent/tools/coding-tools";
import { composeEmail } from "#agent/tools/example-tools";
import { replay } from "#agent/replay/replay-models";
import type { ReplayAgent, ReplayEvent, ReplayOptions, ReplayResult } from "#agent/replay/replay-options";
import { Holdfast } from "#conversation/holdfast";
import type { Conversation } from "#conversation/conversation";
import { inMemoryStore } from "#stores/in-memory/index";
import type { Tool } from "#turn/effects/tool";
import { tempDir } from "../../support/temp-dir.ts";
import { ScriptedModel } from "../scripted-model.ts";

type Script = ConstructorParameters<typeof ScriptedModel>[0];

export const EMAIL = { to: "a@example.org", subject: "Done", body: "It is." };
export const call = (id: string, name: string, input: unknown): Script[number] => ({
  calls: [{ id, name, input }],
});

/** What the recorded agent did: look, write, run, and send. */
export const WORK: Script = [
  call("1", "read", { path: "notes.txt" }),
  call("2", "write", { path: "out.txt", content: "from the model" }),
  call("3", "shell", { command: "echo ran >> ran.txt" }),
  { text: "Prepared." },
  call("4", "ComposeEmail", EMAIL),
];

export interface ReplayRig {
  readonly holdfast: Holdfast;
  readonly original: Conversation;
  readonly folder: string;
  readonly tools: readonly Tool[];
  readonly events: ReplayEvent[];
  emails(): number;
  runs(): number;
  log(): Promise<string>;
  replay(script: Script, more?: Partial<ReplayOptions>): Promise<ReplayResult>;
}

/** A conversation that an agent with real effects has held, and its replays. */
export async function recorded(): Promise<ReplayRig> {
  const place = tempDir();
  onTestFinished(() => place[Symbol.dispose]());
  const folder = place.path;
  writeFileSync(join(folder, "notes.txt"), "remember the milk");
  const outbox = join(folder, "outbox.jsonl");
  const tools = [composeEmail({ outbox }), ...codingTools({ cwd: folder })];
  const holdfast = new Holdfast(inMemoryStore(), "default");
  const original = await holdfast.create({ id: "original", cwd: folder });
  const events: ReplayEvent[] = [];
  const agent: ReplayAgent = { tools, permission: () => "allow", instructions: false };
  await using first = new Agent(holdfast, { ...agent, model: new ScriptedModel(WORK) });
  await first.send(original, "Prepare it");
  await first.send(original, "Send it");
  const lines = (name: string): number =>
    existsSync(join(folder, name)) ? readFileSync(join(folder, name), "utf8").split("\n").length - 1 : 0;
  return {
    holdfast,
    original,
    folder,
    tools,
    events,
    emails: () => lines("outbox.jsonl"),
    runs: () => lines("ran.txt"),
    log: async () => (await Array.fromAsync(original.log())).map(({ payload }) => payload).join("\n"),
    replay: async (script, more = {}) => {
      const [result] = await replay(
        holdfast,
        { conversation: original.id },
        {
          models: [new ScriptedModel(script, "two")],
          agent,
          onEvent: (event) => void events.push(event),
          ...more,
        },
      );
      if (result === undefined) throw new Error("no result");
      return result;
    },
  };
}
