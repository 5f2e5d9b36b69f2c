import { expect, test } from "vitest";
import { SessionCost } from "#edges/acp/agent/turn-end";

const says = (amount: number, currency: string = "USD") => ({
  sessionUpdate: "usage_update",
  cost: { amount, currency },
});

test("each turn costs what the session's total grew by, from 0 on in a new session", () => {
  const cost = new SessionCost(true);
  cost.read(says(0.01));
  cost.read(says(0.02));
  expect(cost.charge({ inputTokens: 1 })).toEqual({ inputTokens: 1, costMicros: 20_000 });
  cost.read(says(0.025));
  expect(cost.charge(null)).toEqual({ costMicros: 5_000 });
  cost.read(says(0.025));
  expect(cost.charge(null)).toBe(null);
});

test("the first total of a session that was there before is no cost of a turn", () => {
  const cost = new SessionCost(false);
  cost.read(says(7));
  expect(cost.charge({ inputTokens: 1 })).toEqual({ inputTokens: 1 });
  cost.read(says(7.5));
  expect(cost.charge({ inputTokens: 1 })).toEqual({ inputTokens: 1, costMicros: 500_000 });
});

test("a turn without a total, with a lower one or with one in another currency has no known cost", () => {
  const cost = new SessionCost(true);
  expect(cost.charge({ inputTokens: 1 })).toEqual({ inputTokens: 1 });
  cost.read(says(3, "EUR"));
  expect(cost.charge({ inputTokens: 1 })).toEqual({ inputTokens: 1 });
  cost.read(says(3));
  expect(cost.charge({ inputTokens: 1 })).toEqual({ inputTokens: 1, costMicros: 3_000_000 });
  cost.read(says(1));
  expect(cost.charge({ inputTokens: 1 })).toEqual({ inputTokens: 1 });
  cost.read(says(2));
  expect(cost.charge({ inputTokens: 1 })).toEqual({ inputTokens: 1, costMicros: 1_000_000 });
});
