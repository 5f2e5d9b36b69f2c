import { setTimeout as sleep } from "node:timers/promises";
import type { Conversation } from "#conversation/conversation";
import { isLogError } from "#log/errors";

const LOOK_MS = 200;
const PROCESS = /\(process (\d+), /;

/** Waits for whoever has the conversation now; a process of this machine that is gone is not waited for. */
export async function whenFree<T>(
  conversation: Conversation,
  how: { readonly signal: AbortSignal; readonly onWait: (text: string) => void },
  work: () => Promise<T>,
): Promise<T> {
  for (let told = false; ; told = true) {
    try {
      return await work();
    } catch (error) {
      if (!isLogError(error, "busy") || how.signal.aborted) throw error;
      const { lease } = await conversation.head();
      if (!told) how.onWait(`Waiting for ${nameOf(lease?.writer)} to finish; Ctrl-C gives up.`);
      await sleep(LOOK_MS, undefined, { signal: how.signal }).catch(() => undefined);
    }
  }
}

function nameOf(writer: string | undefined): string {
  if (writer === undefined) return "another process";
  const [, pid] = PROCESS.exec(writer) ?? [];
  return pid === undefined ? writer : `process ${pid}`;
}
