import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { directSteps } from "#agent/steps/engine-steps";
import type { Json } from "#log/json/json-text";
import type { Lane, TaskInput } from "./lane.ts";

type Tasks = { [task: string]: { input: TaskInput; trigger?: string; result: Json | null } };

/** No engine: a list of tasks in a file, and whoever likes makes an attempt. */
export async function openDirectLane(dir: string): Promise<Lane> {
  const file = join(dir, "tasks.json");
  const read = (): Tasks => (existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Tasks) : {});
  const change = (with_: (tasks: Tasks) => void): void => {
    const tasks = read();
    with_(tasks);
    writeFileSync(file, JSON.stringify(tasks));
  };
  return {
    keeps: false,
    beats: false,
    async spawn(input, trigger) {
      const known = Object.entries(read()).find(
        ([, task]) => trigger !== undefined && task.trigger === trigger,
      );
      if (known !== undefined) return known[0];
      const task = randomUUID();
      change((tasks) => {
        tasks[task] = { input, result: null, ...(trigger === undefined ? {} : { trigger }) };
      });
      return task;
    },
    async attempt(run) {
      const due = Object.entries(read()).find(([, { result }]) => result === null);
      if (due === undefined) throw new Error("nothing is due");
      const [task, { input }] = due;
      const result = await run(directSteps(task), input).catch(() => null);
      if (result !== null)
        change((tasks) => {
          const known = tasks[task];
          if (known !== undefined) known.result = result;
        });
    },
    async lapse() {},
    async cancel(task) {
      change((tasks) => void delete tasks[task]);
    },
    async forget(task) {
      change((tasks) => void delete tasks[task]);
    },
    result: async (task) => read()[task]?.result ?? null,
    stored: async () => new Map(),
    async replace() {},
    async [Symbol.asyncDispose]() {},
  };
}
