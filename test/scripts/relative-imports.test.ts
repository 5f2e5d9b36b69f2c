import { expect, test } from "vitest";
import { withRelativeImports } from "../../scripts/relative-imports.ts";

test("a compiled file names its neighbours by their paths, and nothing else of it changes", () => {
  const text = `import { a } from "#log/entry";
import type { B } from "./near.js";
export { c } from "#edges/acp/index";
export type D = import("#log/json/json-text").Json;
const late = await import("#open");
import "#store/sha256";
const words = 'from #log/entry, "#1"';
`;
  expect(withRelativeImports(text, "edges/acp/serve.js")).toBe(`import { a } from "../../log/entry.js";
import type { B } from "./near.js";
export { c } from "./index.js";
export type D = import("../../log/json/json-text.js").Json;
const late = await import("../../open.js");
import "../../store/sha256.js";
const words = 'from #log/entry, "#1"';
`);
  expect(withRelativeImports(`export { a } from "#log/entry";`, "index.js")).toBe(
    `export { a } from "./log/entry.js";`,
  );
});
