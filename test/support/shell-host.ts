/**
 * A process whose agent runs a command of the shell in its turn and tells what the command says, until it is killed.
 * `settle` instead of a command: the next life, which settles what the first one left and asks once more.
 */
import { writeSync } from "node:fs";
import { openHoldfast, Runtime } from "#index";
import { codingTools } from "#agent/index";
import { actingUpstream } from "./acting-upstream.ts";

const [address = "", cwd = "", chat = "", command = ""] = process.argv.slice(2);
const shell = codingTools({ cwd }).find(({ name }) => name === "shell");
if (shell === undefined) throw new Error("no shell");
const told: typeof shell = {
  ...shell,
  run: (input, call) => {
    const progress = (text: string): void => void writeSync(1, text);
    return shell.run(input, { ...call, progress });
  },
};

const upstream = actingUpstream(async function* ({ runEffects }) {
  if (command !== "settle") await runEffects([{ id: "c0", input: { command }, tool: told }], { step: 0 });
  yield { type: "text", text: "It is done." };
});
await using holdfast = await openHoldfast({ store: address });
await using runtime = new Runtime(holdfast, { upstreams: [upstream] });
const { outcome } = await runtime.send(chat, "go on");
writeSync(1, `${outcome}\n`);
