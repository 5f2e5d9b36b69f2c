/** What an agent's own record says of its calls is what the log says of them, once it is adopted. */
import { expect, test } from "vitest";
import type { Message } from "#log/message";
import { adoptedEntries } from "#upstream/sessions/adopt-turns";
import type { NativeMessage } from "#upstream/upstream";
import { aRig } from "../rig.ts";

const made = (message: Message, more: Partial<NativeMessage> = {}): NativeMessage => ({
  id: null,
  time: null,
  message,
  ...more,
});
const call = (id: string): NativeMessage =>
  made({ role: "assistant", content: [{ type: "toolCall", id, name: id, input: {} }] });
const result = (toolCallId: string, more: { isError?: true }): Message => ({
  role: "toolResult",
  toolCallId,
  content: [{ type: "text", text: "x" }],
  ...more,
});

test("a session is adopted with what became of each of its calls", async () => {
  const messages = [
    made({ role: "user", content: [{ type: "text", text: "go" }] }),
    call("done"),
    made(result("done", {})),
    call("failed"),
    made(result("failed", { isError: true })),
    call("refused"),
    made(result("refused", { isError: true }), { notRun: true }),
    call("stopped"),
    made(result("stopped", { isError: true }), { cutOff: true }),
    call("open"),
  ];
  const { holdfast } = await aRig({});
  const entries = adoptedEntries({ agent: "claude", session: "s", messages }, () => holdfast.newId());
  const chat = await holdfast.create({ id: "adopted", entries });
  const effects = await chat.effects();
  expect(effects.map(({ name, state }) => [name, state])).toEqual([
    ["done", "done"],
    ["failed", "failed"],
    ["refused", "not_started"],
    ["stopped", "unknown"],
    ["open", "unknown"],
  ]);
});
