/**
 * A worker's process of Absurd with a claim of one second and work that takes longer than two: a turn whose model is slow
 * (`turn`), or a plain step that tells nobody that it is at work (`plain`). With `default` its options are Absurd's own.
 */
import { Absurd, type WorkerOptions } from "absurd-sdk";
import pg from "pg";
import { Agent } from "#agent/agent";
import { absurdSteps, absurdWorkerOptions } from "#agent/steps/engine-steps";
import { Holdfast } from "#conversation/holdfast";
import { sqliteStore } from "#stores/sqlite/index";
import { ScriptedModel } from "../agent/scripted-model.ts";

const [address = "", path = "", work = "", options = ""] = process.argv.slice(2);
const { url, queue } = JSON.parse(address) as { readonly url: string; readonly queue: string };
const pool = new pg.Pool({ connectionString: url });
const app = new Absurd({ db: pool, queueName: queue });
const slow = (): Promise<void> => new Promise((done) => setTimeout(done, 2_600));
const store = await sqliteStore({ path });
const holdfast = new Holdfast(store, "default", undefined, () => store.close());
const done = Promise.withResolvers<void>();

app.registerTask<{ conversation: string; prompt: string }>(
  { name: "turn", queue },
  async (input, context) => {
    if (work === "plain") await context.step("slow", slow);
    else {
      const model = new ScriptedModel([() => ({ text: "At last.", until: slow() })]);
      const agent = new Agent(holdfast, { model, instructions: false });
      await agent.send(input.conversation, input.prompt, { steps: absurdSteps(context) });
    }
    done.resolve();
    return null;
  },
);
const own: WorkerOptions = { claimTimeout: 1, pollInterval: 0.05 };
const worker = await app.startWorker(options === "default" ? own : absurdWorkerOptions(own));
await done.promise;
await worker.close();
await holdfast[Symbol.asyncDispose]();
await pool.end();
