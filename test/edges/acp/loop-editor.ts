/** An editor made of the protocol's own client, in front of an agent loop. Every line it is sent is held against the schema. */
import {
  client,
  type ClientConnection,
  type ContentBlock,
  methods,
  ndJsonStream,
  type PromptResponse,
  PROTOCOL_VERSION,
  type RequestPermissionOutcome,
  type RequestPermissionRequest,
  type SessionNotification,
} from "@agentclientprotocol/sdk";
import type { AgentOptions } from "#agent/agent-options";
import type { Holdfast } from "#conversation/holdfast";
import { serveAcp } from "#edges/acp/index";
import { wrongWith } from "./acp-schema.ts";
import { type Fields, fieldsOf, textOf } from "../../support/scripted-agent/wire.ts";

const { agent: ask, client: hear } = methods;

export type Update = SessionNotification["update"];
type Answer = (
  asked: RequestPermissionRequest,
) => RequestPermissionOutcome | Promise<RequestPermissionOutcome>;

/** Answers with the option of this kind. */
export function choose(kind: "allow_once" | "reject_once"): Answer {
  return ({ options }) => ({
    outcome: "selected",
    optionId: options.find((option) => option.kind === kind)?.optionId ?? "",
  });
}

/** The two ends of a wire, as an editor holds them. */
export interface Wire {
  readonly toAgent: WritableStream<Uint8Array>;
  readonly fromAgent: ReadableStream<Uint8Array>;
  readonly close: () => Promise<void>;
}

export class LoopEditor implements AsyncDisposable {
  readonly updates: Update[] = [];
  readonly permissions: RequestPermissionRequest[] = [];
  readonly connection: ClientConnection;
  onPermission: Answer = choose("allow_once");
  readonly #wire: Wire;
  #heard: () => void = () => undefined;

  constructor(wire: Wire) {
    this.#wire = wire;
    this.connection = client({ name: "an-editor" })
      .onNotification(hear.session.update, ({ params }) => {
        this.updates.push(params.update);
        this.#heard();
      })
      .onRequest(hear.session.requestPermission, async ({ params }) => {
        this.permissions.push(params);
        this.#heard();
        return { outcome: await this.onPermission(params) };
      })
      .connect(ndJsonStream(wire.toAgent, wire.fromAgent));
  }

  get agent(): ClientConnection["agent"] {
    return this.connection.agent;
  }

  async initialize(): Promise<Fields> {
    const introduced = await this.agent.request(ask.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientInfo: { name: "an-editor", version: "1.0.0" },
      clientCapabilities: { session: { notices: {} } },
    });
    return fieldsOf(introduced);
  }

  async begin(cwd: string): Promise<string> {
    return (await this.agent.request(ask.session.new, { cwd, mcpServers: [] })).sessionId;
  }

  /** Loads a conversation; gives what ours says of it. */
  async load(sessionId: string, cwd: string, more: Fields = {}): Promise<Fields> {
    const params = { sessionId, cwd, mcpServers: [], ...more };
    const loaded = await this.agent.request(ask.session.load, params);
    return fieldsOf(fieldsOf(fieldsOf(loaded)["_meta"])["holdfast"]);
  }

  prompt(sessionId: string, said: string | ContentBlock[], meta: Fields = {}): Promise<PromptResponse> {
    const prompt: ContentBlock[] = typeof said === "string" ? [{ type: "text", text: said }] : said;
    const _meta = Object.keys(meta).length === 0 ? {} : { _meta: { holdfast: meta } };
    return this.agent.request(ask.session.prompt, { sessionId, prompt, ..._meta });
  }

  cancel(sessionId: string): Promise<void> {
    return this.agent.notify(ask.session.cancel, { sessionId });
  }

  /** Resolves once this holds of what was heard. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#heard = resolve;
      await promise;
    }
  }

  /** The words of one kind of update. */
  words(kind: Update["sessionUpdate"] = "agent_message_chunk"): string {
    return this.of(kind)
      .map((update) => textOf(fieldsOf(update["content"])["text"]))
      .join("");
  }

  of(kind: Update["sessionUpdate"]): readonly Fields[] {
    return this.updates
      .filter(({ sessionUpdate }) => sessionUpdate === kind)
      .map((update) => fieldsOf(update));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#wire.close();
  }
}

/** An editor and its bridge in this process. `wrong` is what the schema has against the lines the editor was sent, `methods` what they asked and told. */
export async function openLoop(
  holdfast: Holdfast,
  loop: AgentOptions,
): Promise<LoopEditor & { readonly wrong: readonly string[]; readonly methods: readonly unknown[] }> {
  const [down, up] = [
    new TransformStream<Uint8Array, Uint8Array>(),
    new TransformStream<Uint8Array, Uint8Array>(),
  ];
  const asked = new Map<unknown, string>();
  const wrong: string[] = [];
  const methodsSent: unknown[] = [];
  const end = new AbortController();
  const writer = up.writable.getWriter();
  const serving = serveAcp({
    holdfast,
    agents: { name: "holdfast", loop: { instructions: false, ...loop } },
    onLimit: "park",
    version: "0",
    input: linesSeen(down.readable, (line) => void asked.set(line["id"], String(line["method"]))),
    output: async (bytes) => {
      for (const line of linesIn(bytes)) {
        wrong.push(...wrongWith(line, (id) => asked.get(id)));
        methodsSent.push(line["method"]);
      }
      await writer.write(bytes);
    },
    signal: end.signal,
  });
  const close = async (): Promise<void> => {
    end.abort();
    await serving;
    await writer.close().catch(() => undefined);
  };
  const editor = new LoopEditor({ toAgent: down.writable, fromAgent: up.readable, close });
  await editor.initialize();
  return Object.assign(editor, { wrong, methods: methodsSent });
}

function linesIn(bytes: Uint8Array): readonly Fields[] {
  const lines = new TextDecoder().decode(bytes).split("\n").filter(Boolean);
  return lines.map((line) => fieldsOf(JSON.parse(line)));
}

async function* linesSeen(
  stream: ReadableStream<Uint8Array>,
  see: (line: Fields) => void,
): AsyncGenerator<Uint8Array> {
  for await (const bytes of stream) {
    for (const line of linesIn(bytes)) if (line["method"] !== undefined) see(line);
    yield bytes;
  }
}
