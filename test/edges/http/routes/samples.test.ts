import { describe, expect, test } from "vitest";
import { routeOf } from "#edges/http/routes/operation-route";
import { anything, type Fields, idField, text } from "#operations/schemas";
import { sampleOf } from "./samples.ts";

const ids = { conversation: "c" };
const gadget = (http: string, input: Fields): ReturnType<typeof routeOf> =>
  routeOf({
    http,
    input,
    access: "write",
    kind: "act",
    group: "Gadgets",
    summary: "A row that was added to the table",
    output: anything(),
  });
const PATH = "/api/conversations/{conversation}/gadgets";

describe("a route that is added to the table", () => {
  test("is filled from its schema", () => {
    const route = gadget(`POST ${PATH}`, { conversation: idField, name: text({ min: 1 }) });
    const sample = sampleOf("addGadget", route, ids);
    expect(sample).toMatchObject({ params: { conversation: "c" }, body: { name: expect.any(String) } });
  });

  test("fails by its name where the matrix has no id or no text for it", () => {
    const code = text({ pattern: /^gadget-\d{9}$/ });
    const odd = gadget(`POST ${PATH}`, { conversation: idField, code });
    expect(() => sampleOf("addGadget", odd, ids)).toThrow("addGadget");
    const unnamed = gadget("POST /api/gadgets/{gadget}", { gadget: idField });
    expect(() => sampleOf("getGadget", unnamed, ids)).toThrow("getGadget");
  });
});
