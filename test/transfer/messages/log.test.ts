import { expect, test } from "vitest";
import { fromAnthropic, loadImages, storeImages, toAnthropic, toOpenAI } from "#transfer/messages/index";
import { openHoldfast } from "#index";

test("messages go into a log with their images as blobs, and come out as they were", async () => {
  await using holdfast = await openHoldfast({ store: "memory:" });
  const chat = await holdfast.create({ id: "chat" });
  const given = [
    {
      role: "user",
      content: [
        { type: "text", text: "What is this?" },
        { type: "image", source: { type: "base64", media_type: "image/png", data: "AQID" } },
      ],
    },
    { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "look", input: { n: 1 } }] },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "c1", content: "A cat", is_error: false }],
    },
    { role: "assistant", content: "A cat." },
  ];
  const messages = await storeImages(fromAnthropic(given), chat);
  await chat.append(messages.map((message) => ({ type: "message", message })));
  expect(JSON.stringify(await chat.facts(["message"]))).not.toContain("AQID");
  const context = await chat.context();
  expect(toAnthropic(await loadImages(context.messages, chat))).toEqual(given);
  expect(toOpenAI(await loadImages(context.messages, chat)).map(({ role }) => role)).toEqual([
    "user",
    "assistant",
    "tool",
    "assistant",
  ]);
});
