import type { Fields } from "#log/json/json-fields";
import { VENDORS } from "#vendors/known-vendors";

interface Foreign {
  readonly kind: string;
  readonly name: string;
  readonly is: (line: Fields) => boolean;
  readonly how: string;
}

const THROUGH_ACP =
  "It is not imported as a file: run its agent behind `holdfast acp`, and the editor lists it and opens it as a conversation";

/** Files people have and try first; each is known by what its first line has. */
const FOREIGN: readonly Foreign[] = [
  ...VENDORS.flatMap(({ name, records }) =>
    records === null
      ? []
      : [
          {
            kind: name,
            name: records.fileName,
            is: (line: Fields) => records.isRecord(line),
            how: THROUGH_ACP,
          },
        ],
  ),
  {
    kind: "jsonl-store",
    name: "a log file of a JSONL store",
    is: (line) => "seq" in line && "id" in line && "type" in line,
    how: "Open it where it is, with --store jsonl:DIR, and `holdfast export` the conversation",
  },
  {
    kind: "bodies",
    name: "a body as `append` takes it",
    is: (line) => typeof line["type"] === "string" && ("message" in line || "customType" in line),
    how: "Make a conversation with `holdfast new`, then `holdfast append ID` takes such lines",
  },
];

/** What a file is that is no export, and what to do with it; null when nobody knows. */
export function foreignFile(line: Fields): { readonly kind: string; readonly advice: string } | null {
  const found = FOREIGN.find(({ is }) => is(line));
  return found === undefined ? null : { kind: found.kind, advice: `it is ${found.name}. ${found.how}` };
}
