/**
 * Importers: records in, batches of bodies out. Goal: a shape whose messages are made of several records fits as well as
 * one with a line for each entry. Method: a rollout, read by its vendor's reader, comes in through the same import.
 */
import { expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import { LogError } from "#log/errors";
import { type Fields, fieldsIn, textIn } from "#log/json/json-fields";
import { inMemoryStore } from "#stores/in-memory/index";
import { checkImport } from "#transfer/bundles/import-check";
import { importTargets } from "#transfer/bundles/import-targets";
import { writeImport } from "#transfer/bundles/import-write";
import type { Importer } from "#transfer/bundles/importers";
import { CODEX } from "#vendors/codex/codex";

const ROOT = JSON.stringify({ type: "conversation", id: "root" });

const rollouts: Importer = {
  name: "rollout",
  begin: (first) => {
    const meta = JSON.parse(first) as Fields;
    const { records } = CODEX;
    if (records === null || !records.isRecord(meta)) return null;
    const reader = records.reader();
    return {
      header: { conversation: textIn(fieldsIn(meta["payload"])?.["id"]) ?? "", root: ROOT, entries: null },
      read: (record) => {
        if (record.startsWith("!")) throw new LogError("invalid_entry", "This is no record");
        reader.add(JSON.parse(record) as Fields);
        return { bodies: [] };
      },
      end: () => ({
        bodies: reader.messages().map(({ message }) => ({
          body: JSON.stringify({ type: "message", message }),
          seq: null,
        })),
      }),
    };
  },
};

const item = (payload: object): string =>
  JSON.stringify({ timestamp: "2026-01-01T00:00:00Z", type: "response_item", payload });
const META = JSON.stringify({ type: "session_meta", payload: { id: "r1", cwd: "/w" } });
const RECORDS = [
  item({ type: "message", role: "user", content: [{ type: "input_text", text: "Run it" }] }),
  item({ type: "message", role: "assistant", content: [{ type: "output_text", text: "I will" }] }),
  item({ type: "function_call", name: "shell", arguments: '{"cmd":"ls"}', call_id: "c1" }),
  item({ type: "function_call_output", call_id: "c1", output: "a.txt" }),
];

function fileOf(...lines: readonly string[]): Parameters<typeof checkImport>[0] {
  return {
    name: "rollout.jsonl",
    chunks: async function* () {
      yield new TextEncoder().encode(`${lines.join("\n")}\n`);
    },
  };
}

test("records that make up a message together come in as that message", async () => {
  await using holdfast = new Holdfast(inMemoryStore(), "default");
  const file = fileOf(META, ...RECORDS);
  const checked = await checkImport(file, () => undefined, [rollouts]);
  expect(checked).toMatchObject({ format: "rollout", logs: [{ entries: 4 }], problems: [] });
  await writeImport(holdfast, file, {
    checked,
    targets: await importTargets(holdfast, checked, ["r1"]),
    onEntry: () => undefined,
    importers: [rollouts],
  });
  const chat = await holdfast.conversation("r1");
  const { messages } = await chat.context();
  expect(messages.map(({ role, content }) => [role, content.map(({ type }) => type)])).toEqual([
    ["user", ["text"]],
    ["assistant", ["text", "toolCall"]],
    ["toolResult", ["text"]],
  ]);
});

test("a record that cannot be read is a problem at its line, and the others come along", async () => {
  const checked = await checkImport(fileOf(META, "!", ...RECORDS), () => undefined, [rollouts]);
  expect(checked.problems).toMatchObject([{ line: 2, code: "invalid_entry" }]);
  expect([...checked.unusable]).toEqual([2]);
  expect(checked.logs[0]?.entries).toBe(4);
});

test("a file of no known shape is refused", async () => {
  await expect(checkImport(fileOf('{"type":"else"}'), () => undefined, [rollouts])).rejects.toMatchObject({
    code: "invalid_request",
  });
});
