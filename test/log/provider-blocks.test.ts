/** Goal: a block that nothing is known of is kept, and trips up nobody who reads, shows, searches or tells a conversation. */
import { expect, test } from "vitest";
import { acpBlock } from "#edges/acp/host/updates";
import { replayOf } from "#edges/acp/host/history";
import { previewOf } from "#edges/cli/terminal/preview";
import { blockPreview } from "#transfer/views/entry-preview";
import type { ContentBlock } from "#log/message";
import { searchText } from "#log/entry-types";
import { readPriorContext } from "#upstream/read-prior";
import { textOf } from "#upstream/rules/outline";
import { renderPreamble } from "#upstream/rules/preamble";
import { PRIOR_BUDGET } from "#upstream/rules/prior-budget";
import { Holdfast } from "#conversation/holdfast";
import { inMemoryStore } from "#stores/in-memory/index";
import { transcriptText } from "#vendors/claude/transcript-text";
import { countingIdsAndTime } from "../support/a-log.ts";
import { spaceOf } from "#conversation/on-space";

const KNOWN: ContentBlock = { type: "text", text: "said" };
const FOREIGN = [
  { type: "server_tool_use", id: "x", secretive: "hush" },
  { type: "video", secretive: "hush" },
  { type: "toString", secretive: "hush" },
] as unknown as readonly ContentBlock[];

async function aChat(content: readonly ContentBlock[]): Promise<Holdfast> {
  const holdfast = new Holdfast(inMemoryStore(), "default", countingIdsAndTime());
  const chat = await holdfast.create({ id: "c" });
  await chat.append([
    { type: "message", message: { role: "user", content } },
    { type: "message", message: { role: "assistant", content } },
    { type: "message", message: { role: "toolResult", toolCallId: "none", content } },
    { type: "custom", customType: "note", inContext: true, content },
  ]);
  return holdfast;
}

test.each([
  ["beside words", [KNOWN, ...FOREIGN], 3],
  ["alone", FOREIGN, 0],
])("%s: only what is known is told, shown and found", async (_, content, shown) => {
  await using holdfast = await aChat(content);
  const chat = await holdfast.conversation("c");
  const { leaf } = await chat.head();
  const prior = await readPriorContext(spaceOf(holdfast), chat.id, { from: leaf, budget: PRIOR_BUDGET });
  const branch = await chat.branch();
  const replayed = [...replayOf(branch)];
  expect(replayed).toHaveLength(shown === 0 ? 0 : 2);
  const messages = branch.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
  let made = 0;
  const newId = (): string => `n${++made}`;
  const words = [
    transcriptText("s", { cwd: "/work", messages, newId, nowMs: 0 }),
    renderPreamble(prior),
    textOf(content),
    JSON.stringify(replayed),
    ...branch.flatMap((entry) =>
      entry.type === "conversation" ? [] : [searchText(entry), previewOf(entry)],
    ),
  ].join("\n");
  expect(words).not.toContain("hush");
  expect(textOf(content)).toBe(shown === 0 ? "" : "said");
  expect((await chat.context()).messages.map((message) => message.content)).toEqual([
    content,
    content,
    content,
  ]);
});

test("it is named to people, and a host is not given it", () => {
  expect(FOREIGN.map((block) => blockPreview(block))).toEqual(["[server_tool_use]", "[video]", "[toString]"]);
  expect(FOREIGN.map((block) => acpBlock(block))).toEqual([null, null, null]);
});
