/**
 * An agent that does what it is told, in the ways real ones do it: it speaks the wire of the protocol as raw lines and
 * keeps its sessions in a folder. `node scripted-agent.ts FOLDER [--like NAME] [--caps load,resume,…] [--ask] [--release 0.25.3]`.
 */
import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { parseArgs } from "node:util";
import { ScriptedAgent } from "./agent.ts";
import { CAPS, FLAVOURS, LIKES } from "./flavours.ts";
import { nativeOf } from "./native.ts";
import { SessionFiles } from "./session-files.ts";
import { Wire } from "./wire.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    like: { type: "string" },
    caps: { type: "string" },
    ask: { type: "boolean" },
    release: { type: "string" },
  },
});
const [folder = "."] = positionals;
mkdirSync(folder, { recursive: true });
const like = LIKES.find((name) => name === values.like) ?? "plain";
const asked = values.caps?.split(",");
const caps = asked === undefined ? FLAVOURS[like].caps : CAPS.filter((cap) => asked.includes(cap));
const { info, messageIds } = FLAVOURS[like];
const { release = info.version } = values;
// Releases that were before message ids have none.
const flavour = {
  ...FLAVOURS[like],
  caps,
  info: { ...info, version: release },
  messageIds: messageIds && release === info.version,
};
const wire = new Wire(folder);
const files = new SessionFiles(folder, nativeOf(like, homedir()));
const agent = new ScriptedAgent({
  wire,
  files,
  flavour,
  folder,
  ask: values.ask === true,
  client: { wantsFailures: false },
});

await wire.read((message) => void agent.receive(message));

// Real ones leave when the host hangs up. Gemini stays a while, whatever it is told: its group has to be ended.
const LINGER_MS = 60_000;
if (like === "gemini") setTimeout(() => process.exit(0), LINGER_MS);
else process.exit(0);
