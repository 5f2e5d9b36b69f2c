/**
 * A process that appends batches until it kills itself with SIGKILL in the middle of its work.
 * Each batch has three entries named after it; a line on stdout acknowledges a batch once it is durable.
 */
import { writeSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { openHoldfast } from "#open";

const [address = "", seedText = "0", conversationsText = "1"] = process.argv.slice(2);
// Spread out: what it draws first would else be nearly the same for seeds that follow each other.
let state = Math.imul(Number(seedText) + 1, 2_654_435_761) >>> 0;

/** A small generator, so that a failing seed fails again. */
function random(limit: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * limit);
}

flushCompileCache(); // it is written at exit, and this process never gets there
const holdfast = await openHoldfast({ store: address });
const conversations = await Promise.all(
  Array.from({ length: Number(conversationsText) }, (_, n) => holdfast.conversation(`kill-${n}`)),
);
const lastBatch = 1 + random(12);
let batch = 0;

async function write(lane: number): Promise<void> {
  for (;;) {
    const conversation = conversations[lane];
    if (conversation === undefined) return;
    const name = `s${seedText}-l${lane}-b${batch++}`;
    const bodies = [0, 1, 2].map(
      (part) =>
        ({
          type: "custom",
          customType: "batch",
          data: { name, part, pad: "x".repeat(random(3_000)) },
        }) as const,
    );
    const done = conversation.append(bodies);
    if (batch >= lastBatch) {
      for (let spin = random(300_000); spin > 0; spin--) state ^= spin;
      if (random(2) === 0) await Promise.race([done, new Promise((resolve) => setImmediate(resolve))]);
      process.kill(process.pid, "SIGKILL");
    }
    await done;
    writeSync(1, `${name}\n`);
  }
}

await Promise.all(conversations.map((_, lane) => write(lane)));
