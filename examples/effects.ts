/* oxlint-disable no-console */
import { assistant, openHoldfast, runEffects, type Tool, user } from "../src/index.ts";

await using holdfast = await openHoldfast({ store: "memory:" });
const chat = await holdfast.create({ title: "Invoices" });
const sent: string[] = [];

const sendEmail: Tool = {
  name: "send_email",
  // Undeclared, or `replay: "never"`: it is started at most once, whatever fails.
  async run(input, { idempotencyKey }) {
    sent.push(`${JSON.stringify(input)} ${idempotencyKey}`); // give the key to a service that knows such keys
    return "sent";
  },
};

/** One turn of a loop of your own. It may be run again after a crash, with the same job, as often as you like. */
async function turn(job: string): Promise<string> {
  await using owner = await chat.own({ writer: "worker-1", leaseMs: 30_000 });
  const [id, input] = ["c1", { to: "bob" }] as const; // as the model asked for it
  // The turn's id comes from the work, not from chance: only so a second run is known to be the same.
  await owner.append(
    [user("Send Bob his invoice"), assistant([{ type: "toolCall", id, name: "send_email", input }])],
    { key: `${job}/asked` },
  );
  const signal = AbortSignal.timeout(60_000);
  const [outcome] = await runEffects(owner, job, { calls: [{ id, input, tool: sendEmail }], signal });
  if (outcome === undefined || outcome.state !== "unknown") return outcome?.state ?? "nothing to do";
  return "unknown: started once, and nobody knows how it ended. Look at the outbox before anyone sends it again.";
}

console.log(await turn("invoice-7"));
console.log(await turn("invoice-7"), "again, and sent", sent.length, "time");
