/* oxlint-disable no-console */
import { openHoldfast, type EntryBody, type Message } from "../src/index.ts";
import { decodeEntry } from "../src/store/index.ts";

await using holdfast = await openHoldfast({ store: "memory:" });
const thread = await holdfast.create({ id: "thread-17", title: "Invoice 17" });

/** What the engine keeps of a step, in place of its messages. */
interface Pointer {
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly lastId: string;
}

/** One attempt at a task. The task's id is the same in every attempt. */
async function attempt(task: string, question: string): Promise<readonly Message[]> {
  // Only the latest attempt writes: an older one that comes back is refused ("fenced").
  await using owner = await thread.own({ writer: task, leaseMs: 30_000 });

  // A step is looked up before it runs. What it says is in the log before the engine hears of it.
  const step = async (name: string, run: () => Promise<readonly EntryBody[]>): Promise<Pointer> => {
    const key = `${task}/${name}`;
    return (await owner.findAppend(key)) ?? (await owner.append(await run(), { key }));
  };

  await step("run", async () => [
    { type: "run_start", run: task, trigger: "email", triggerId: "mail-17", mailbox: "billing" },
    { type: "message", id: `${task}-prompt`, message: { role: "user", content: text(question) } },
    { type: "turn_start", turn: task, run: task, prompt: `${task}-prompt` },
  ]);
  const pointer = await step("agent-loop", async () => [
    { type: "message", message: { role: "assistant", content: text(await askModel()) } },
    { type: "state_change", state: { invoice: 17 } },
  ]);
  await step("end", async () => [
    { type: "turn_end", turn: task, outcome: "completed" },
    { type: "run_end", run: task, status: "completed" },
  ]);
  return messagesAt(pointer);
}

/** The messages of a step, read by its pointer. */
async function messagesAt({ fromSeq, toSeq }: Pointer): Promise<readonly Message[]> {
  const messages: Message[] = [];
  for await (const stored of thread.log({ after: fromSeq - 1, types: ["message"] })) {
    if (stored.seq > toSeq) break;
    const entry = decodeEntry(stored);
    if (entry.type === "message") messages.push(entry.message);
  }
  return messages;
}

let calls = 0;
async function askModel(): Promise<string> {
  calls++;
  return "Yes, it is paid.";
}

function text(words: string): readonly [{ readonly type: "text"; readonly text: string }] {
  return [{ type: "text", text: words }];
}

const first = await attempt("task-17", "Is it paid?");
const again = await attempt("task-17", "Is it paid?"); // the worker died, or the queue delivered twice
console.log(calls, JSON.stringify(again) === JSON.stringify(first)); // 1 true

// History, by what began it; and all that one execution saw and said.
for await (const { run, trigger, status } of holdfast.runs({ mailbox: "billing" }))
  console.log(run, trigger.type, trigger.id, status); // task-17 email mail-17 completed
const { messages, state, totals } = await holdfast.hydrate("task-17");
console.log(messages.length, state, totals.steps); // 2 { invoice: 17 } 1

// A conversation that another one caused, without sharing its history.
const asked = await holdfast.create({ parent: "thread-17", title: "Asked on behalf of thread 17" });
console.log((await asked.head()).summary?.parent?.conversation); // thread-17
