/**
 * A worker's process: it opens an engine and a log, makes one attempt at the task that is due, and dies by SIGKILL at one
 * point of it, unless that is `none`. What it does in the world it writes into a journal.
 */
import { appendFileSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { Agent } from "#agent/agent";
import { Holdfast } from "#conversation/holdfast";
import { decorateStore } from "#store/decorate";
import { openStore } from "#open";
import { ScriptedModel } from "../scripted-model.ts";
import { openDirectLane } from "./direct-lane.ts";
import type { OpenLane } from "./lane.ts";
import { openOpenWorkflowLane } from "./open-workflow-lane.ts";

const [kind = "", address = "", log = "", journal = "", site = "none"] = process.argv.slice(2);

const LANES: { readonly [kind: string]: () => Promise<OpenLane> } = {
  direct: async () => openDirectLane,
  openworkflow: async () => openOpenWorkflowLane,
  absurd: async () => (await import("../../absurd/absurd-lane.ts")).openAbsurdLane,
};

function dieAt(here: string): void {
  if (here === site) process.kill(process.pid, "SIGKILL");
}

function note(what: string): void {
  appendFileSync(journal, `${what}\n`, { flush: true });
}

/** Where the conversation is, is told by what it is asked. */
const model = new ScriptedModel(
  Array.from({ length: 8 }, () => ({ prompt }: { readonly prompt: readonly { readonly role: string }[] }) => {
    const answer = prompt.some(({ role }) => role === "tool") ? 2 : 1;
    note(`ask ${answer}`);
    dieAt(`ask ${answer}`);
    return answer === 2
      ? { text: "It is sent." }
      : { text: "Writing.", calls: [{ id: "m1", name: "mail", input: { to: "bob" } }] };
  }),
);

flushCompileCache(); // it is written at exit, and this process may never get there
const bare = await openStore(log);
const store = decorateStore(bare, {
  verbs: (space) => ({
    append: async (request) => {
      const written = await space.append(request);
      const [, step = ""] = /turn:v1\/c\/(\d(?:\/prompt)?)$/.exec(request.key ?? "") ?? [];
      dieAt(`append ${step}`);
      return written;
    },
  }),
});
await using holdfast = new Holdfast(store, "default", undefined, () => bare.close());
const agent = new Agent(holdfast, {
  model,
  permission: () => "allow",
  instructions: false,
  tools: [
    {
      name: "mail",
      run: async () => {
        note("act");
        dieAt("act");
        return "sent";
      },
    },
  ],
});
const open = await LANES[kind]?.();
await using lane = await open?.(address);
await lane?.attempt(async (steps, { conversation, prompt }) => {
  const { outcome, text, usage } = await agent.send(conversation, prompt, { steps });
  return { outcome, text, usage: { ...usage } };
});
