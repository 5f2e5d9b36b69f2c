/** JSON as no printer writes it: big integers, names given twice, escapes of all kinds, white space everywhere. */
import fc from "fast-check";

/** Stands for the session where it is only text: whoever writes the line puts the id there. */
export const IN_TEXT = "@SESSION@";
/** Stands for the session where it is the address of the line. */
export const ADDRESS = "@ADDRESS@";

const space: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constant("") },
  { weight: 1, arbitrary: fc.constantFrom(" ", "\t", "  ", " \t ") },
);

const number: fc.Arbitrary<string> = fc.constantFrom(
  "0",
  "-0",
  "12345678901234567890",
  "-98765432109876543210.5",
  "1e400",
  "0.10",
  "1E+2",
  "1.0",
);

const piece: fc.Arbitrary<string> = fc.oneof(
  fc.string({ maxLength: 6 }).map((text) => JSON.stringify(text).slice(1, -1)),
  fc.constantFrom("\\u0041", "\\ud800", "\\udfff\\ud800", "\\/", "\\\\", '\\"', "\\n", "é", "😀", "\u2028"),
  fc.constantFrom(IN_TEXT, `/tmp/${IN_TEXT}/x`, `\\"sessionId\\":\\"${IN_TEXT}\\"`),
);

const string: fc.Arbitrary<string> = fc
  .array(piece, { maxLength: 4 })
  .map((pieces) => `"${pieces.join("")}"`);

// Names that mean something elsewhere mean nothing in here.
const name: fc.Arbitrary<string> = fc.constantFrom(
  '"a"',
  '"a"',
  '"id"',
  '"method"',
  '"sessionId"',
  '"params"',
  '"\\u0061"',
  '""',
);

function joined(open: string, parts: readonly string[], close: string): string {
  return `${open}${parts.join(",")}${close}`;
}

const { value } = fc.letrec<{ value: string }>((tie) => {
  const item = fc.tuple(space, tie("value"), space).map((parts) => parts.join(""));
  const member = fc
    .tuple(space, name, space, tie("value"), space)
    .map(([before, key, middle, inner, after]) => `${before}${key}${middle}:${inner}${after}`);
  return {
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      string,
      number,
      fc.constantFrom("null", "true", "false"),
      fc.array(item, { maxLength: 4 }).map((items) => joined("[", items, "]")),
      fc.array(member, { maxLength: 4 }).map((members) => joined("{", members, "}")),
    ),
  };
});

/** Any JSON value as odd text. */
export const oddJson: fc.Arbitrary<string> = value;

/** The members in any order, with any white space around them. */
export function oddObject(members: readonly fc.Arbitrary<string>[]): fc.Arbitrary<string> {
  return fc
    .tuple(fc.tuple(...members), fc.array(space, { minLength: members.length, maxLength: members.length }))
    .chain(([texts, spaces]) =>
      fc.shuffledSubarray(texts, { minLength: texts.length }).map((order) => ({ order, spaces })),
    )
    .map(({ order, spaces }) =>
      joined(
        "{",
        order.map((text, at) => `${spaces[at] ?? ""}${text}${spaces[at] ?? ""}`),
        "}",
      ),
    );
}

/** One member: its name, white space, its value. */
export function oddMember(key: string, inner: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.tuple(space, space, inner).map(([one, two, text]) => `"${key}"${one}:${two}${text}`);
}

export const fixed = (text: string): fc.Arbitrary<string> => fc.constant(text);
