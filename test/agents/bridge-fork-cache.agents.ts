/** What a native fork saves: the model has read the whole history before, and need not read it again. */
import { describe, expect, test } from "vitest";
import { talk } from "./agent-rig.ts";
import { type BridgeRig, bridgeRig } from "./bridge-rig.ts";
import { at, textAt } from "./json.ts";

const TURNS = 12;
const WORDS = "a long thought about the shape of things and how they hang together ".repeat(40);

/** What the model counted of the last request: read from its cache, and read anew. */
function counted(rig: BridgeRig): { readonly cached: number; readonly anew: number } {
  const { fresh = 0, read = 0, written = 0 } = rig.model.requests().at(-1)?.reply.counted ?? {};
  return { cached: read, anew: fresh + written };
}

async function forked(
  rig: BridgeRig,
  sessionId: string,
  how: "native" | "copied",
): Promise<ReturnType<typeof counted>> {
  const host = rig.hosts.at(-1);
  if (host === undefined) throw new Error("There is no host");
  // A fork at a message is no fork for the agent: it begins anew and is told.
  const holdfast = how === "native" ? {} : { at: await lastReply(rig, sessionId) };
  const params = { sessionId, cwd: rig.home.project, mcpServers: [], _meta: { holdfast } };
  const { result } = await host.ask("session/fork", params);
  const fidelity = textAt(result, "_meta", "holdfast", "fidelity");
  if (how === "native") expect(fidelity).toBe("native");
  else expect(fidelity).not.toBe("native");
  const branch = talk(host, textAt(result, "sessionId"));
  expect((await branch.prompt("what is color?")).said).toContain("color is blue");
  return counted(rig);
}

/** The reply before the last, so that the agent's own session cannot be forked there. */
async function lastReply(rig: BridgeRig, sessionId: string): Promise<string> {
  const replies = (await rig.log(sessionId)).filter((entry) => at(entry, "message", "role") === "assistant");
  return textAt(replies.at(-2), "id");
}

describe.each(["claude", "codex"] as const)("%s behind the bridge", (agent) => {
  test("a native fork has its history read from the cache, a copied one has it read anew", async () => {
    await using rig = await bridgeRig({ agents: [agent] });
    const source = await rig.open();
    await source.prompt("remember color=blue");
    for (let turn = 0; turn < TURNS; turn++) await source.prompt(`${turn}: ${WORDS}`);
    const native = await forked(rig, source.sessionId, "native");
    const copied = await forked(rig, source.sessionId, "copied");
    const tokens = (TURNS * WORDS.length) / 4;
    console.log(
      `${agent}: native fork ${native.cached} cached, ${native.anew} anew; copied ${copied.cached} cached, ${copied.anew} anew`,
    );
    expect(native.anew).toBeLessThan(tokens / 10);
    expect(copied.anew).toBeGreaterThan(native.anew * 5);
  });
});
