/** An image that a model's service refuses must not make every request to come fail. */
import { expect, test } from "vitest";
import { agentRig } from "../rig.ts";

const IMAGE = [
  { type: "text", text: "what is this?" },
  { type: "image", mediaType: "image/png", data: Buffer.from("not one").toString("base64") },
] as const;

const refused = (): Error =>
  Object.assign(new Error("Could not process image"), { name: "AI_APICallError", statusCode: 400 });

const sent = (at: Awaited<ReturnType<typeof agentRig>>, request: number): string =>
  JSON.stringify(at.model.asked[request]?.prompt);

test("it is left out of the next request, which says so, and of all to come; a newer one is shown", async () => {
  const at = await agentRig([{ error: refused() }, { text: "I cannot see it" }]);
  const first = await at.agent.send("c", [...IMAGE], at.host);
  expect([first.outcome, first.text]).toEqual(["completed", "I cannot see it"]);
  expect(sent(at, 0)).toContain('"type":"file"');
  expect(sent(at, 1)).not.toContain('"type":"file"');
  expect(sent(at, 1)).toContain("[image");
  const later = at.another([{ text: "fine" }]);
  await later.agent.send("c", "go on");
  expect(JSON.stringify(later.model.asked[0]?.prompt)).not.toContain('"type":"file"');
  await later.agent.send("c", [...IMAGE]);
  expect(JSON.stringify(later.model.asked[1]?.prompt).match(/"type":"file"/g)).toHaveLength(1);
});

test("a request without images that is refused for its content fails, once", async () => {
  const error = Object.assign(new Error("content was flagged"), {
    name: "AI_APICallError",
    statusCode: 400,
  });
  const at = await agentRig([{ error }, { text: "never" }]);
  const { outcome, class: known } = await at.agent.send("c", "words", at.host);
  expect([outcome, known, at.model.asked.length]).toEqual(["failed", "poisoned", 1]);
});

test("what is refused again without images fails, and is not asked for a third time", async () => {
  const at = await agentRig([{ error: refused() }, { error: refused() }, { text: "never" }]);
  expect((await at.agent.send("c", [...IMAGE], at.host)).outcome).toBe("failed");
  expect(at.model.asked).toHaveLength(2);
});
