import { expect, test } from "vitest";
import { Flags } from "#edges/cli/options";
import { ownRecords } from "#edges/cli/chat/native-records";

test("what agents keep in a person's home is served by `holdfast ui` on this machine alone", () => {
  const agents = (values: Readonly<Record<string, unknown>>): readonly string[] => [
    ...ownRecords({ flags: new Flags({ values, spellings: {} }), io: { env: { HOME: "/nobody" } } }).keys(),
  ];
  expect(agents({ supervised: true })).toEqual(expect.arrayContaining(["claude", "codex"]));
  for (const values of [
    {},
    { supervised: true, "allow-host": ["box.local:8080"] },
    { supervised: true, "public-url": "https://agents.example" },
  ])
    expect(agents(values)).toEqual([]);
});
