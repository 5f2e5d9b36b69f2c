/* oxlint-disable no-console */
/** What someone writes who has only the package: an agent of their own, a store around a store, other people's messages. */
import { COMMON_ENDINGS, type EndingTable, type serveAcp } from "../../src/edges/acp/index.ts";
import type { Page, SpaceStore } from "../../src/store/index.ts";
import { fromOpenAI, toAiSdk, toAnthropic } from "../../src/transfer/messages/index.ts";
import {
  type AppendResult,
  assistant,
  type Entry,
  type HeadView,
  isLogError,
  type Json,
  openHoldfast,
  openStore,
  type PromptEvent,
  type PromptRequest,
  Runtime,
  type RuntimeOptions,
  type SessionSettings,
  toolResult,
  type Upstream,
  type UpstreamSession,
  user,
} from "../../src/index.ts";

class Echo implements Upstream {
  readonly agent: string = "echo";
  readonly account: string | null = null;
  readonly capabilities = { resume: false, fork: "none", trustedResume: false } as const;
  readonly endings: EndingTable = COMMON_ENDINGS;

  async open(settings: SessionSettings): Promise<UpstreamSession> {
    const id: string = `session-of-${settings.conversation}`;
    return {
      id,
      transcript: null,
      process: "1",
      async *prompt(request: PromptRequest): AsyncGenerator<PromptEvent> {
        const text = request.content.map((block) => (block.type === "text" ? block.text : "")).join("");
        yield { type: "text", text };
        yield {
          type: "end",
          end: { stopReason: "end_turn", error: null, exited: false, durationMs: 1, usage: null },
        };
      },
      cancel: async () => undefined,
      close: async () => undefined,
    };
  }

  async resume(): Promise<UpstreamSession> {
    throw new Error("It cannot");
  }

  async fork(): Promise<UpstreamSession> {
    throw new Error("It cannot");
  }

  async restart(): Promise<void> {
    return undefined;
  }
}

function counting(space: SpaceStore, count: () => void): SpaceStore {
  return {
    ...space,
    append(request: Parameters<SpaceStore["append"]>[0]): Promise<AppendResult> {
      count();
      return space.append(request);
    },
    page: (request: Parameters<SpaceStore["page"]>[0]): Promise<Page> => space.page(request),
    head: (id: string): Promise<HeadView> => space.head(id),
  };
}

const store = await openStore("memory:");
await using holdfast = await openHoldfast({ store });
const chat = await holdfast.create({ id: "mine" });
const id: string = chat.id;
await chat.append([
  user("Hi"),
  assistant([{ type: "toolCall", id: "c1", name: "look", input: {} }]),
  toolResult("c1", "ok"),
]);
let appends = 0;
const { leaf } = await counting(store.space("default"), () => appends++).head(id);

const runtime = new Runtime(holdfast, { upstreams: [new Echo()] });
const { outcome, text } = await runtime.send(id, "hello");
const { messages } = await chat.context();
const { cursor } = await chat.history({ limit: 2 });
const entry: Entry = await chat.entry(leaf.id);
const signedOut = await holdfast.signOut({ agent: "echo" });
const refused = await holdfast
  .conversation("../no")
  .catch((error: unknown) => isLogError(error, "invalid_id"));

export interface Typed {
  readonly json: Json;
  readonly prior: RuntimeOptions["prior"];
  readonly record: ReturnType<NonNullable<Upstream["history"]>>;
  readonly agents: Parameters<typeof serveAcp>[0]["agents"];
}

console.log(
  JSON.stringify({
    outcome,
    text,
    anthropic: toAnthropic(messages).length,
    aiSdk: toAiSdk(messages).length,
    openai: fromOpenAI([]).messages.length,
    more: cursor !== null,
    once: !JSON.stringify(entry).includes("payload"),
    ended: signedOut.ended,
    refused,
    appends,
  }),
);
