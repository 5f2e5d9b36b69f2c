/**
 * A process that carries one turn by an agent over a real store and a model's service on loopback, and dies by SIGKILL at one
 * point of it. `none` instead of a point: it lives, and goes on with whatever each of the conversations was left with.
 * What is acknowledged to it, it prints at once, a line of JSON each.
 */
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { appendFileSync, writeSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { Agent } from "#agent/agent";
import type { AgentOptions } from "#agent/agent-options";
import type { AgentModel } from "#agent/models/model";
import { openModel } from "#agent/models/open-model";
import { Holdfast } from "#conversation/holdfast";
import { decorateStore } from "#store/decorate";
import type { Store } from "#store/store";
import { jsonlStore } from "#stores/jsonl/index";
import { sqliteStore } from "#stores/sqlite/index";
import type { Tool } from "#turn/effects/tool";
import type { Host } from "#turn/host";
import { appendName } from "./kill-sites.ts";

const [kind = "", path = "", outbox = "", baseUrl = "", model = "", site = "none", ...ids] =
  process.argv.slice(2);

function dieAt(here: string): void {
  if (here === site) process.kill(process.pid, "SIGKILL");
}

function print(line: { readonly [name: string]: unknown }): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

function doomed(store: Store): Store {
  return decorateStore(store, {
    verbs: (space) => ({
      append: async (request) => {
        const name = appendName(request);
        dieAt(`${name}/before`);
        const written = await space.append(request);
        dieAt(`${name}/after`);
        return written;
      },
    }),
  });
}

/** The model by its name; those that need it are small, so that their conversations are summarised in mid-turn. */
async function opened(name: string, small: boolean): Promise<AgentModel> {
  const [provider = ""] = name.split("/");
  const url = baseUrl.replace("WIRE", provider);
  const env = { ANTHROPIC_API_KEY: "dummy", OPENAI_API_KEY: "dummy" };
  const known = await openModel(name, { baseUrl: url, env });
  const inner = known.model as LanguageModelV4;
  const doStream: LanguageModelV4["doStream"] = async (options) => {
    const answer = await inner.doStream(options);
    if (options.tools === undefined || options.tools.length === 0) dieAt("summary/asked");
    return answer;
  };
  const asked = Object.assign(Object.create(inner) as LanguageModelV4, { doStream });
  return { ...known, model: asked, window: small ? 3_600 : null };
}

function toolsOf(id: string, steer: () => Promise<unknown>): readonly Tool[] {
  const act = (tool: string, input: unknown): void => {
    dieAt("act/before");
    appendFileSync(outbox, `${JSON.stringify({ id, tool, input })}\n`, { flush: true });
    dieAt("act/after");
  };
  const input = { type: "object", properties: { step_no: { type: "integer" } }, required: ["step_no"] };
  return [
    {
      name: "mail",
      input,
      run: async (given) => {
        act("mail", given);
        if (JSON.stringify(given).includes(":1")) await steer();
        return { content: "sent", state: { sent: JSON.stringify(given) } };
      },
    },
    {
      name: "look",
      input,
      effect: "none",
      run: async () => "seen ".repeat(id.endsWith("small") ? 1_200 : 1),
    },
    {
      name: "fetch",
      input,
      replay: "safe",
      run: async (given) => {
        act("fetch", given);
        return "fetched";
      },
    },
  ];
}

function agentFor(holdfast: Holdfast, id: string): Agent {
  const small = id.endsWith("small");
  const steer = async (): Promise<void> => {
    await agent.steer(id, `faster, ${id}`, { steer: `steer-${id}` });
    print({ id, steered: true });
  };
  const options: AgentOptions = {
    model,
    tools: toolsOf(id, steer),
    permission: ({ input }) => (JSON.stringify(input).includes(":2") ? "ask" : "allow"),
    instructions: false,
    compaction: small ? { reserveTokens: 600, keepTokens: 400 } : null,
    openModel: (given) => opened(typeof given === "string" ? given : model, small),
  };
  const agent: Agent = new Agent(holdfast, options);
  return agent;
}

function hostFor(id: string): Host {
  const onPermission: Host["onPermission"] = async () => {
    dieAt("asking");
    return "allow";
  };
  return {
    onEvent: (event) => {
      if (event.type === "accepted") print({ id, accepted: event.prompt });
      if (event.type === "update" && event.event.type === "text") dieAt("stream");
    },
    ...(site === "parked" ? {} : { onPermission }),
  };
}

async function live(holdfast: Holdfast, id: string): Promise<void> {
  await using agent = agentFor(holdfast, id);
  const host = hostFor(id);
  const { waiting, openTurn } = await agent.restore(id);
  const [question] = waiting;
  const again = question !== undefined || openTurn !== null;
  const result = await (question !== undefined
    ? agent.answer(id, question.request, "allowed", host)
    : again
      ? agent.continue(id, host)
      : agent.send(id, `go ${id}`, { ...host, key: id }));
  print({ id, ended: result.outcome, text: result.text });
  if (result.outcome === "waiting") dieAt("parked");
}

flushCompileCache(); // it is written at exit, and this process may never get there
const store = kind === "sqlite" ? await sqliteStore({ path }) : jsonlStore({ dir: path });
await using holdfast = new Holdfast(doomed(store), "default", undefined, () => store.close());
for (const id of ids) await live(holdfast, id);
