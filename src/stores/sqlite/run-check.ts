import { Worker } from "node:worker_threads";
import { THREAD_FLAGS } from "#stores/sqlite/thread/messages";
import { LogError } from "#log/errors";
import type { SpaceId } from "#log/ids";
import type { Finding } from "#store/requests";
import { fromWire, type WireError } from "./sqlite-errors.ts";

export interface CheckTask {
  readonly path: string;
  readonly readOnly: boolean;
  readonly space: SpaceId;
}

export type CheckReport =
  | { readonly kind: "progress"; readonly done: number; readonly total: number }
  | { readonly kind: "findings"; readonly findings: readonly Finding[] }
  | { readonly kind: "failed"; readonly error: WireError };

/** Looks at every byte of the file and every entry of a space, in a thread of its own: that takes as long as it takes. */
export async function runCheck(
  task: CheckTask,
  onProgress: ((done: number, total: number) => void) | undefined,
): Promise<readonly Finding[]> {
  const file = import.meta.url.endsWith(".ts") ? "./checker.ts" : "./checker.js";
  const worker = new Worker(new URL(file, import.meta.url), {
    workerData: task,
    name: "holdfast-check",
    execArgv: THREAD_FLAGS,
  });
  const { promise, resolve, reject } = Promise.withResolvers<readonly Finding[]>();
  worker.on("message", (report: CheckReport) => {
    if (report.kind === "progress") onProgress?.(report.done, report.total);
    else if (report.kind === "findings") resolve(report.findings);
    else reject(fromWire(report.error));
  });
  worker.on("error", reject);
  worker.on("exit", () =>
    reject(new LogError("store_failed", `The check of ${task.path} ended early`, { path: task.path })),
  );
  return promise;
}
