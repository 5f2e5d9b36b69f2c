/**
 * Byte for byte: whatever an agent or a host writes arrives as it was written, but for the session where a line says
 * whom it concerns, and the id of a request. Fuzzed lines go through a real bridge, both ways.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openKillable, type Bridge } from "../bridge.ts";
import { ADDRESS, fixed, IN_TEXT, oddJson, oddMember, oddObject } from "../odd-json.ts";
import { fieldsOf } from "../../../support/scripted-agent/wire.ts";

const RUNS = { numRuns: 60 };

const address = oddMember("sessionId", fixed(`"${ADDRESS}"`));
const version = oddMember("jsonrpc", fixed('"2.0"'));

function updateLine(kind: string, members: readonly fc.Arbitrary<string>[]): fc.Arbitrary<string> {
  const update = oddObject([oddMember("sessionUpdate", fixed(`"${kind}"`)), ...members]);
  const params = oddObject([address, oddMember("update", update), oddMember("x_beside", oddJson)]);
  return oddObject([
    version,
    oddMember("method", fixed('"session/update"')),
    oddMember("params", params),
    oddMember("x_odd", oddJson),
  ]);
}

const text = oddMember(
  "content",
  oddObject([
    oddMember("type", fixed('"text"')),
    oddMember("text", fixed(`"in ${IN_TEXT}"`)),
    oddMember("_meta", oddObject([oddMember("v", oddJson)])),
  ]),
);

const fromAgent = fc.oneof(
  updateLine("x_future", [oddMember("payload", oddJson)]),
  updateLine("agent_message_chunk", [text, oddMember("x", oddJson)]),
  updateLine("agent_thought_chunk", [text, oddMember("x", oddJson)]),
  updateLine("tool_call", [
    oddMember("toolCallId", fixed('"t1"')),
    oddMember("title", fixed(`"cat ${IN_TEXT}"`)),
    oddMember("status", fixed('"pending"')),
    oddMember("locations", fixed(`[{"path":"/home/${IN_TEXT}.jsonl"}]`)),
    oddMember("rawInput", oddJson),
  ]),
  updateLine("tool_call_update", [
    oddMember("toolCallId", fixed('"t1"')),
    oddMember("status", fixed('"completed"')),
    oddMember("rawOutput", oddJson),
  ]),
  oddObject([
    version,
    oddMember("method", fixed('"_vendor/notify"')),
    oddMember("params", oddObject([address, oddMember("payload", oddJson)])),
  ]),
);

/** What of the host's wire came between these, without the order's own answer. */
function receivedSince(bridge: Bridge, from: number): readonly string[] {
  return bridge.host.lines
    .slice(from)
    .map((line) => line.toString("utf8"))
    .filter((line) => !/"Raw \d+\."/.test(line) && !/"stopReason"/.test(line));
}

describe("from the agent to the host", () => {
  test("every line arrives as it was written, with the conversation's id as its address and nowhere else", async () => {
    await using bridge = await openKillable({ like: "plain" });
    const { host, agent } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "say first");
    const [upstream = ""] = agent.ids();
    const all = fc.array(fromAgent, { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(all, async (lines) => {
        const raw = lines.map((line) => line.replaceAll(ADDRESS, IN_TEXT)).join("\n");
        const from = host.lines.length;
        await host.prompt(id, `raw ${Buffer.from(raw).toString("base64")}`);
        const wanted = lines.map((line) => line.replaceAll(ADDRESS, id).replaceAll(IN_TEXT, upstream));
        expect(receivedSince(bridge, from)).toEqual(wanted);
      }),
      RUNS,
    );
    expect(agent.pids()).toHaveLength(1);
    expect(await bridge.chain(id)).toHaveLength(1);
  });

  test("a line of some megabytes arrives whole, wherever the pipe cuts it", async () => {
    await using bridge = await openKillable({ like: "plain" });
    const { host } = bridge;
    const id = await host.newSession();
    const long = "é😀".repeat(400_000);
    const line = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${ADDRESS}","update":{"sessionUpdate":"x_long","text":"${long}"}}}`;
    const from = host.lines.length;
    await host.prompt(id, `raw ${Buffer.from(line.replace(ADDRESS, IN_TEXT)).toString("base64")}`);
    expect(receivedSince(bridge, from)).toEqual([line.replace(ADDRESS, id)]);
  });

  test("the places where an upstream id is an address are all rewritten", async () => {
    await using bridge = await openKillable({ like: "claude" });
    const { host } = bridge;
    const id = await host.newSession();
    const update = (body: string): string =>
      `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${IN_TEXT}","update":${body}}}`;
    const lines = [
      update(
        `{"sessionUpdate":"session_info_update","_meta":{"jetbrains":{"air":{"sessionFailure":{"id":"${IN_TEXT}","severity":"warning","category":"limit"}}}}}`,
      ),
    ];
    await host.prompt(id, `raw ${Buffer.from(lines.join("\n")).toString("base64")}`);
    expect(bridge.leaks()).toEqual([]);
    expect(host.bytes().includes(`"sessionFailure":{"id":"${id}"`)).toBe(true);
  });
});

const fromHost = oddObject([
  version,
  oddMember("id", fixed("@ID@")),
  oddMember("method", fixed('"_vendor/fuzz"')),
  oddMember("params", oddObject([address, oddMember("payload", oddJson)])),
  oddMember("x_odd", oddJson),
]);

describe("from the host to the agent", () => {
  test("a request that nobody knows arrives as it was written, but for its id and its address", async () => {
    await using bridge = await openKillable({ like: "plain" });
    const { host, agent } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "say first");
    const [upstream = ""] = agent.ids();
    await fc.assert(
      fc.asyncProperty(fromHost, async (line) => {
        const written = line.replaceAll(IN_TEXT, id);
        const asked = host.askRaw((request) =>
          written.replace("@ID@", String(request)).replaceAll(ADDRESS, id),
        );
        expect((await host.answerTo(asked)).result).toMatchObject({ heard: "_vendor/fuzz" });
        const came = agent.of("_vendor/fuzz").at(-1);
        const request = JSON.stringify(came?.message["id"]);
        expect(came?.line).toBe(written.replace("@ID@", request).replaceAll(ADDRESS, upstream));
      }),
      RUNS,
    );
  });

  test("a request keeps its own id, whatever that is, in the answer", async () => {
    await using bridge = await openKillable({ like: "plain" });
    const { host } = bridge;
    const id = await host.newSession();
    for (const own of ['"a string"', "12345678901234567890", "0", '"\\u0041"', "-1"]) {
      const from = host.lines.length;
      host.write(`{"jsonrpc":"2.0","id":${own},"method":"_vendor/fuzz","params":{"sessionId":"${id}"}}\n`);
      const line = await host.until("the answer", () =>
        host.lines.slice(from).find((one) => one.includes('"heard"')),
      );
      expect(line.toString("utf8")).toContain(`"id":${own}`);
    }
  });

  test("two requests under ids that the agent uses too do not get mixed up", async () => {
    await using bridge = await openKillable({ like: "plain" });
    const { host, agent } = bridge;
    host.answers.set("_vendor/ask", () => ({ of: "host" }));
    const id = await host.newSession();
    expect((await host.prompt(id, "unknown")).text).toContain('{"of":"host"}');
    const theirs = host.messages.find((message) => message["method"] === "_vendor/ask");
    expect(theirs).toBeDefined();
    const heard = await host.call("_vendor/fuzz", { sessionId: id });
    expect(fieldsOf(heard)["heard"]).toBe("_vendor/fuzz");
    expect(agent.of("_vendor/fuzz")).toHaveLength(1);
  });
});
