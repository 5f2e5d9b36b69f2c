/** What is printed where nobody looks is kept by a journal: a link and a token are printed to a terminal, or where a flag asks. */
import { expect, test } from "vitest";
import { holdfastHere, type HereOptions } from "../cli-here.ts";

const SECRET = /hfc?_[\w-]{20,}/;

/** All that `serve` prints, from its start to its end. */
async function printed(args: readonly string[], options: HereOptions = {}): Promise<string> {
  const stop = new AbortController();
  const ended = await holdfastHere("memory:", ["serve", "--no-ui", ...args], {
    ...options,
    interrupt: stop.signal,
    onOut: () => stop.abort(),
  });
  expect(ended.status).toBe(0);
  return ended.out + ended.err;
}

test("in a pipe serve prints its address, and no link or token", async () => {
  for (const args of [[], ["--json"], ["--public-url", "https://agents.example"]]) {
    const text = await printed(args);
    expect(text).toMatch(/http:\/\/127\.0\.0\.1:\d+/);
    expect(text).not.toMatch(SECRET);
  }
  expect(JSON.parse((await printed(["--json", "--log-level", "error"])).split("\n")[0] ?? "")).toEqual({
    schemaVersion: 1,
    url: expect.stringMatching(/^http/),
    space: "default",
    rights: "admin",
  });
});

test("to a terminal serve prints a link; with --print-link anywhere, and with --json a token too", async () => {
  expect(await printed([], { terminal: 80 })).toMatch(/\/launch\?code=hfc_/);
  expect(await printed(["--print-link"])).toMatch(/\/launch\?code=hfc_/);
  const [line = ""] = (await printed(["--print-link", "--json"])).split("\n");
  expect(JSON.parse(line)).toMatchObject({
    launch: expect.stringMatching(SECRET),
    token: expect.stringMatching(SECRET),
  });
});
