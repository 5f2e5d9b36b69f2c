/** An upstream that speaks nothing of a host's protocol, served to a host. */
import { expect, onTestFinished, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import { Bridge } from "#edges/acp/host/bridge";
import type { Json } from "#log/json/json-text";
import { inMemoryStore } from "#stores/in-memory/index";
import { simUpstream, type SimUpstreamOptions, SimWorld } from "#testing/index";
import { fieldsOf, listIn, wordsIn } from "#log/json/json-fields";
import type { PromptEvent, PromptRequest, Upstream, UpstreamSession } from "#upstream/upstream";

import { wrongWith } from "./acp-schema.ts";

type Fields = { readonly [name: string]: Json };

/** A host in the same process. */
class Host {
  readonly bridge: Bridge;
  readonly updates: Fields[] = [];
  readonly #waiting = new Map<Json, (answer: Fields) => void>();
  readonly #asked = new Map<unknown, string>();
  #lastId: number = 0;

  constructor(holdfast: Holdfast, world: SimWorld, agents: readonly [Upstream, ...Upstream[]]) {
    this.bridge = new Bridge({
      holdfast,
      agents,
      onLimit: "switch",
      version: "0",
      clock: world.clock,
      write: (line) => this.#receive(fieldsOf(JSON.parse(new TextDecoder().decode(line)) as Json)),
    });
    onTestFinished(() => this.bridge.close());
  }

  /** Every line is one that the protocol knows. */
  #receive(message: Fields): void {
    const { id, method, params } = message;
    expect(wrongWith(message, (asked) => this.#asked.get(asked))).toEqual([]);
    if (method === "session/update") this.updates.push(fieldsOf(fieldsOf(params)["update"]));
    else if (method === undefined) this.#waiting.get(id ?? null)?.(message);
  }

  request(method: string, params: Fields): Promise<Fields> {
    const { promise, resolve } = Promise.withResolvers<Fields>();
    const id = ++this.#lastId;
    this.#waiting.set(id, resolve);
    this.#asked.set(id, method);
    this.bridge.receive(new TextEncoder().encode(JSON.stringify({ jsonrpc: "2.0", id, method, params })));
    return promise;
  }

  async result(method: string, params: Fields): Promise<Fields> {
    const { result, error } = await this.request(method, params);
    expect(error).toBeUndefined();
    return fieldsOf(result);
  }

  /** Sends a prompt; gives its stop reason and what was said. */
  async prompt(sessionId: string, text: string): Promise<{ readonly stop: string; readonly said: string }> {
    const from = this.updates.length;
    const { stopReason } = await this.result("session/prompt", {
      sessionId,
      prompt: [{ type: "text", text }],
    });
    return { stop: wordsIn(stopReason), said: this.said(from) };
  }

  said(from: number = 0): string {
    return this.updates
      .slice(from)
      .filter(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk")
      .map(({ content }) => wordsIn(fieldsOf(content)["text"]))
      .join("");
  }

  tools(): readonly Fields[] {
    return this.updates.filter(({ sessionUpdate }) => wordsIn(sessionUpdate).startsWith("tool_call"));
  }
}

interface Rig {
  readonly holdfast: Holdfast;
  readonly world: SimWorld;
  readonly open: (
    ...more: readonly SimUpstreamOptions[]
  ) => Promise<{ readonly host: Host; readonly introduced: Fields }>;
}

function openRig(): Rig {
  const world = new SimWorld({ seed: 1 });
  const holdfast = new Holdfast(inMemoryStore(), "default");
  return {
    holdfast,
    world,
    open: async (...more) => {
      const first = simUpstream(world, { agent: "own" });
      const host = new Host(holdfast, world, [first, ...more.map((one) => simUpstream(world, one))]);
      return { host, introduced: await host.result("initialize", { protocolVersion: 1 }) };
    },
  };
}

async function newSession(host: Host): Promise<string> {
  return wordsIn((await host.result("session/new", { cwd: "/work", mcpServers: [] }))["sessionId"]);
}

test("its words and tools are shown as they come, and its turns end as a host expects", async () => {
  const { world, open } = openRig();
  const { host, introduced } = await open();
  expect(fieldsOf(introduced["agentCapabilities"])).toMatchObject({ loadSession: true });
  const id = await newSession(host);
  expect(await host.prompt(id, "remember color=blue")).toEqual({
    stop: "end_turn",
    said: "Noted color=blue",
  });
  expect((await host.prompt(id, "email bob about rent")).stop).toBe("end_turn");
  expect(world.outbox.count("email bob about rent")).toBe(1);
  const [first, ...later] = host.tools();
  expect(first).toMatchObject({ sessionUpdate: "tool_call", title: "send_email", status: "in_progress" });
  expect(later.at(-1)).toMatchObject({
    sessionUpdate: "tool_call_update",
    toolCallId: first?.["toolCallId"],
    status: "completed",
  });
});

test("a conversation survives its session, its bridge, and is loaded, listed and forked", async () => {
  const { world, open } = openRig();
  const { host } = await open();
  const id = await newSession(host);
  await host.prompt(id, "remember color=blue");
  await host.bridge.close();
  world.script({ kind: "lose", phase: "resume" });
  const { host: next } = await open();
  await next.result("session/load", { sessionId: id, cwd: "/", mcpServers: [] });
  expect(next.said()).toContain("Noted color=blue");
  expect((await next.prompt(id, "recall color")).said).toContain("blue");
  const listed = listIn((await next.result("session/list", {}))["sessions"]);
  expect(listed.map(({ sessionId, title }) => [sessionId, title])).toEqual([[id, "remember color=blue"]]);
  const fork = await next.result("session/fork", { sessionId: id, cwd: "/", mcpServers: [] });
  expect((await next.prompt(wordsIn(fork["sessionId"]), "recall color")).said).toContain("blue");
});

test("what only agents of the protocol know is refused as unknown, and nothing is lost by it", async () => {
  const { host } = await openRig().open();
  const id = await newSession(host);
  for (const method of ["session/set_mode", "session/set_model", "_vendor/anything"])
    expect(fieldsOf((await host.request(method, { sessionId: id, modeId: "x" }))["error"])).toMatchObject({
      code: -32601,
    });
  expect(fieldsOf((await host.request("authenticate", { methodId: "x" }))["error"])["code"]).toBe(-32601);
  expect((await host.prompt(id, "remember a=1")).said).toBe("Noted a=1");
});

test("another upstream goes on where the first is at its limit, and a person can choose", async () => {
  const { world, open } = openRig();
  const { host } = await open({ agent: "other" });
  const id = await newSession(host);
  await host.prompt(id, "remember color=blue");
  world.script({ kind: "limit", phase: "start" });
  expect((await host.prompt(id, "recall color")).said).toContain("blue");
  expect((await host.prompt(id, "/agent")).said).toMatch(/own, other.*other/);
  expect((await host.prompt(id, "/agent own")).said).toContain("own");
});

test("a cancel ends the turn", async () => {
  const { host } = await openRig().open();
  const id = await newSession(host);
  const running = host.prompt(id, "work 500");
  host.bridge.receive(
    new TextEncoder().encode(
      JSON.stringify({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId: id } }),
    ),
  );
  expect((await running).stop).toBe("cancelled");
});

/** A loop of one's own, in this process. */
function loop(prompt: (request: PromptRequest) => AsyncIterable<PromptEvent>): Upstream {
  const nothing = async (): Promise<void> => undefined;
  const session = async (): Promise<UpstreamSession> => ({
    id: "loop-1",
    transcript: null,
    process: "here",
    prompt,
    cancel: nothing,
    close: nothing,
  });
  const capabilities = { resume: true, fork: "none", trustedResume: true } as const;
  const verbs = { open: session, resume: session, fork: session, restart: nothing };
  return { agent: "loop", account: null, capabilities, ...verbs };
}

const END: PromptEvent = {
  type: "end",
  end: { stopReason: "tool_use", error: null, exited: false, durationMs: 1_000, usage: null },
};

test("tools that the runtime runs for a loop are shown, also where their ids come again", async () => {
  const { holdfast, world } = openRig();
  const tool = { name: "send_email", run: async () => "sent" };
  const host = new Host(holdfast, world, [
    loop(async function* prompt({ runEffects }) {
      for (const step of [0, 1]) await runEffects([{ id: "call", input: { step }, tool }], { step });
      yield { type: "text", text: "Both are sent." };
      yield END;
    }),
  ]);
  expect(await host.prompt(await newSession(host), "email both")).toEqual({
    stop: "end_turn",
    said: "Both are sent.",
  });
  expect(host.tools().map(({ toolCallId, status }) => [toolCallId, status])).toEqual([
    ["call/0", "in_progress"],
    ["call/0", "completed"],
    ["call/1", "in_progress"],
    ["call/1", "completed"],
  ]);
});

test("a host that does not read makes it wait", async () => {
  const { holdfast, world } = openRig();
  const began = Promise.withResolvers<void>();
  let asked = 0;
  const host = new Host(holdfast, world, [
    loop(async function* prompt() {
      for (; asked < 20; asked++) {
        began.resolve();
        yield { type: "text", text: `${asked} ` };
      }
      yield END;
    }),
  ]);
  const id = await newSession(host);
  host.bridge.pause(true);
  const running = host.prompt(id, "count");
  await began.promise;
  // Other requests are answered. One that reads the store would take real time, in which the simulated clock runs on.
  for (let n = 0; n < 5; n++) await host.request("authenticate", { methodId: "x" });
  expect([asked, host.said()]).toEqual([0, ""]);
  host.bridge.pause(false);
  expect((await running).said).toContain("19");
});
