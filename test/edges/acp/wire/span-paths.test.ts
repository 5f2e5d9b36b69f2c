import fc from "fast-check";
import { expect, test } from "vitest";
import { type Paths, readMessage, type Span, spansAt, spansIn } from "#edges/acp/wire/spans";
import { pathsOf, writtenMessage } from "./written-json.ts";

/** The paths as a tree; one that ends inside another is left out, as a tree cannot say both. */
function treeOf(paths: readonly (readonly string[])[]): Paths {
  const root: { [step: string]: Paths | null } = {};
  for (const path of paths) {
    let at = root;
    for (const step of path.slice(0, -1)) {
      const inner = { ...at[step] };
      at[step] = inner;
      at = inner;
    }
    at[path.at(-1) ?? ""] ??= null;
  }
  return root;
}

function leaves(tree: Paths, before: readonly string[] = []): readonly (readonly string[])[] {
  return Object.entries(tree).flatMap(([step, inner]) =>
    inner === null ? [[...before, step]] : leaves(inner, [...before, step]),
  );
}

function inOrder(spans: readonly Span[]): readonly Span[] {
  return spans.toSorted((one, other) => one.start - other.start);
}

test("several paths in one walk find what each finds alone", () => {
  fc.assert(
    fc.property(writtenMessage, fc.nat({ max: 5 }), ({ tree, bytes }, skip) => {
      const whole = readMessage(bytes)?.whole ?? { start: 0, end: 0 };
      const named = pathsOf(tree).filter((path) => path.length > 0 && !path.includes("__proto__"));
      // Longest first: what is left of a shorter one that lies on the way is none of its own.
      const wanted = named
        .filter((_, index) => index % (skip + 1) === 0)
        .toSorted((a, b) => b.length - a.length);
      const paths = treeOf(wanted);
      const mixed = leaves(paths).some((path) => path.includes("*"));
      const alone = leaves(paths).flatMap((path) => spansAt(bytes, whole, path));
      if (!mixed) expect(inOrder(spansIn(bytes, whole, paths))).toEqual(inOrder(alone));
    }),
    { numRuns: 300 },
  );
});

test("elements of an array, duplicates and what is not there", () => {
  const text = '{"a":{"l":[{"x":1},{"y":2},{"x":3}],"b":4},"a":{"b":5,"b":6},"c":[7]}';
  const bytes = Buffer.from(text);
  const paths = { a: { l: { "*": { x: null } }, b: null, none: null }, c: { d: null } };
  const found = spansIn(bytes, { start: 0, end: bytes.length }, paths);
  expect(found.map(({ start, end }) => text.slice(start, end))).toEqual(["1", "3", "4", "5", "6"]);
});
