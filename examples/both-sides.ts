/* oxlint-disable no-console */
import { openHoldfast } from "../src/index.ts";
import { pieceBodies } from "../src/transfer/index.ts";

await using holdfast = await openHoldfast({ store: "memory:" });
const thread = await holdfast.create({ id: "thread-17" });

/** The body of a step: it returns what it returned before, and appends the same messages. */
async function agentLoopStep(task: string, checkpoint: string) {
  const appendedMessages = [{ role: "assistant", content: "Yes, it is paid." }]; // your model call and tools
  const key = `${task}/${checkpoint}`;
  await thread.append(await pieceBodies(thread, { key, messages: appendedMessages }), { key });
  return { appendedMessages, finishReason: "stop" };
}

await agentLoopStep("task-17", "agent-loop");
await agentLoopStep("task-17", "agent-loop"); // tried again: the same key writes nothing
console.log((await thread.context()).messages.length); // 1
