import { expect } from "vitest";
import { type Client, createClient } from "#edges/http/client/index";
import type { Entry } from "#log/entry";

/** What was asked of servers, and answered. */
export interface Load extends AsyncDisposable {
  /** Everything that was asked for is answered. */
  done(): Promise<void>;
  /** Resolves when this part of it is answered, 0 to 1. */
  reached(part: number): Promise<void>;
  /** Holds the logs against what was answered: nothing is lost, nothing is there twice, and tails have heard it all in order. */
  check(client: Client): Promise<void>;
}

interface LoadOptions {
  /** The address of the server that a conversation's client asks now; waits while there is none. */
  readonly urlOf: (conversation: string) => Promise<string>;
  readonly token: string;
  readonly conversations: number;
  /** In each of them. */
  readonly appends: number;
  readonly turns: number;
}

const NOWHERE = "http://127.0.0.1:1";

/** A client that goes where the server is now. */
export function movingClient(token: string, url: () => Promise<string>): Client {
  return createClient({
    url: NOWHERE,
    token,
    retries: 1_000,
    fetch: async (request) => {
      const there = await url();
      return fetch(new Request(request.url.replace(NOWHERE, there), request));
    },
    sleep: async () => void (await new Promise((resolve) => setImmediate(resolve))),
  });
}

/** Clients that append, send and follow, each in a conversation of its own. */
export async function startLoad(options: LoadOptions): Promise<Load> {
  const { urlOf, token, conversations, appends, turns } = options;
  const stop = new AbortController();
  const answered = new Set<string>();
  const waiting: { readonly from: number; resolve(): void }[] = [];
  const total = conversations * (appends + turns);
  const heard = new Map<string, number[]>();
  const count = (name: string): void => {
    expect(answered.has(name)).toBe(false);
    answered.add(name);
    for (const one of waiting) if (answered.size >= one.from) one.resolve();
  };
  const tails: Promise<void>[] = [];
  const work = Array.from({ length: conversations }, async (_, at) => {
    const conversation = `load-${at}`;
    const client = movingClient(token, () => urlOf(conversation));
    await client.createConversation({ id: conversation }, { key: conversation });
    const seqs: number[] = [];
    heard.set(conversation, seqs);
    tails.push(
      (async () => {
        for await (const { seq } of client.tail({ conversation }, { signal: stop.signal })) seqs.push(seq);
      })(),
    );
    for (let n = 0; n < appends + turns; n++) {
      const name = `${conversation}/${n}`;
      if (n % Math.ceil((appends + turns) / turns) === 0) {
        const { turn, prompt } = await client.send(
          { conversation, content: `remember n=${name}` },
          { key: name },
        );
        expect([typeof turn, typeof prompt]).toEqual(["string", "string"]);
        for await (const entry of client.turnEvents({ conversation, turn })) void entry;
      } else
        await client.appendEntries(
          { conversation, entries: [{ type: "custom", customType: "load", data: { name } }] },
          { key: name },
        );
      count(name);
    }
  });
  const all = Promise.all(work);
  return {
    done: async () => void (await all),
    reached: (part) => {
      const from = Math.ceil(total * part);
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push({ from, resolve });
      if (answered.size >= from) resolve();
      return Promise.race([promise, all.then(() => undefined)]);
    },
    check: async (client) => {
      expect(answered.size).toBe(total);
      for (const [conversation, seqs] of heard) {
        const entries = await everything(client, conversation);
        const names = entries.flatMap(nameIn);
        expect(names.toSorted()).toEqual(
          [...answered].filter((name) => name.startsWith(`${conversation}/`)).toSorted(),
        );
        await expect.poll(() => seqs.length).toBe(entries.length);
        expect(seqs).toEqual(entries.map(({ seq }) => seq));
      }
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await Promise.allSettled([...tails, all]);
    },
  };
}

async function everything(client: Client, conversation: string): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for (let after: number | null = 0; after !== null;) {
    const page = await client.listEntries({ conversation, after, limit: 500 });
    entries.push(...page.entries);
    after = page.next;
  }
  return entries;
}

/** What was asked for under its name: an entry, or a prompt. */
function nameIn(entry: Entry): readonly string[] {
  if (entry.type === "custom" && entry.customType === "load")
    return [(entry.data as { readonly name: string }).name];
  if (entry.type !== "message" || entry.message.role !== "user") return [];
  return entry.message.content.flatMap((block) =>
    block.type === "text" ? [block.text.replace("remember n=", "")] : [],
  );
}
