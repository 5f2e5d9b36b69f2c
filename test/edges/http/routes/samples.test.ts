import { describe, expect, test } from "vitest";
import type { AnyRoute } from "#edges/http/routes/route";
import { anything, object, text } from "#edges/http/routes/value-schema";
import { sampleOf } from "./samples.ts";

const ids = { conversation: "c" };
const route: AnyRoute = {
  method: "POST",
  path: "/api/conversations/{conversation}/gadgets",
  right: "write",
  writes: true,
  group: "Gadgets",
  summary: "A route that was added to the table",
  response: anything(),
};

describe("a route that is added to the table", () => {
  test("is filled from its schema", () => {
    const body = object<{ readonly name: string }>({ name: text({ min: 1 }) });
    const sample = sampleOf("addGadget", { ...route, body }, ids);
    expect(sample).toMatchObject({ params: { conversation: "c" }, body: { name: expect.any(String) } });
  });

  test("fails by its name where the matrix has no id or no text for it", () => {
    const odd = object<{ readonly code: string }>({ code: text({ pattern: /^gadget-\d{9}$/ }) });
    expect(() => sampleOf("addGadget", { ...route, body: odd }, ids)).toThrow("addGadget");
    const path = "/api/gadgets/{gadget}";
    expect(() => sampleOf("getGadget", { ...route, path }, ids)).toThrow("getGadget");
  });
});
