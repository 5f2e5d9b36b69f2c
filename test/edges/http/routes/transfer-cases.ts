import { readdirSync } from "node:fs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Holdfast } from "#conversation/holdfast";
import { exportBundle } from "#transfer/bundles/export-bundle";
import { user } from "#log/message";
import { tempDir } from "../../../support/temp-dir.ts";
import { by, told } from "../raw-requests.ts";
import { fill } from "../example-conversation.ts";
import { serve, type Served } from "../served.ts";

const SECRET = `ghp_${"a1".repeat(18)}`;

async function bundleOf(holdfast: Holdfast, ...ids: readonly string[]): Promise<Uint8Array<ArrayBuffer>> {
  const chunks = await Array.fromAsync(exportBundle(holdfast, ids));
  return Uint8Array.from(Buffer.concat(chunks));
}

/** What goes out to files and comes in from them, on one kind of store. */
export function transferCases(kind: string, open: () => Promise<Holdfast>): void {
  const set = tempDir();
  const spools = (): readonly string[] => readdirSync(set.path);
  beforeAll(() => void vi.stubEnv("TMPDIR", set.path));
  afterAll(() => {
    vi.unstubAllEnvs();
    set[Symbol.dispose]();
  });

  async function twoServers(): Promise<{ readonly from: Served; readonly to: Served } & AsyncDisposable> {
    const [from, to] = [await serve(), await serve({ holdfast: await open() })];
    await fill(await from.holdfast.create({ id: "a", title: "First" }));
    await (await from.holdfast.conversation("a")).fork({ id: "f", at: "m2" });
    const dispose = async (): Promise<void> => {
      await from[Symbol.asyncDispose]();
      await to[Symbol.asyncDispose]();
    };
    return { from, to, [Symbol.asyncDispose]: dispose };
  }

  test(`${kind}: a bundle is imported as it was exported; a dry run says what would become of it`, async () => {
    await using both = await twoServers();
    const { from, to } = both;
    const file = await bundleOf(from.holdfast, "a", "f");
    const client = to.client(await to.token("admin"));
    const states = async (given: object): Promise<readonly string[]> => {
      const { conversations, bytes } = await client.importFile({ file, ...given });
      expect(bytes).toBe(file.byteLength);
      return conversations.map(({ conversation, state }) => `${conversation} ${state}`);
    };
    expect(await states({ dryRun: true })).toEqual(["a new", "f new"]);
    expect((await client.listConversations()).conversations).toEqual([]);
    await to.holdfast.create({ id: "f" });
    expect(await states({ dryRun: true })).toEqual(["a new", "f conflict"]);
    await expect(client.importFile({ file })).rejects.toMatchObject({ status: 409 });
    expect((await client.listConversations()).conversations).toHaveLength(1);
    await (await to.holdfast.conversation("f")).erase();
    expect(await states({})).toEqual(["a new", "f new"]);
    expect(await states({})).toEqual(["a same", "f same"]);
    for (const id of ["a", "f"])
      expect(await (await to.holdfast.conversation(id)).context()).toEqual(
        await (await from.holdfast.conversation(id)).context(),
      );
    expect(spools()).toEqual([]);
  });

  test(`${kind}: under fresh ids the same import is one under its key, and another under another`, async () => {
    await using both = await twoServers();
    const { from, to } = both;
    const file = await bundleOf(from.holdfast, "a");
    const client = to.client(await to.token("admin"));
    const ask = { file: new Blob([file]), asNew: true };
    const first = await client.importFile(ask, { key: "k" });
    const again = await client.importFile(ask, { key: "k" });
    expect([again.conversation, again.conversations[0]?.state]).toEqual([first.conversation, "same"]);
    const other = await client.importFile(ask, { key: "l" });
    expect(new Set([first.conversation, other.conversation, "a"]).size).toBe(3);
    expect((await client.listConversations()).conversations).toHaveLength(2);
  });

  test(`${kind}: what is no bundle, damaged, cut off, too large, too slow or sent as something else leaves nothing behind`, async () => {
    await using both = await twoServers();
    const { from, to } = both;
    const token = await to.token("admin");
    const file = await bundleOf(from.holdfast, "a");
    const small = await serve({ holdfast: to.holdfast, limits: { importBytes: 100, imports: 1 } });
    const impatient = await serve({ holdfast: to.holdfast, limits: { bodyMs: 20 } });
    const post = (
      at: Served,
      body: string | ReadableStream<Uint8Array>,
      type = "application/x-ndjson",
    ): Promise<Response> =>
      at.ask("/api/import", {
        ...by(token, { "content-type": type }),
        method: "POST",
        body,
        duplex: "half",
      });
    const text = Buffer.from(file).toString();
    const spoilt = text.replace("Find the needle", "Find the noodle");
    const breaksOff = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error("gone")),
    });
    const silent = new ReadableStream<Uint8Array>({});
    for (const [answer, status, code] of [
      [await post(to, ""), 400, "invalid_request"],
      [await post(to, "nonsense\n"), 400, "invalid_request"],
      [await post(to, spoilt), 500, "damaged"],
      [await post(to, text.slice(0, text.length / 2)), 500, "damaged"],
      [await post(to, breaksOff), 400, "invalid_request"],
      [await post(to, text, "text/plain"), 415, "wrong_type"],
      [await post(to, text, "multipart/form-data; boundary=x"), 415, "wrong_type"],
      [await post(small, text), 413, "too_large"],
      [await post(impatient, silent), 408, "too_slow"],
    ] as const)
      expect(await told(answer)).toEqual({ status, code });
    for (const body of [spoilt, "\u001F\u008Bpacked", '{"sessionId":"s","uuid":"u"}']) {
      const { error } = (await (await post(to, body)).json()) as { error: { message: string; next: string } };
      expect(error.message + error.next).not.toMatch(/--[a-z]|holdfast [a-z]/);
    }
    const waiting = Promise.withResolvers<void>();
    const held = post(
      small,
      new ReadableStream<Uint8Array>({ pull: (body) => waiting.promise.then(() => body.close()) }),
    );
    expect(await told(await post(small, "x"))).toEqual({ status: 429, code: "too_many" });
    waiting.resolve();
    await held;
    const client = to.client(token);
    expect((await client.listConversations()).conversations).toEqual([]);
    expect(spools()).toEqual([]);
    const salvaged = await client.importFile({ file: Uint8Array.from(Buffer.from(spoilt)), salvage: true });
    expect(salvaged.problems.length).toBeGreaterThan(0);
    const writer = to.client(await to.token("write"));
    await expect(writer.importFile({ file })).rejects.toMatchObject({ code: "no_right" });
  });

  test(`${kind}: a branch for people is redacted unless told otherwise, and each thing that was taken out is named`, async () => {
    await using served = await serve({ holdfast: await open() });
    const conversation = await served.holdfast.create({ id: "a", title: "Deploying" });
    await conversation.append([user(`push with ${SECRET} for ada@example.com`)]);
    const client = served.client(await served.token("read"));
    for (const format of ["html", "markdown", "json"] as const) {
      const { text, redactions, redacted } = await client.exportTranscript({ conversation: "a", format });
      expect([redacted, text.includes(SECRET), text.includes("ada@")]).toEqual([true, false, true]);
      expect(redactions).toMatchObject([{ kind: "access token", where: "message.content[0].text" }]);
      expect(JSON.stringify(redactions)).not.toContain(SECRET);
      const whole = await client.exportTranscript({ conversation: "a", format, redact: false });
      expect([whole.redacted, whole.text.includes(SECRET), whole.redactions]).toEqual([false, true, []]);
    }
    const emails = await client.exportTranscript({ conversation: "a", emails: true });
    expect([emails.redactions.length, emails.text.includes("ada@")]).toEqual([2, false]);
    const review = await client.reviewBundle({ conversation: ["a"] });
    expect(review.redactions).toHaveLength(1);
    const bundle = Buffer.from(await client.exportBundle({ conversation: ["a"], redact: true })).toString();
    expect([bundle.includes(SECRET), bundle.includes('"redacted":true')]).toEqual([false, true]);
    const keep = review.redactions.map(({ id }) => id);
    const kept = await client.exportTranscript({ conversation: "a", keep });
    expect([kept.text.includes(SECRET), kept.redactions[0]?.kept]).toEqual([true, true]);
    const keptBundle = await client.exportBundle({ conversation: ["a"], redact: true, keep });
    expect(Buffer.from(keptBundle).toString()).toContain(SECRET);
    const all = await client.exportTranscript({
      conversation: "a",
      leaveOut: ["thinking", "tools", "seeds"],
    });
    expect(all.text).toContain("push with");
    await expect(client.exportTranscript({ conversation: "a", keep: ["x"] })).rejects.toMatchObject({
      code: "invalid_request",
    });
    await expect(client.exportTranscript({ conversation: "a", at: "nothing" })).rejects.toMatchObject({
      status: 404,
    });
  });
}
