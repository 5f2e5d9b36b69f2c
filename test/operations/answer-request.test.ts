/** The end of a turn that comes between an answer and the look at who goes on with it. */
import { expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import { parseConversationId } from "#log/ids";
import { perform, type TurnAgents } from "#operations/operation";
import { answerRequest } from "#operations/turns";
import { systemClock } from "#conversation/clock";
import { decorateStore } from "#store/decorate";
import { inMemoryStore } from "#stores/in-memory/index";
import { seed } from "./seeded-space.ts";

function neverRuns(): never {
  throw new Error("Nothing is left to continue");
}

const turns: TurnAgents = {
  names: ["sim"],
  list: () => [],
  agent: neverRuns,
  run: neverRuns,
  cancel: neverRuns,
};

test("an answer that meets the end of its turn continues nothing", async () => {
  const store = inMemoryStore();
  const there = new Holdfast(store, "default");
  await seed(there, {});
  const asks = there.handle(parseConversationId("asks"));
  const meeting = decorateStore(store, {
    verbs: (space) => ({
      async append(request) {
        const result = await space.append(request);
        // The process that runs the turn reads the answer at once, and ends the turn.
        if (request.drafts.some(({ draft }) => draft.type === "permission_answer"))
          await asks.append({ type: "turn_end", turn: "t1", outcome: "completed" });
        return result;
      },
    }),
  });
  const context = { holdfast: new Holdfast(meeting, "default"), clock: systemClock, turns };
  const input = { conversation: "asks", request: "r1", outcome: "allowed" };
  const answered = { conversation: "asks", request: "r1", turn: null };
  expect(await perform(answerRequest, input, context)).toEqual({ ...answered, deduped: false });
  expect(await perform(answerRequest, input, context)).toEqual({ ...answered, deduped: true });
  expect(await asks.findAnswer("r1")).toBe("allowed");
});
