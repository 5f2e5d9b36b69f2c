import fc from "fast-check";
import { expect, test } from "vitest";
import { parseBody } from "#log/body";
import { type Author, stampDraft } from "#log/batch";
import type { EntryBody } from "#log/entry";
import { plannedMembers } from "#log/entry-types";
import {
  flattenCommand,
  flattenOutcome,
  readCommand,
  readOutcome,
} from "#stores/sqlite/thread/flat-commands";
import type { Json } from "#log/json/json-text";
import type { Command } from "#stores/sqlite/thread/messages";

type Append = Extract<Command, { kind: "append" }>;

const TIME = "2026-01-01T00:00:00.000Z";

const bodies: fc.Arbitrary<EntryBody> = fc.oneof(
  fc.record(
    {
      type: fc.constant("message" as const),
      id: fc.constantFrom("given-1", "given-2"),
      parentId: fc.constantFrom("parent", null),
      message: fc.record({
        role: fc.constant("assistant" as const),
        content: fc.constant([]),
        model: fc.string(),
        usage: fc.record({ inputTokens: fc.nat(), costMicros: fc.double({ min: 0, max: 1e9, noNaN: true }) }),
      }),
    },
    { requiredKeys: ["type", "message"] },
  ),
  fc.constant<EntryBody>({ type: "hide", target: "e1", hidden: false }),
  fc.string().map((title): EntryBody => ({ type: "title", title })),
  fc.jsonValue().map((data): EntryBody => ({ type: "metadata", metadata: { data: data as Json } })),
);

const authors = fc.constantFrom<Author>(
  { kind: "owner", epoch: 3, expected: 7, link: "ab" },
  { kind: "once" },
  { kind: "outside" },
);

function commandOf(given: readonly EntryBody[], author: Author): Append {
  const drafts = given.map((body, at) =>
    stampDraft(parseBody(body), { id: body.id ?? `made-${at}`, time: TIME }),
  );
  const request = { conversation: "c", author, key: "k", digest: "d", durability: "full", drafts } as const;
  return { kind: "append", space: "s", durability: "full", nowMs: 5, request };
}

/** The writer's plans read no more of a body than the table says. */
function asPlanned(command: Append): Append {
  const drafts = command.request.drafts.map(({ draft, ...stamp }) => {
    const planned = plannedMembers(draft.type).filter((name) => draft.body[name] !== undefined);
    const body = Object.fromEntries(planned.map((name) => [name, draft.body[name]]));
    return { ...stamp, draft: { ...draft, body } };
  });
  return { ...command, request: { ...command.request, drafts } };
}

test("an append and a create arrive at the writer's thread as they were sent", () => {
  fc.assert(
    fc.property(fc.array(bodies, { minLength: 1, maxLength: 5 }), authors, (given, author) => {
      const append = commandOf(given, author);
      expect(readCommand(structuredClone(flattenCommand({ n: 1, command: append })))).toEqual({
        n: 1,
        command: asPlanned(append),
      });
      const create = createOf(append);
      expect(readCommand(structuredClone(flattenCommand({ n: 2, command: create })))).toEqual({
        n: 2,
        command: createOf(asPlanned(append)),
      });
    }),
  );
});

test("what became of a command arrives as the writer said it", () => {
  const command = commandOf([{ type: "title", title: "T" }], { kind: "outside" });
  const written = { fromSeq: 8, toSeq: 8, lastId: "made-0", ids: ["made-0"], ownerLink: null };
  const values = [
    { ...written, deduped: false, differs: false },
    { ...written, deduped: true, differs: true, ids: ["other"], lastId: "other" },
  ];
  const error = { code: "busy", message: "later", details: {}, safe: "", cause: null } as const;
  const outcomes = [...values.map((value) => ({ ok: true, value }) as const), { ok: false, error } as const];
  for (const outcome of outcomes) {
    const flat = structuredClone(flattenOutcome({ n: 1, command }, outcome));
    expect(readOutcome(command, flat)).toEqual(outcome);
  }
});

function createOf({ request }: Append): Command {
  const { conversation, key, digest, drafts } = request;
  return {
    kind: "create",
    space: "s",
    durability: "full",
    request: { conversation, key, digest, drafts },
  };
}
