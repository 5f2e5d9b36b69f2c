import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { defineWorkflow, OpenWorkflow, Worker } from "openworkflow";
import { BackendSqlite } from "openworkflow/sqlite";
import { openWorkflowSteps } from "#agent/steps/engine-steps";
import type { Attempt, Lane, TaskInput } from "./lane.ts";

const NAME = "turn";
const PAST = "2000-01-01T00:00:00.000Z";

/** OpenWorkflow as it comes from npm, in a SQLite file of its own beside the log's. */
export async function openOpenWorkflowLane(dir: string): Promise<Lane> {
  const path = join(dir, "workflows.db");
  const backend = BackendSqlite.connect(path);
  const tables = new DatabaseSync(path, { timeout: 5_000 });
  const workflowFor = (run: Attempt) =>
    defineWorkflow(
      { name: NAME, retryPolicy: { maximumAttempts: 100 } },
      async ({ input, step, run: about }) => run(openWorkflowSteps({ step, run: about }), input as TaskInput),
    );
  const client = new OpenWorkflow({ backend });
  return {
    keeps: true,
    beats: false,
    async spawn(input, trigger) {
      const { workflowRun } = await client.runWorkflow(
        { name: NAME },
        input,
        trigger === undefined ? {} : { idempotencyKey: trigger },
      );
      return workflowRun.id;
    },
    async attempt(run) {
      const worker = new Worker({ backend, workflows: [workflowFor(run)] });
      if ((await worker.tick()) === 0) throw new Error("nothing is due");
      await worker.stop();
    },
    // Its lease is thirty seconds and cannot be told otherwise: the row is moved instead of waiting.
    async lapse(task) {
      tables
        .prepare("UPDATE workflow_runs SET available_at = ? WHERE id = ? AND available_at IS NOT NULL")
        .run(PAST, task);
    },
    async cancel(task) {
      await backend.cancelWorkflowRun({ workflowRunId: task });
    },
    // It keeps what is done for ever: whoever cleans up deletes rows.
    async forget(task) {
      tables.prepare("DELETE FROM step_attempts WHERE workflow_run_id = ?").run(task);
      tables.prepare("DELETE FROM workflow_runs WHERE id = ?").run(task);
    },
    async result(task) {
      const run = await backend.getWorkflowRun({ workflowRunId: task });
      return run?.status === "completed" ? run.output : null;
    },
    async stored(task) {
      const rows = tables
        .prepare(
          "SELECT step_name AS name, output FROM step_attempts WHERE workflow_run_id = ? AND status = 'completed' ORDER BY created_at",
        )
        .all(task) as { name: string; output: string }[];
      return new Map(rows.map(({ name, output }) => [name, output]));
    },
    async replace(task, step, value) {
      tables
        .prepare(
          "UPDATE step_attempts SET output = ? WHERE workflow_run_id = ? AND step_name = ? AND status = 'completed'",
        )
        .run(JSON.stringify(value), task, step);
    },
    async [Symbol.asyncDispose]() {
      tables.close();
      await backend.stop();
    },
  };
}
