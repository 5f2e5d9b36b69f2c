import { Absurd } from "absurd-sdk";
import pg from "pg";
import { absurdSteps } from "#agent/steps/engine-steps";
import type { Json } from "#log/json/json-text";
import type { Lane, TaskInput } from "../agent/steps/lane.ts";

const NAME = "turn";
const LEASE_SECONDS = 120;

const quiet = { log: ignore, info: ignore, warn: ignore, error: ignore };

function ignore(): void {
  // What the engine says of attempts that fail is what the cases are about.
}

export interface QueueAddress {
  readonly url: string;
  readonly queue: string;
  /** What time it is there, where it is not now. */
  readonly now?: string;
}

/** The address of a queue: a worker's process opens the same. */
export function absurdAddress(queue: QueueAddress): string {
  return JSON.stringify(queue);
}

/** Absurd on a real PostgreSQL; the SQL is loaded by whoever starts the server. */
export async function openAbsurdLane(address: string): Promise<Lane> {
  const { url, queue, now } = JSON.parse(address) as QueueAddress;
  // Absurd takes the time from its database unless a session brings its own.
  const options = now === undefined ? {} : { options: `-c absurd.fake_now=${now}` };
  const pool = new pg.Pool({ connectionString: url, max: 4, ...options });
  pool.on("error", ignore);
  const app = (): Absurd => new Absurd({ db: pool, queueName: queue, log: quiet });
  const client = app();
  if (!(await client.listQueues()).includes(queue)) await client.createQueue();
  return {
    keeps: true,
    beats: true,
    async spawn(input, trigger) {
      const { taskID } = await client.spawn(NAME, input, {
        queue,
        maxAttempts: 100,
        retryStrategy: { kind: "none" },
        ...(trigger === undefined ? {} : { idempotencyKey: trigger }),
      });
      return taskID;
    },
    async attempt(run, leaseSeconds = LEASE_SECONDS) {
      const worker = app();
      worker.registerTask<TaskInput, Json>({ name: NAME, queue }, (input, context) =>
        run(absurdSteps(context), input),
      );
      // The poll that finds a lease over gives the task back to the queue; a later one takes it.
      for (let polls = 0; polls < 5; polls++) {
        const [task] = await worker.claimTasks({ claimTimeout: leaseSeconds, workerId: "lane" });
        if (task !== undefined) return worker.executeTask(task, leaseSeconds);
      }
      throw new Error("nothing is due");
    },
    async lapse(task) {
      await pool.query(
        `update absurd.r_${queue} set
           claim_expires_at = case when state = 'running' then now() - interval '1 hour' else claim_expires_at end,
           available_at = least(available_at, now())
         where task_id = $1`,
        [task],
      );
    },
    cancel: (task) => client.cancelTask(task),
    async forget() {
      await pool.query("select absurd.cleanup_tasks($1, 0)", [queue]);
    },
    async result(task) {
      const found = await client.fetchTaskResult(task);
      return found?.state === "completed" ? found.result : null;
    },
    async stored(task) {
      const { rows } = await pool.query<{ name: string; state: string }>(
        `select checkpoint_name as name, state::text from absurd.c_${queue} where task_id = $1 order by checkpoint_name`,
        [task],
      );
      return new Map(rows.map(({ name, state }) => [name, state]));
    },
    async replace(task, step, value) {
      await pool.query(
        `update absurd.c_${queue} set state = $3 where task_id = $1 and checkpoint_name = $2`,
        [task, step, JSON.stringify(value)],
      );
    },
    async [Symbol.asyncDispose]() {
      await pool.end();
    },
  };
}
