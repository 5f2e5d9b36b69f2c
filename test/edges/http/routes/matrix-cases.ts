/**
 * Every route of the table, asked by everybody, for what is in the space, in another one and nowhere, and with malformed input. All
 * requests are made from the table: a new route is in here as soon as it is there.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Holdfast } from "#conversation/holdfast";
import { type Route, KEY_HEADER } from "#edges/http/routes/route";
import { malformedJson, malformedText, PATH_TEXTS, RAW_BODIES } from "./malformed.ts";
import { type Ids, requestOf, type Sample, sampleOf } from "./samples.ts";
import { ALL_OPERATIONS } from "../served.ts";
import { CANARIES, TwoSpaces } from "./two-spaces.ts";

interface Answer {
  readonly status: number;
  readonly code: string;
  readonly text: string;
}

const ROWS = ALL_OPERATIONS.map(([name, route]) => ({ name, route }));
const REFUSED = [400, 404, 405, 413];
const TOO_LARGE = 100_001;

export function matrixCases(kind: string, open: () => Promise<Holdfast>): void {
  describe(`on ${kind}`, () => {
    let spaces: TwoSpaces;
    beforeAll(async () => {
      spaces = await TwoSpaces.open(await open());
    });
    afterAll(() => spaces[Symbol.asyncDispose]());

    const ask = async (path: string, init: RequestInit): Promise<Answer> => {
      const response = await spaces.served.ask(path, init);
      expect(response.headers.get("set-cookie")).toBeNull();
      if (response.headers.get("content-type")?.startsWith("text/event-stream") === true) {
        await response.body?.cancel();
        return { status: response.status, code: "", text: "" };
      }
      const text = await response.text();
      const answer = { status: response.status, code: codeOf(response.status, text), text };
      // An answer of the server as it should be, even where the request was not.
      expect(response.status === 501 || response.status < 500, `${path} ${text}`).toBe(true);
      if (!response.ok) expect(text).not.toMatch(INTERNAL);
      return answer;
    };
    const asAdmin = (route: Route, sample: Sample, more: RequestInit = {}): Promise<Answer> => {
      const [path, init] = requestOf(route, sample, spaces.admin);
      const headers = { ...(init.headers as object), ...(more.headers as object | undefined) };
      return ask(path, { ...init, ...more, headers });
    };

    test.each(ROWS)("$name lets in only who has its right", async ({ name, route }) => {
      for (const sender of spaces.senders) {
        const sample = sampleOf(name, route, spaces.ids.own);
        const { status, code, text } = await ask(...requestOf(route, sample, sender.headers));
        const expected = sender.refused(route);
        if (expected !== null) expect([sender.name, status, code]).toEqual([sender.name, ...expected]);
        else expect([sender.name, status]).not.toEqual([sender.name, expect.toBeOneOf([401, 403, 405])]);
        const isStranger = sender.headers === spaces.stranger;
        expect(text).not.toContain(isStranger ? CANARIES.own : CANARIES.foreign);
        if (expected === null && !isStranger && "conversation" in sample.params)
          expect(code).not.toBe("conversation_not_found");
      }
    });

    test.each(ROWS)("$name tells ids of another space like ids that nothing has", async ({ name, route }) => {
      const { own, foreign, missing } = spaces.ids;
      const sample = sampleOf(name, route, own);
      const asked = async (ids: Ids, place: Place): Promise<object> => {
        const { status, code, text } = await asAdmin(route, withId(sample, ids, place));
        expect(text).not.toContain(CANARIES.foreign);
        const said = status < 300 ? "" : text.replaceAll(ids[place.name] ?? "", "ID");
        return { place, status, code, said };
      };
      for (const place of placesOf(route, own)) {
        const answers = [await asked(foreign, place), await asked(missing, place)];
        expect(answers[0]).toEqual(answers[1]);
        if (place.part === "params" && place.name !== "turn")
          expect(answers[0]).toMatchObject({ status: expect.toBeOneOf([400, 404]) });
      }
    });

    test.each(ROWS)("$name refuses malformed input, and nothing breaks it", async ({ name, route }) => {
      const sample = sampleOf(name, route, spaces.ids.own);
      for (const [label, given, isWrong] of malformedSamples(route, sample)) {
        const { status } = await asAdmin(route, given);
        if (isWrong) expect([label, status]).toEqual([label, expect.toBeOneOf(REFUSED)]);
      }
      if (route.writes === true)
        for (const key of [" ", "é", "x".repeat(201)])
          expect(await asAdmin(route, sample, { headers: { [KEY_HEADER]: key } })).toMatchObject({
            status: 400,
          });
      if (route.method === "GET") return;
      for (const body of RAW_BODIES) {
        const { status } = await asAdmin(route, sample, { body });
        if (route.body !== undefined || route.takes === "bytes")
          expect([body, status]).toEqual([body, expect.toBeOneOf(bodyStatus(route, body))]);
      }
      if (route.takes === undefined && route.body === undefined) return;
      for (const headers of [{ "content-type": "text/plain" }, { "content-encoding": "gzip" }])
        expect(await asAdmin(route, sample, { headers })).toMatchObject({ status: 415, code: "wrong_type" });
      if (route.takes === undefined)
        expect(await asAdmin(route, sample, { body: " ".repeat(TOO_LARGE) })).toMatchObject({ status: 413 });
    });
  });
}

/** An empty file is one, too. */
const bodyStatus = (route: Route, body: unknown): readonly number[] =>
  route.takes === "bytes" && body === "" ? [200, 400] : [400];

/** What is about the server's insides, and no client's. */
const INTERNAL =
  /\bat .+\.[jt]s:\d|node:|SQLITE|SQLSTATE|pg_|ECONN|\bselect \b|\binsert into\b|\/tmp\/|\/node_modules\//i;

function codeOf(status: number, text: string): string {
  if (status < 400) return "";
  const { error } = JSON.parse(text) as { readonly error: { readonly code: string } };
  expect(error).toEqual({
    code: expect.any(String),
    message: expect.stringMatching(/./),
    safe: expect.stringMatching(/./),
    next: expect.stringMatching(/./),
    details: expect.any(Object),
  });
  expect(error.code).not.toBe("unexpected");
  return error.code;
}

interface Place {
  readonly part: "params" | "query" | "body";
  readonly name: string;
}

/** The same for all spaces, or made by the request. */
const NOT_OF_SPACE: ReadonlySet<string> = new Set([
  "params agent",
  "body agent",
  "params skill",
  "body memory",
]);

/** Where a request names something of a space. */
function placesOf(route: Route, ids: Ids): readonly Place[] {
  return (["params", "query", "body"] as const).flatMap((part) =>
    Object.keys(route[part]?.members ?? {}).flatMap((name) =>
      name in ids && !NOT_OF_SPACE.has(`${part} ${name}`) ? [{ part, name }] : [],
    ),
  );
}

function withId(sample: Sample, ids: Ids, { part, name }: Place): Sample {
  const id = ids[name] ?? "";
  if (part === "params") return { ...sample, params: { ...sample.params, [name]: id } };
  if (part === "body") return { ...sample, body: { ...sample.body, [name]: id } };
  return { ...sample, query: [...sample.query.filter(([other]) => other !== name), [name, id]] };
}

type Malformed = readonly [label: string, sample: Sample, isWrong: boolean];

function* malformedSamples(route: Route, sample: Sample): Generator<Malformed> {
  for (const [param, schema] of Object.entries(route.params?.members ?? {})) {
    // What has no pattern may be called so, as may whatever is called `constructor`.
    const isId = typeof schema.json["pattern"] === "string";
    for (const text of PATH_TEXTS)
      yield [
        `${param} ${text}`,
        { ...sample, params: { ...sample.params, [param]: text } },
        isId && text !== "constructor",
      ];
  }
  for (const [member, schema] of Object.entries(route.query?.members ?? {})) {
    const rest = sample.query.filter(([name]) => name !== member);
    for (const { value, isWrong } of malformedText(schema.json, schema.named))
      yield [
        `${member}=${JSON.stringify(value)}`,
        { ...sample, query: [...rest, ...[value].flat().map((one) => [member, String(one)] as const)] },
        isWrong,
      ];
    if (schema.json["type"] !== "array")
      yield [`${member} twice`, { ...sample, query: [...rest, [member, "1"], [member, "1"]] }, true];
  }
  for (const name of ["unknownMember", "__proto__", "constructor", "%00"])
    yield [name, { ...sample, query: [...sample.query, [name, "1"]] }, true];
  for (const [member, schema] of Object.entries(route.body?.members ?? {}))
    for (const { value, isWrong } of malformedJson(schema.json, schema.named))
      yield [
        `${member}: ${JSON.stringify(value).slice(0, 100)}`,
        { ...sample, body: { ...sample.body, [member]: value } },
        isWrong,
      ];
}
