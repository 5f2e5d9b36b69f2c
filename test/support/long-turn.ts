/** A process with default options whose turn lasts until it is sent a line; it prints when it began and how it ended. */
import { once } from "node:events";
import { openHoldfast, Runtime } from "#index";
import { actingUpstream } from "./acting-upstream.ts";

const [address = "", id = ""] = process.argv.slice(2);
const upstream = actingUpstream(async function* () {
  console.log("begun");
  await once(process.stdin, "data");
  yield { type: "text", text: "Here I am." };
});
{
  await using holdfast = await openHoldfast({ store: address });
  await using runtime = new Runtime(holdfast, { upstreams: [upstream] });
  const { outcome } = await runtime.send(id, "take your time");
  console.log(outcome);
}
process.exit();
