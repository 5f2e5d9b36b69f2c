/** Clients that use the servers in every way, and write down what they are answered. */
import { type ApiError, type Client, createClient } from "#edges/http/client/index";
import { isLogError } from "#log/errors";
import { type History, type Kind, nameMark, type Operation, type Tail } from "./history.ts";
import { pause } from "./nemesis.ts";
import type { Random } from "./random.ts";
import type { Servers } from "./servers.ts";

/** How often each act is, beside the others. */
const ACTS = {
  append: 34,
  send: 8,
  read: 14,
  context: 8,
  label: 6,
  fork: 3,
  goto: 4,
  erase: 3,
  search: 2,
  export: 2,
  tail: 8,
  ghost: 2,
} as const;
type Act = keyof typeof ACTS;
const ACT_LIST = Object.entries(ACTS).flatMap(([act, share]) =>
  Array.from({ length: share }, () => act as Act),
);

const TRIES = 5;
const ANSWER_MS = 20_000;
const TAILS_PER_CONVERSATION = 2;
const READ_MAX = 100;
/** A refusal after which certainly nothing was done. */
const DEFINITE: ReadonlySet<string> = new Set(["stopping", "busy", "too_many"]);

/** What is recorded of one try before it is made. */
type Asked = Pick<Operation, "kind" | "conversation" | "key" | "names" | "target">;
type Answer = Pick<Operation, "written" | "headSeq" | "seen">;

export class Clients {
  readonly #servers: Servers;
  readonly #history: History;
  readonly #random: Random;
  readonly #live: string[] = [];
  readonly #gone: string[] = [];
  /** Entries that a conversation is known to have. */
  readonly #entries = new Map<string, string[]>();
  readonly #tails = new Map<Tail, { readonly stop: AbortController; readonly ended: Promise<void> }>();
  #made = 0;
  /** Operations that were ended, whatever they were answered. */
  done = 0;

  /** As many conversations as there are at most for longer than a moment, so that nothing grows by the load itself. */
  readonly #most: number;

  constructor(servers: Servers, history: History, random: Random, most: number) {
    [this.#servers, this.#history, this.#random, this.#most] = [servers, history, random, most];
  }

  get live(): readonly string[] {
    return this.#live;
  }

  /** A client of whichever server its number leads to when it asks. */
  client(options: { readonly at?: () => number; readonly retries?: number } = {}): Client {
    const { at = () => this.#random.below(this.#servers.list.length), retries = 0 } = options;
    return createClient({
      url: "http://127.0.0.1:1",
      token: this.#servers.token,
      retries,
      fetch: (request) => {
        const { url } = this.#servers.at(at());
        const { pathname, search } = new URL(request.url);
        return fetch(new Request(`${url}${pathname}${search}`, request));
      },
      sleep: (ms) => pause(Math.min(ms, 200)),
    });
  }

  async create(): Promise<void> {
    const conversation = this.#newName();
    const asked = { kind: "create" as const, conversation, key: `create-${conversation}`, names: [] };
    const isMade = await this.#act(asked, async (client, options) => {
      await client.createConversation({ id: conversation }, options);
      return {};
    });
    if (isMade) this.#add(conversation);
  }

  /** One act of one client. */
  async step(): Promise<void> {
    const act = this.#random.one(ACT_LIST);
    if (this.#live.length === 0) return this.create();
    const isGhost = act === "ghost" && this.#gone.length > 0;
    const conversation = this.#random.one(isGhost ? this.#gone : this.#live);
    await this.#do(isGhost ? this.#random.one(["append", "read", "context"] as const) : act, conversation);
    this.done++;
  }

  #do(act: Act, conversation: string): Promise<unknown> {
    switch (act) {
      case "append":
        return this.#append(conversation);
      case "send":
        return this.#send(conversation);
      case "label":
      case "goto":
        return this.#move(act, conversation);
      case "fork":
        return this.#fork(conversation);
      case "erase":
        return this.#erase(conversation);
      case "tail":
        return this.#toggleTail(conversation);
      default:
        return this.#look(act === "ghost" ? "read" : act, conversation);
    }
  }

  async #append(conversation: string): Promise<void> {
    const key = this.#newName("append");
    const names = Array.from({ length: 1 + this.#random.below(3) }, (_, at) => `${key}/${at}`);
    const text = `mark-${conversation}; ${"x".repeat(this.#random.below(400))}`;
    const entries = names.map((name) => ({ type: "custom", customType: "soak", data: { name, text } }));
    await this.#act({ kind: "append", conversation, key, names }, async (client, options) => {
      const { fromSeq, toSeq, deduped, ids } = await client.appendEntries({ conversation, entries }, options);
      this.#entries.set(conversation, [...(this.#entries.get(conversation) ?? []), ...ids].slice(-20));
      return { written: { fromSeq, toSeq, deduped } };
    });
  }

  async #send(conversation: string): Promise<void> {
    const key = this.#newName("send");
    const mark = `${nameMark(key)} mark-${conversation};`;
    const words = this.#random.one([`remember n=${mark}`, `email ann about ${mark}`, `work 300 ${mark}`]);
    await this.#act({ kind: "send", conversation, key, names: [key] }, async (client, options) => {
      await client.send({ conversation, content: words }, options);
      return {};
    });
  }

  async #move(kind: "label" | "goto", conversation: string): Promise<void> {
    const known = this.#entries.get(conversation) ?? [];
    if (known.length === 0) return;
    const entry = this.#random.one(known);
    const key = this.#newName(kind);
    const names = kind === "label" ? [key] : [];
    await this.#act({ kind, conversation, key, names, target: entry }, async (client, options) => {
      const of = { conversation, entry };
      const { fromSeq, toSeq, deduped } = await (kind === "label"
        ? client.setLabel({ ...of, label: key }, options)
        : client.goTo(of, options));
      return { written: { fromSeq, toSeq, deduped } };
    });
  }

  async #fork(conversation: string): Promise<void> {
    const made = this.#newName();
    const asked = { kind: "fork" as const, conversation, key: `fork-${made}`, names: [], target: made };
    const isMade = await this.#act(asked, async (client, options) => {
      await client.fork({ conversation, id: made }, options);
      return {};
    });
    if (!isMade) return;
    // It is acknowledged as one that was created.
    const created = this.#history.begin({
      kind: "create",
      conversation: made,
      key: `create-${made}`,
      names: [],
    });
    [created.to, created.outcome] = [this.#history.now(), "ok"];
    this.#add(made);
  }

  async #erase(conversation: string): Promise<void> {
    this.#live.splice(this.#live.indexOf(conversation), 1);
    this.#gone.push(conversation);
    const asked = { kind: "erase" as const, conversation, key: `erase-${conversation}`, names: [] };
    // There is no route that erases: whoever runs the server does, by the library.
    await this.#act(asked, async () => {
      await this.#servers.holdfast.handle(conversation).erase();
      return {};
    });
    if (this.#live.length < this.#most) await this.create();
  }

  async #look(kind: Kind & ("read" | "context" | "search" | "export"), conversation: string): Promise<void> {
    const after = this.#random.below(10) * 5;
    await this.#act({ kind, conversation, key: this.#newName(kind), names: [] }, async (client, options) => {
      if (kind === "context") await client.getContext({ conversation }, options);
      if (kind === "search") await client.search({ q: "mark", conversation, limit: 5 }, options);
      if (kind === "export") await client.exportBundle({ conversation: [conversation] }, options);
      if (kind !== "read") return {};
      const { entries, headSeq } = await client.listEntries(
        { conversation, after, limit: READ_MAX },
        options,
      );
      return { headSeq, seen: entries.map((entry) => this.#history.seen(entry)) };
    });
  }

  /** Tries until it is answered for certain, under one key; some of what was answered is asked for once more. */
  async #act(
    asked: Asked,
    ask: (client: Client, options: { readonly key: string; readonly signal: AbortSignal }) => Promise<Answer>,
  ): Promise<boolean> {
    for (let tries = 0; tries < TRIES; tries++) {
      const operation = this.#history.begin(asked);
      try {
        const options = { key: asked.key, signal: AbortSignal.timeout(ANSWER_MS) };
        Object.assign(operation, await ask(this.client(), options), { outcome: "ok" });
      } catch (error) {
        operation.code = codeOf(error);
        operation.outcome = isDefinite(error) ? "failed" : "unknown";
      }
      operation.to = this.#history.now();
      if (operation.outcome === "ok" && this.#random.next() > 0.1) return true;
      if (operation.outcome === "failed" && !DEFINITE.has(operation.code ?? "")) return false;
      await pause(20 + this.#random.below(200));
    }
    return false;
  }

  async #toggleTail(conversation: string): Promise<void> {
    const open = [...this.#tails].filter(([tail]) => tail.conversation === conversation);
    if (open.length < TAILS_PER_CONVERSATION) return this.#openTail(conversation);
    for (const [tail, { stop, ended }] of open.slice(0, 1)) {
      this.#tails.delete(tail);
      stop.abort();
      await ended;
    }
  }

  #openTail(conversation: string): void {
    const after = this.#random.next() < 0.7 ? 0 : 1;
    const tail = this.#history.tail(conversation, after);
    const stop = new AbortController();
    const client = this.client({ retries: Number.POSITIVE_INFINITY });
    const follow = async (): Promise<void> => {
      const entries = client.tail({ conversation, after }, { signal: stop.signal });
      for await (const entry of entries) tail.seen.push(this.#history.seen(entry));
    };
    const ended = follow()
      .catch(() => undefined)
      .finally(() => this.#tails.delete(tail));
    this.#tails.set(tail, { stop, ended });
  }

  /** Ends all tails; those of a conversation that is there have all of it by then, or are waited for so long. */
  async endTails(headOf: (conversation: string) => number | null, waitMs: number): Promise<void> {
    const late = performance.now() + waitMs;
    for (const [tail, { stop, ended }] of this.#tails) {
      const head = headOf(tail.conversation);
      const isBehind = (): boolean => head !== null && tail.after + tail.seen.length < head;
      while (isBehind() && performance.now() < late) await pause(50);
      tail.isWhole = head !== null;
      stop.abort();
      await ended;
    }
  }

  #add(conversation: string): void {
    this.#live.push(conversation);
  }

  #newName(kind: string = "c"): string {
    return `${kind}-${++this.#made}`;
  }
}

function isDefinite(error: unknown): boolean {
  if (isLogError(error)) return error.group === "missing" || error.code === "busy";
  const { status = 0, code = "" } = error as Partial<ApiError>;
  if (status >= 400 && status < 500 && status !== 408) return true;
  return code === "stopping" || causeOf(error) === "ECONNREFUSED";
}

function codeOf(error: unknown): string {
  const { code, name } = error as { readonly code?: string | number; readonly name: string };
  return String(code ?? causeOf(error) ?? name);
}

function causeOf(error: unknown): string | undefined {
  const { cause } = error as { readonly cause?: { readonly code?: string } };
  return cause?.code;
}
