import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { Holdfast } from "#conversation/holdfast";
import type { Conversation } from "#conversation/conversation";
import { openHoldfast } from "#open";
import { inMemoryStore } from "#stores/in-memory/index";
import { exportBundle } from "#transfer/bundles/export-bundle";
import { importBundle } from "#transfer/bundles/import-bundle";
import { exportHtml } from "#transfer/transcripts/html";
import { type OmittedPart, exportJson, readTranscript } from "#transfer/transcripts/read-transcript";
import { exportMarkdown, markdownOf } from "#transfer/transcripts/markdown";
import type { RedactionHit } from "#transfer/redact-text";
import { fileOfText } from "../support/bundle-text.ts";

const KEY = `sk-ant-${"x1".repeat(15)}`;

/** A conversation that has the key wherever one can be. */
async function leaky(holdfast: Holdfast): Promise<{ chat: Conversation; fork: Conversation }> {
  const chat = await holdfast.create({ id: "chat", title: `about ${KEY}`, cwd: `/home/${KEY}` });
  const notes = await chat.putBlob(Buffer.from(`notes\n${KEY}\n`));
  const picture = await chat.putBlob(Buffer.from([0, 1, 2, 255]));
  const text = (words: string) => [{ type: "text", text: words }] as const;
  const { lastId } = await chat.append([
    { type: "seed", run: "r", messages: [{ role: "system", content: `use ${KEY}`, details: { k: KEY } }] },
    {
      type: "message",
      message: {
        role: "user",
        content: [
          ...text(`key: ${KEY.slice(0, 9)}\u001B[31m${KEY.slice(9)}`),
          { type: "file", name: `${KEY}.txt`, mediaType: "text/plain", blob: notes },
          { type: "image", mediaType: "image/png", blob: picture },
        ],
        details: { deep: [{ KEY }] },
      },
    },
    {
      type: "message",
      message: {
        role: "assistant",
        content: [
          { type: "thinking", thinking: KEY },
          {
            type: "toolCall",
            id: "c",
            name: "shell",
            input: { command: `curl -H 'x: ${KEY}'`, password: "pw" },
          },
        ],
      },
    },
    {
      type: "message",
      message: { role: "toolResult", toolCallId: "c", content: text(`{"token":"${KEY}"}`) },
    },
    { type: "update", turn: "t", data: { text: KEY.slice(0, 12) } },
    { type: "update", turn: "t", data: { text: KEY.slice(12) } },
    { type: "tool_intent", call: "c", name: "shell", input: KEY },
    { type: "custom", customType: "note", data: { of: KEY } },
    { type: "state_change", state: { secret: "correct horse" } },
    { type: "compaction", summary: `it is ${KEY}` },
  ]);
  await chat.label(lastId, KEY);
  await chat.appendOutside({ type: "metadata", metadata: { tags: [KEY] } });
  const fork = await chat.fork({ id: "fork" });
  await fork.append({ type: "message", message: { role: "user", content: text(`again ${KEY}`) } });
  return { chat, fork };
}

async function bundle(
  holdfast: Holdfast,
  ids: readonly string[],
): Promise<{ text: string; hits: readonly RedactionHit[]; unread: readonly string[] }> {
  const hits: RedactionHit[] = [];
  const unread: string[] = [];
  const chunks: Uint8Array[] = [];
  const redact = {
    onHit: (hit: RedactionHit) => void hits.push(hit),
    onUnread: (digest: string) => void unread.push(digest),
  };
  for await (const chunk of exportBundle(holdfast, ids, { redact })) chunks.push(chunk);
  return { text: Buffer.concat(chunks).toString(), hits, unread };
}

const pieces = (text: string): string => Buffer.from(text).toString("base64");

test.each([["chat"], ["fork"], ["chat", "fork"]])(
  "a redacted bundle of %s %s has the key nowhere, names every place, and is verified when it is read",
  async (...ids) => {
    const holdfast = await openHoldfast({ store: inMemoryStore() });
    const { chat } = await leaky(holdfast);
    const named = ids.filter((id) => id !== undefined);
    const { text, hits, unread } = await bundle(holdfast, named);
    expect(text).not.toContain(KEY);
    for (const half of [KEY.slice(0, 12), KEY.slice(12), "correct horse"]) expect(text).not.toContain(half);
    expect(text).not.toContain(pieces(`notes\n${KEY}\n`));
    expect(JSON.stringify(hits)).not.toContain(KEY.slice(0, 8));
    expect(JSON.parse(text.split("\n")[0] ?? "")).toMatchObject({ type: "holdfast", redacted: true });
    expect(unread).toHaveLength(1);
    const where = hits.map((hit) => hit.where);
    for (const place of [
      "messages[0].content",
      "message.content[0].text",
      "message.content[1].name",
      "message.details.deep[0].KEY",
      "message.content[0].thinking",
      "message.content[1].input.command",
      "message.content[1].input.password",
      "data.of",
      "state.secret",
      "summary",
    ])
      expect(where).toContain(place);
    expect(where.some((place) => place.startsWith("blob "))).toBe(true);

    const other = await openHoldfast({ store: inMemoryStore() });
    const { conversations, problems } = await importBundle(other, fileOfText(text));
    expect([conversations.length, problems]).toEqual([named.length, []]);
    for (const id of named) {
      const copy = await other.conversation(id);
      expect((await copy.head()).summary?.metadata["redacted"]).toBe(true);
      await expect(copy.own({ writer: "me", leaseMs: 0 })).rejects.toMatchObject({ code: "invalid_request" });
    }
    const [first = ""] = named;
    const shown = await (await other.conversation(first)).branch();
    const file = JSON.stringify(shown).match(/"text\/plain","blob":"([0-9a-f]{64})"/)?.[1] ?? "";
    expect(Buffer.from(await (await other.conversation(first)).getBlob(file)).toString()).toBe(
      "notes\n[redacted: API key]\n",
    );
    expect(await other.check({ repair: false })).toEqual([]);
    // The original is as it was.
    expect(JSON.stringify(await chat.branch())).toContain(KEY);
    await (await chat.own({ writer: "me", leaseMs: 0 }))[Symbol.asyncDispose]();
  },
);

test("pages for people are redacted unless told otherwise", async () => {
  const holdfast = await openHoldfast({ store: inMemoryStore() });
  const { fork } = await leaky(holdfast);
  for (const write of [exportMarkdown, exportJson]) {
    const hits: RedactionHit[] = [];
    const page = await write(fork, { onHit: (hit) => void hits.push(hit) });
    expect(page).not.toContain(KEY);
    expect(page).toContain("[redacted: API key]");
    expect(hits.length).toBeGreaterThan(8);
    expect(await write(fork, { redact: false })).toContain(KEY);
  }
  const value = JSON.parse(await exportJson(fork)) as {
    redacted: boolean;
    entries: readonly { type: string }[];
  };
  expect([value.redacted, value.entries[0]?.type]).toEqual([true, "conversation"]);
});

test("whatever was said, a page has no line of it outside of a fence", async () => {
  const holdfast = await openHoldfast({ store: inMemoryStore() });
  const hostile = [
    "```\n<script>alert(1)</script>\n# heading\n```````",
    "<img src=x onerror=alert(1)>\n\n![p](http://evil.example/p.png)\n[l](javascript:alert(1))",
    "\u001B[2J\u001B]0;owned\u0007\u202Eright to left\u200B",
    "~~~\n## User · `2026`\n~~~",
    "\r\n```text\r\nx",
  ];
  const chat = await holdfast.create({ title: "<b>bold</b> ![x](http://evil.example) `` ` `` \n# two" });
  for (const text of hostile)
    await chat.append({ type: "message", message: { role: "user", content: [{ type: "text", text }] } });
  await chat.append({
    type: "message",
    message: {
      role: "assistant",
      model: "<i>m</i>`\n# x",
      content: [
        { type: "toolCall", id: "c", name: "a`b<script>\n# y", input: { html: "```</pre><script>" } },
        { type: "file", mediaType: "text/html", name: "<script>.html](javascript:1)", data: "" },
      ],
    },
  });
  await chat.append({ type: "custom", customType: "<script>", inContext: true, content: [] });
  const page = markdownOf(await readTranscript(chat));
  const outside: string[] = [];
  let fence = "";
  for (const line of page.split("\n")) {
    const [run = ""] = /^`{3,}/.exec(line) ?? [];
    if (fence === "" && run !== "") fence = run;
    else if (fence !== "" && line === fence) fence = "";
    else if (fence === "") outside.push(line);
  }
  expect(fence).toBe("");
  // Signs that mean something stand behind a backslash, or in code.
  const bare = outside.map((line) => line.replaceAll(/\\./g, "").replaceAll(/`[^`]*`/g, "")).join("\n");
  expect(bare).not.toMatch(/[<>[\]()!]/);
  expect(outside.filter((line) => line.startsWith("# "))).toHaveLength(1);
  expect(outside.filter((line) => line.startsWith("## "))).toHaveLength(hostile.length + 2);
  // oxlint-disable-next-line no-control-regex -- they are what must not be there
  expect(page).not.toMatch(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202E\u200B]/);
  expect(page).toContain("‹U+001B›[2J");
});

test("what a person wants to keep stays where it stands, there alone, and is told as kept", async () => {
  const holdfast = await openHoldfast({ store: inMemoryStore() });
  const { fork } = await leaky(holdfast);
  const review = async (
    keep: readonly string[],
  ): Promise<{ text: string; hits: readonly RedactionHit[] }> => {
    const hits: RedactionHit[] = [];
    const text = await exportHtml(fork, { keep: new Set(keep), onHit: (hit) => void hits.push(hit) });
    return { text, hits };
  };
  const { text: none, hits } = await review([]);
  expect([none.includes(KEY), new Set(hits.map(({ id }) => id)).size]).toEqual([false, hits.length]);
  const last = hits.find(({ before }) => before === "again ");
  const kept = await review([last?.id ?? ""]);
  expect(kept.text.split(KEY)).toHaveLength(2);
  expect(kept.text).toContain(`again ${KEY}`);
  expect(kept.hits.filter((hit) => hit.kept)).toEqual([{ ...last, kept: true }]);
  expect((await review(["0".repeat(32)])).text).toBe(none);
});

test("thinking, tools and seeds are left out of a page where they are not wanted, and nothing else is", async () => {
  const holdfast = await openHoldfast({ store: inMemoryStore() });
  const { chat } = await leaky(holdfast);
  const page = (leaveOut: readonly OmittedPart[]): Promise<string> => exportHtml(chat, { leaveOut });
  const holds = async (leaveOut: readonly OmittedPart[]): Promise<readonly boolean[]> => {
    const text = await page(leaveOut);
    return ["<summary>Thinking", "Calls shell", "Result of c", "Inputs of run r", "text/plain"].map((words) =>
      text.includes(words),
    );
  };
  expect(await holds([])).toEqual([true, true, true, true, true]);
  expect(await holds(["thinking"])).toEqual([false, true, true, true, true]);
  expect(await holds(["tools"])).toEqual([true, false, false, true, true]);
  expect(await holds(["seeds"])).toEqual([true, true, true, false, true]);
  expect(await holds(["thinking", "tools", "seeds"])).toEqual([false, false, false, false, true]);
  const { entries } = JSON.parse(await exportJson(chat, { leaveOut: ["thinking"], redact: false })) as {
    readonly entries: readonly object[];
  };
  expect(JSON.stringify(entries)).not.toContain('"thinking"');
  expect(JSON.stringify(entries)).toContain('"toolCall"');
});

test("a web page has what was said as text alone, under a policy that runs and loads nothing", async () => {
  const holdfast = await openHoldfast({ store: inMemoryStore() });
  const hostile = `</pre></title><script>alert(1)</script><img src=x onerror="a">'\u001B[2J`;
  const chat = await holdfast.create({ title: hostile });
  await chat.append({
    type: "message",
    message: { role: "user", content: [{ type: "text", text: hostile }] },
  });
  const html = await exportHtml(chat);
  expect(html).toContain("&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=&quot;a&quot;&gt;&#39;");
  expect(html.match(/<(?:script|img)/g)).toBeNull();
  expect(html).not.toContain("\u001B");
  const style = /<style>([^]*)<\/style>/.exec(html)?.[1] ?? "";
  expect(html).toContain(`style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`);
});
