/** Images and files in a prompt: kept once, as bytes, and whole again for whoever is to see them. */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openKillable } from "../bridge.ts";
import { type Fields, fieldsOf } from "../../../support/scripted-agent/wire.ts";

const PICTURE = randomBytes(3_000).toString("base64");
const FILE = randomBytes(3_000).toString("base64");

const BLOCKS: readonly Fields[] = [
  { type: "image", data: PICTURE, mimeType: "image/png", uri: "file:///shot.png" },
  { type: "resource", resource: { uri: "file:///a.bin", blob: FILE, mimeType: "application/octet-stream" } },
  { type: "text", text: "say seen" },
];

test.each([
  ["as it came from the host", BLOCKS],
  [
    "in the log's own words",
    [
      { type: "image", data: PICTURE, mimeType: "image/png" },
      { type: "text", text: "say seen" },
    ],
  ],
] as const)(
  "a prompt with an image, kept %s, has its bytes once and shows them again",
  async (_how, prompt) => {
    await using bridge = await openKillable({ like: "codex", args: ["--silence", "0"] });
    const { host, agent, dir } = bridge;
    const sessionId = await host.newSession();
    await host.call("session/prompt", { sessionId, prompt });
    expect(agent.of("session/prompt").at(-1)?.params["prompt"]).toEqual(prompt);
    const [said] = await bridge.entries(sessionId, "message");
    const content = fieldsOf(said?.["message"])["content"] as readonly Fields[];
    expect(content[0]).toEqual({ type: "image", mediaType: "image/png", blob: expect.any(String) });
    const stored = ["h.db", "h.db-wal"]
      .map((name) => join(dir, name))
      .filter((path) => existsSync(path))
      .map((path) => readFileSync(path));
    expect(stored.some((bytes) => bytes.includes(PICTURE) || bytes.includes(FILE))).toBe(false);
    await host.restart();
    const from = host.messages.length;
    expect((await host.load(sessionId)).error).toBeNull();
    const shown = host
      .updates(sessionId, from)
      .filter((update) => update["sessionUpdate"] === "user_message_chunk")
      .map((update) => update["content"]);
    expect(shown).toEqual(prompt);
  },
);

test("a session that is made anew from the log has the image", async () => {
  await using bridge = await openKillable({ like: "claude" });
  const { host, agent } = bridge;
  const sessionId = await host.newSession();
  const image = { type: "image", data: PICTURE, mimeType: "image/png" };
  await host.call("session/prompt", { sessionId, prompt: [image, { type: "text", text: "say seen" }] });
  const [first] = await bridge.chain(sessionId);
  await host.restart();
  agent.lose(first?.id ?? "");
  await host.load(sessionId);
  const last = (await bridge.chain(sessionId)).at(-1)?.id ?? "";
  expect(last).not.toBe(first?.id);
  expect(readFileSync(agent.transcript(last) ?? "", "utf8")).toContain(PICTURE);
});

test("base64 that could not be made again from its bytes stays as it was written", async () => {
  await using bridge = await openKillable({ like: "codex" });
  const { host } = bridge;
  const sessionId = await host.newSession();
  const odd = { type: "image", data: "aGk", mimeType: "image/png" };
  await host.call("session/prompt", { sessionId, prompt: [odd, { type: "text", text: "say seen" }] });
  await host.restart();
  const from = host.messages.length;
  await host.load(sessionId);
  expect(host.updates(sessionId, from).map((update) => update["content"])).toContainEqual(odd);
});
