/**
 * Goal: what `hydrate` gives of a run is what the loop holds and sends.
 * Method: random conversations by the real loop over a scripted model: runs with and without seeds, continued or not, with tools,
 * empty and failing answers, turns that are cancelled, gone on with or taken back, forks, resets and words in between, by several
 * processes. While each request is out, the run is hydrated by a handle of its own, and must give that very request.
 */
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import fc from "fast-check";
import { expect, test } from "vitest";
import { callOptionsOf } from "#agent/models/request";
import type { Agent } from "#agent/agent";
import { Holdfast } from "#conversation/holdfast";
import type { RunContext } from "#log/runs/run-context";
import { ScriptedModel } from "../scripted-model.ts";
import { agentRig, type AgentRig, counter } from "../rig.ts";

type Answer = "text" | "calls" | "empty" | "fails" | "cancelled" | "cut";
const answers = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.constant<Answer>("text") },
    { weight: 4, arbitrary: fc.constant<Answer>("calls") },
    { weight: 1, arbitrary: fc.constantFrom<Answer>("empty", "fails", "cancelled", "cut") },
  ),
  { minLength: 60, maxLength: 60 },
);
type Act =
  | "chat"
  | "goOn"
  | "email"
  | "emailSent"
  | "continue"
  | "note"
  | "back"
  | "fork"
  | "forkRun"
  | "reset"
  | "another"
  | "outside";
const acts = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom<Act>("chat", "goOn", "email", "emailSent", "continue") },
    {
      weight: 1,
      arbitrary: fc.constantFrom<Act>("note", "back", "fork", "forkRun", "reset", "another", "outside"),
    },
  ),
  { minLength: 3, maxLength: 10 },
);

const refused = Object.assign(new Error("refused"), { statusCode: 400 });
const TOOLS = [counter("look"), counter("mail")];

/** Without the words that are made for each request and stored nowhere. */
function stored({ prompt }: LanguageModelV4CallOptions): LanguageModelV4CallOptions["prompt"] {
  return prompt.filter((message) => !JSON.stringify(message).includes("<system-reminder>"));
}

class World {
  readonly at: AgentRig;
  readonly mismatches: unknown[] = [];
  /** The last request of each run. */
  readonly last = new Map<string, RunContext>();
  requests: number = 0;
  agent: Agent;
  conversation: string = "c";
  readonly #answers: readonly Answer[];
  #made: number = 0;

  constructor(at: AgentRig, given: readonly Answer[]) {
    this.at = at;
    this.#answers = given;
    this.agent = this.another();
  }

  /** A process that comes after the one before. */
  another(): Agent {
    const script = Array.from(
      { length: 200 },
      () => (asked: LanguageModelV4CallOptions) => this.#answer(asked),
    );
    return this.at.another(script, { tools: TOOLS }).agent;
  }

  #answer(asked: LanguageModelV4CallOptions) {
    const kind = this.#answers[this.requests++ % this.#answers.length];
    const n = this.requests;
    const checked = this.#check(structuredClone({ ...asked, abortSignal: undefined }) as never);
    if (kind === "fails") return { until: checked.then(() => Promise.reject(refused)) };
    if (kind === "cancelled")
      return { text: `half ${n}`, until: checked.then(() => void this.agent.cancel(this.conversation)) };
    if (kind === "empty") return { until: checked };
    if (kind === "cut") return { text: `cut ${n}`, finish: "length" as const, until: checked };
    const calls = [
      { id: `a${n}`, name: "look", input: { n } },
      { id: `b${n}`, name: n % 3 === 0 ? "nothing" : "mail", input: {} },
    ];
    return kind === "calls"
      ? { text: `say ${n}`, calls, until: checked }
      : { text: `say ${n}`, until: checked };
  }

  async #check(asked: LanguageModelV4CallOptions): Promise<void> {
    const { holdfast } = this.at;
    const chat = await holdfast.conversation(this.conversation);
    const { run } = (await chat.latestRun()) ?? { run: "none" };
    const { context } = await new Holdfast(holdfast.store, "default").hydrate(run, {
      conversation: this.conversation,
    });
    this.last.set(`${this.conversation}/${run}`, context);
    const tools = (asked.tools ?? []).map(({ name }) => ({ name, description: "", inputSchema: {} }));
    const [first] = asked.prompt;
    const system = context.system ?? (first?.role === "system" ? first.content : "");
    const expected = callOptionsOf(
      {
        id: "scripted/one",
        model: new ScriptedModel([]),
        window: null,
        maxOutput: null,
        price: null,
      },
      {
        system,
        tools,
        messages: context.messages,
        reminder: null,
        cacheKey: "",
      },
    );
    const [got, want] = [stored(asked), stored(expected)];
    if (JSON.stringify(got) !== JSON.stringify(want)) this.mismatches.push({ run, got, want });
  }

  async act(what: Act): Promise<void> {
    const n = ++this.#made;
    const { agent, conversation: id } = this;
    const { holdfast } = this.at;
    const chat = await holdfast.conversation(id);
    const seeds = [
      ...(n % 2 === 0 ? [{ role: "system", content: `Rules ${n}` } as const] : []),
      { role: "user", content: `Mail ${n}`, isNew: true } as const,
    ];
    if (what === "chat") await agent.send(chat, `chat ${n}`);
    else if (what === "goOn") {
      const { run } = await agent.startRun(chat, { type: "chat", id: `${n}` });
      await agent.send(chat, `go on ${n}`, { run });
    } else if (what === "email") {
      const { run } = await agent.startRun(chat, { type: "email", id: `${n}` }, { seeds });
      await agent.carryRun(chat, run);
    } else if (what === "emailSent")
      await agent.send(chat, `answer ${n}`, {
        run: {
          trigger: { type: "email", id: `${n}` },
          seeds,
          ...(n % 3 === 0 ? { continues: "latest" } : {}),
        },
      });
    else if (what === "continue") await agent.continue(chat);
    else if (what === "note") await agent.addMessage(chat, "user", `note ${n}`);
    else if (what === "outside") await chat.append({ type: "hide", target: (await chat.head()).leaf.id });
    else if (what === "reset") await agent.clearHistory(chat);
    else if (what === "another") this.agent = this.another();
    else if (what === "fork") this.conversation = (await chat.fork()).id;
    else if (what === "back") {
      const said = (await chat.branch()).filter(
        (entry) => entry.type === "message" && entry.message.role === "user",
      );
      const entry = said.at(-1 - (n % 2));
      if (entry !== undefined) await agent.goBackTo(chat, entry.id);
    } else {
      const run = await chat.latestRun();
      if (run === null) return;
      const fork = await holdfast.forkRun(run.run, { conversation: id });
      this.conversation = fork.conversation.id;
      await agent.send(fork.conversation, `forked ${n}`, { run: fork.run });
    }
  }
}

test("while a request of any run is out, hydrate gives that very request", async () => {
  let requests = 0;
  let seeded = 0;
  await fc.assert(
    fc.asyncProperty(acts, answers, async (done, given) => {
      const world = new World(await agentRig([], { tools: TOOLS }), given);
      for (const act of done)
        // What cannot be done just then is refused, and nothing is sent by it.
        await world.act(act).catch((error: unknown) => {
          if (!(error instanceof Error) || !("code" in error)) throw error;
        });
      expect(world.mismatches).toEqual([]);
      requests += world.requests;
      for (const [name, context] of world.last) {
        const [conversation = "", run = ""] = name.split("/");
        const after = await world.at.holdfast.hydrate(run, { conversation });
        if (after.seeds.length > 0) seeded++;
        // What came of the last request stands behind what it sent, and nothing else has changed since.
        const sent = after.context.messages.slice(0, context.messages.length);
        if (!done.includes("outside")) expect(sent).toEqual(context.messages);
      }
    }),
    { numRuns: 40, endOnFailure: true },
  );
  expect(requests).toBeGreaterThan(60);
  expect(seeded).toBeGreaterThan(5);
});
