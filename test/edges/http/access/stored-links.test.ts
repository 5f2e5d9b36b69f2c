import { expect, test } from "vitest";
import { StoredLinks } from "#edges/http/access/stored-links";
import { tempDir } from "../../../support/temp-dir.ts";
import { holdfastHere } from "../../cli/cli-here.ts";
import { jsonLines } from "../../cli/cli-run.ts";
import { told } from "../raw-requests.ts";
import { handClock, serve, type Served } from "../served.ts";

const GRANT = { token: "link", space: "default", rights: "write" } as const;
const MINUTE_MS = 60_000;

const open = (served: Served, code: string): Promise<Response> => served.ask(`/launch?code=${code}`);

test("a stored link opens one browser, once, at one of the servers on its store", async () => {
  const clock = handClock();
  await using served = await serve({ clock });
  await using other = await serve({ clock, holdfast: served.holdfast });
  const links = new StoredLinks(served.holdfast, clock);
  const code = await links.add(GRANT);
  const answers = await Promise.all([open(served, code), open(other, code), open(served, code)]);
  expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(2);
  const at = answers.findIndex(({ status }) => status === 303);
  const cookie = answers[at]?.headers.get("set-cookie")?.split(";")[0] ?? "";
  const health = await (at === 1 ? other : served).ask("/api/health", { headers: { cookie } });
  expect(await health.json()).toMatchObject({ space: "default", rights: "write" });
  const late = await links.add(GRANT);
  clock.advance(5 * MINUTE_MS + 1);
  expect(await told(await open(served, late))).toEqual({ status: 401, code: "wrong_code" });
  const early = await links.add(GRANT);
  clock.setDate(-60 * MINUTE_MS);
  expect((await open(served, early)).status).toBe(401);
  expect((await open(served, "hfc_guess")).status).toBe(401);
  const kept: string[] = [];
  const server = served.holdfast.inSpace("holdfast.server");
  for await (const { payload } of server.handle("links").log()) kept.push(payload);
  expect(kept.join("\n")).toContain('"rights":"write"');
  for (const one of [code, late]) expect(kept.join("\n")).not.toContain(one);
});

test("holdfast link prints a link to a server, and is recorded", async () => {
  using folder = tempDir();
  const store = `sqlite:${folder.path}/store.db`;
  const run = (...args: readonly string[]): ReturnType<typeof holdfastHere> => holdfastHere(store, args);
  const made = await run("link", "https://agents.example", "--rights", "admin", "--json");
  const [link] = jsonLines(made.out) as unknown as [{ readonly launch: string }];
  expect(link).toMatchObject({
    launch: expect.stringMatching(/^https:\/\/agents\.example\/launch\?code=hfc_[\w-]{43}$/),
    space: "default",
    rights: "admin",
  });
  await using served = await serve({ store });
  const code = new URL(link.launch).searchParams.get("code") ?? "";
  expect((await open(served, code)).status).toBe(303);
  expect(jsonLines((await run("audit", "--json")).out)).toMatchObject([
    { token: "local", operation: "addLink", outcome: "intent" },
    { token: "local", operation: "addLink", outcome: "done" },
  ]);
  for (const args of [
    [],
    ["agents.example"],
    ["https://agents.example/ui"],
    ["https://x.example", "--rights", "root"],
  ])
    expect((await run("link", ...args)).status).toBe(2);
  expect((await run("--space", "holdfast.server", "link", "https://x.example")).status).toBe(2);
});
