/** Goal: what format 2 added is stored, comes back word for word, and is refused when it is ill-formed. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseBody } from "#log/body";
import { decodeEntry } from "#log/codec";
import type { EntryOf } from "#log/entry";
import { METADATA_CHARS_MAX } from "#log/table/shapes";
import { OUTSIDE_TYPES } from "#log/entry-types";
import { detailsOf, isInternal } from "#log/message";
import { withoutCwd } from "#log/projections/config";
import { cwdOf } from "#log/projections/settings";
import { recordedEvents } from "#turn/rules/attempt-record";
import { metadataOf } from "#log/summary";
import { toAiSdk } from "#transfer/messages/ai-sdk";
import { toAnthropic } from "#transfer/messages/anthropic";
import { toOpenAI } from "#transfer/messages/openai";
import { aConversation, contextOf, user } from "../support/a-log.ts";

const said = (block: string): string =>
  `{"type":"message","message":{"role":"assistant","content":[${block}]}}`;

const ACCEPTED: readonly string[] = [
  '{"type":"run_start","run":"r","trigger":"timer","triggerId":"t:7","mailbox":"inbox/1","model":"m","window":200000,"policy":{"tools":"ask"},"tools":["read","bash"],"seedCount":3,"continues":"r0","promptPatch":{"date":null,"rules":"be brief"}}',
  '{"type":"run_end","run":"r","status":"failed","error":{"message":"no money","code":"billing","at":1.0}}',
  '{"type":"attempt","turn":"t","model":"m","promptDigest":"9f2c","toolsDigest":"5b0e"}',
  '{"type":"attempt_end","turn":"t","class":"limit","upstream":"A","model":"m","usage":{"inputTokens":5}}',
  '{"type":"permission","request":"p1","call":"c1","turn":"t","options":[{"id":"yes","name":"Allow","kind":"allow_once"}],"expiresAt":"2026-01-01T10:00:00Z"}',
  '{"type":"permission_answer","request":"p1","outcome":"allowed","option":"yes","by":"ann"}',
  '{"type":"steer","steer":"s","state":"accepted","content":[{"type":"text","text":"wait"}],"when":"turn","turn":"t"}',
  '{"type":"cwd","cwd":"/work","project":{"id":"git:abc","root":"/work","remote":"host:repo"}}',
  '{"type":"metadata","metadata":{"tags":["a","b"],"archived":true,"pinned":false,"colour":"red"}}',
  said('{"type":"text","text":"x","providerMetadata":{"google":{"thoughtSignature":"c2ln"}}}'),
  said('{"type":"redactedThinking","data":"b3BhcXVl"}'),
  said('{"type":"file","mediaType":"application/pdf","data":"JVBERg==","name":"a.pdf"}'),
  said('{"type":"audio","mediaType":"audio/wav","blob":"9f86"}'),
  said('{"type":"server_tool_use","id":"x","n":12345678901234567890}'),
  said('{"type":"video","n":1.0}'),
];

test.each(ACCEPTED)("is stored and comes back word for word: %s", async (body) => {
  const conversation = await aConversation(user("q"));
  const outside = OUTSIDE_TYPES.includes((JSON.parse(body) as { type: never }).type);
  const { lastId } = outside ? await conversation.appendOutside(body) : await conversation.append(body);
  const { type, ...payload } = JSON.parse(body) as { type: string };
  const entry = await conversation.entry(lastId);
  expect(entry).toMatchObject({ type, ...payload });
  expect(entry.payload).toBe(body.replace(`"type":"${type}",`, ""));
});

test("a first entry says who began it, which project it is of, and that lists leave it out", async () => {
  const first = {
    type: "conversation",
    cwd: "/work",
    parent: { conversation: "p", entry: "e", call: "c1", run: "r" },
    project: { id: "git:abc" },
    unlisted: true,
  } as const;
  const { payload } = parseBody(first);
  const stored = { v: 1, id: "c1", seq: 1, parentId: null, time: "", type: "conversation", payload } as const;
  expect(decodeEntry(stored)).toMatchObject(first);
});

test.each([
  '{"type":"run_start","run":"r","trigger":"t","window":-1}',
  '{"type":"run_start","run":"r","trigger":"t","tools":"read"}',
  '{"type":"run_start","run":"r","trigger":"t","continues":" "}',
  '{"type":"run_start","run":"r","trigger":"t","promptPatch":[]}',
  '{"type":"run_start","run":"r","trigger":"t","triggerId":7}',
  '{"type":"run_start","run":"r","trigger":"t","mailbox":""}',
  '{"type":"run_start","run":"r","trigger":"t","seedCount":"3"}',
  '{"type":"run_end","run":"r","status":"failed","error":"no money"}',
  '{"type":"attempt","turn":"t"}',
  '{"type":"attempt","turn":"t","model":"m","promptDigest":1}',
  '{"type":"attempt_end","turn":"t"}',
  '{"type":"attempt_end","turn":"t","class":"limit","usage":{"inputTokens":-1}}',
  '{"type":"permission","request":""}',
  '{"type":"permission","request":"p","options":[{"name":"Allow"}]}',
  '{"type":"permission_answer","request":"p"}',
  '{"type":"permission_answer","request":"p","outcome":"maybe"}',
  '{"type":"steer","steer":"s","state":"accepted","when":"later"}',
  '{"type":"cwd"}',
  '{"type":"cwd","cwd":"/work","project":{"root":"/work"}}',
  '{"type":"metadata","metadata":[]}',
  '{"type":"metadata","metadata":{"tags":"a"}}',
  '{"type":"metadata","metadata":{"archived":1}}',
  `{"type":"metadata","metadata":{"note":"${"x".repeat(METADATA_CHARS_MAX)}"}}`,
  `{"type":"metadata","metadata":{"note":${"[".repeat(101)}${"]".repeat(101)}}}`,
  '{"type":"conversation","parent":{"entry":"e"}}',
  '{"type":"conversation","unlisted":"yes"}',
  said('{"type":"text","text":"x","providerMetadata":"sig"}'),
  said('{"type":"redactedThinking"}'),
  said('{"type":"file","data":"JVBERg=="}'),
  said('{"type":" "}'),
  said('{"type":"server_tool_use","providerMetadata":[]}'),
])("is refused: %s", (body) => {
  expect(() => parseBody(body)).toThrow(expect.objectContaining({ code: "invalid_entry" }));
});

test("blocks that only a provider knows are in the context, and in no other provider's messages", async () => {
  const conversation = await aConversation(
    user("q"),
    said('{"type":"text","text":"a"},{"type":"server_tool_use","id":"x"}'),
    user("more"),
    said('{"type":"video"}'),
  );
  expect(await contextOf(conversation)).toEqual([
    "user:q",
    "assistant:a server_tool_use",
    "user:more",
    "assistant:video",
  ]);
  const { messages } = await conversation.context();
  for (const write of [toAnthropic, toOpenAI, toAiSdk]) {
    const wires = write(messages);
    expect(wires).toHaveLength(3);
    expect(JSON.stringify(wires)).not.toMatch(/server_tool_use|video/);
  }
});

test("who writes one member of the metadata leaves the others, and null takes one away", async () => {
  const conversation = await aConversation();
  const set = (metadata: EntryOf<"metadata">["metadata"]): Promise<unknown> =>
    conversation.appendOutside({ type: "metadata", metadata });
  await set({ tags: ["a"], pinned: true });
  await set({ archived: true });
  await set({ pinned: null });
  const entries = await Array.fromAsync(conversation.log(), (stored) => decodeEntry(stored));
  expect(metadataOf(entries)).toEqual({ tags: ["a"], archived: true });
});

test("what an attempt used stands at its end or on the message, and each counts once", async () => {
  const conversation = await aConversation(
    user("q"),
    { type: "attempt_end", turn: "t", class: "limit", model: "m", usage: { inputTokens: 5 } },
    { type: "turn_end", turn: "t", outcome: "failed", usage: { inputTokens: 7 } },
    { type: "attempt", turn: "t", upstream: "A", usage: { inputTokens: 11 } },
  );
  expect(await conversation.usage()).toMatchObject({ inputTokens: 23, byModel: { m: { inputTokens: 5 } } });
});

test("a conversation is where its latest cwd says, in the head and in lists", async () => {
  const conversation = await aConversation(user("q"), { type: "cwd", cwd: "/a" }, { type: "cwd", cwd: "/b" });
  expect((await conversation.head()).cwd).toBe("/b");
});

test("details and internal are read from the message, and from beside it as format 1 had them", async () => {
  const at = (beside: string, inside: string): string =>
    `{"type":"message"${beside},"message":{"role":"user","content":[{"type":"text","text":"q"}]${inside}}}`;
  const conversation = await aConversation(
    at("", ',"details":{"a":1},"internal":true'),
    at(',"details":{"b":2},"internal":true', ""),
    at(',"details":{"a":3,"b":2}', ',"details":{"a":1}'),
    at("", ',"details":"text"'),
    at("", ""),
  );
  const found = (await conversation.branch()).flatMap((entry) =>
    entry.type === "message" ? [[detailsOf(entry), isInternal(entry)]] : [],
  );
  expect(found).toEqual([
    [{ a: 1 }, true],
    [{ b: 2 }, true],
    [{ a: 1, b: 2 }, false],
    ["text", false],
    [undefined, false],
  ]);
});

test("the working directory is the head's, unless a config in the manner of format 1 has it", () => {
  expect(cwdOf({}, "/head")).toBe("/head");
  expect(cwdOf({ cwd: "/config" }, "/head")).toBe("/config");
  expect(cwdOf(withoutCwd({ cwd: "/config" }), "/head")).toBe("/head");
});

test("only their accessors read what has had two homes", () => {
  const source = join(import.meta.dirname, "..", "..", "src");
  const homes =
    /\b(?:entry|one|node|stored|message)\.(?:details|internal)\b|\bconfig(?:\.cwd\b|\["cwd"\])|cwd[^;{]*\} = (?:config|stored)\b/;
  const accessors = ["log/message.ts", "log/projections/config.ts"];
  const readers = readdirSync(source, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && homes.test(readFileSync(join(source, file), "utf8")),
  );
  expect(readers.toSorted()).toEqual(accessors);
});

test("events are read by the names that format 1 stored them under, whatever version the batch has", async () => {
  const events =
    '[{"type":"told","data":{"x":1}},{"type":"kept","message":"m","text":"whole"},{"type":"text","text":"t","remark":true},{"type":"other","data":2}]';
  const conversation = await aConversation(`{"type":"update","turn":"t","data":{"events":${events}}}`);
  const stored = await Array.fromAsync(conversation.log(), (one) => decodeEntry(one));
  const update = stored.findLast((entry) => entry.type === "update");
  expect(update?.payload).toContain(events);
  expect(update?.type === "update" && recordedEvents(update)).toEqual([
    { type: "other", data: { x: 1 } },
    { type: "final_text", message: "m", text: "whole" },
    { type: "text", text: "t", adapterText: true },
    { type: "other", data: 2 },
  ]);
});

test("the queue says what a steer waits for, and a run why it failed and what it goes on with", async () => {
  const conversation = await aConversation(
    { type: "steer", steer: "s1", state: "accepted", when: "run", turn: "t" },
    { type: "steer", steer: "s2", state: "accepted" },
    { type: "run_start", run: "r2", trigger: "timer", continues: "r1" },
    { type: "run_end", run: "r2", status: "failed", error: { message: "no money" } },
  );
  expect(await conversation.queue()).toMatchObject([
    { steer: "s1", when: "run", turn: "t" },
    { steer: "s2", when: null, turn: null },
  ]);
  expect(await conversation.runs()).toMatchObject([
    { continues: "r1", status: "failed", error: { message: "no money", code: null } },
  ]);
});
