/**
 * A host that is handed an email: it starts a run for it in two conversations, and carries both, one with a prompt and one by
 * its seeds. Once both have come to one site it dies by SIGKILL, unless that is `none`.
 */
import { flushCompileCache } from "node:module";
import { Agent } from "#agent/agent";
import { Holdfast } from "#conversation/holdfast";
import { decorateStore } from "#store/decorate";
import { jsonlStore } from "#stores/jsonl/index";
import { sqliteStore } from "#stores/sqlite/index";
import { ScriptedModel } from "../scripted-model.ts";

const [kind = "", path = "", site = "none"] = process.argv.slice(2);
const never = new Promise<never>(() => undefined);
let reached = 0;

/** Whoever comes first waits for the other: nothing goes on behind the site. */
async function dieAt(here: string): Promise<void> {
  if (here !== site) return;
  if (++reached === 2) process.kill(process.pid, "SIGKILL");
  await never;
}

function siteOf(key: string | null, type: string | undefined): string {
  if (key?.startsWith("run/") === true) return "start";
  if (key?.startsWith("send/run/") === true) return "turn";
  return type ?? "";
}

flushCompileCache(); // it is written at exit, and this process may never get there
const bare = kind === "sqlite" ? await sqliteStore({ path }) : jsonlStore({ dir: path });
const store = decorateStore(bare, {
  verbs: (space) => ({
    append: async (request) => {
      const here = siteOf(request.key, request.drafts[0]?.draft.type);
      await dieAt(`${here}/before`);
      const written = await space.append(request);
      await dieAt(`${here}/after`);
      return written;
    },
  }),
});
await using holdfast = new Holdfast(store, "default", undefined, () => bare.close());
await using agent = new Agent(holdfast, {
  model: new ScriptedModel([{ text: "Paid." }, { text: "Paid." }, { text: "twice" }]),
  instructions: false,
});
const email = { type: "email", id: "mail-7" };
const seeds = [{ role: "user", content: "Is it paid?" }] as const;
const carried = await Promise.all(
  ["seeded", "prompted"].map(async (id) => {
    if (id === "seeded") {
      const { run } = await agent.startRun(id, email, { mailbox: "billing", seeds });
      return agent.carryRun(id, run);
    }
    const { run } = await agent.startRun(id, email, { mailbox: "billing" });
    return agent.send(id, "Is it paid?", { run });
  }),
);
process.stdout.write(JSON.stringify(carried.map(({ outcome, text }) => [outcome, text])));
