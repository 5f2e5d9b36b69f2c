/**
 * A process whose agent lives in it and sends an email in each of some conversations. It dies by SIGKILL around the act
 * of one of them: just before it, just after it, or once it was told of; where the others are then is left to chance.
 * `retry` instead of a moment: the next life, which asks for each prompt again and tells what came of it.
 */
import { appendFileSync, writeSync } from "node:fs";
import { isLogError, openHoldfast, Runtime } from "#index";
import type { Upstream } from "#index";
import { actingUpstream, EMAIL } from "./acting-upstream.ts";

const [address = "", outbox = "", moment = "", doomed = "", ...ids] = process.argv.slice(2);

const upstream: Upstream = actingUpstream(async function* ({ settings: { conversation } }) {
  const dieAt = (here: string): void => {
    if (moment === here && conversation === doomed) process.kill(process.pid, "SIGKILL");
  };
  yield { ...EMAIL, state: "started" };
  dieAt("before");
  appendFileSync(outbox, `${conversation}\n`, { flush: true });
  dieAt("after");
  yield { ...EMAIL, state: "done", output: "sent" };
  dieAt("told");
  yield { type: "text", text: "It is sent." };
});
await using holdfast = await openHoldfast({ store: address });
await using runtime = new Runtime(holdfast, { upstreams: [upstream] });
const host = { onEvent: (): void => undefined };

async function retried(id: string): Promise<string> {
  try {
    return (await runtime.retry(id, host)).outcome;
  } catch (error) {
    return isLogError(error) ? error.code : String(error);
  }
}

if (moment === "retry") {
  for (const id of ids) {
    const came = await retried(id);
    const states = (await (await holdfast.conversation(id)).effects()).map((effect) => effect.state);
    writeSync(1, `${JSON.stringify([id, came, ...states])}\n`);
  }
} else await Promise.all(ids.map((id) => runtime.send(id, "email bob", host)));
