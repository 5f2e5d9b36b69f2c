/** The web UI's server as a person has it: started, opened, killed and killed again, ended. */
import type { ClientOptions } from "#edges/http/client/transport";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { createClient } from "#edges/http/client/index";
import { createFaultClient } from "../../../../ui/src/data/fault-client.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { holdfastHere } from "../cli-here.ts";
import { MAIN } from "../cli-run.ts";

/** One that ended and that nobody has asked about yet is dead, too. */
const isAlive = (pid: number): boolean => {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
};

/** The children of a process, as Linux tells them. */
const childrenOf = (pid: number): readonly number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);

/** Ends what a test that failed leaves; its server ends with it. */
const endedAtLast = (child: ChildProcess): Disposable => ({
  [Symbol.dispose]: () => void child.kill("SIGKILL"),
});

test("a killed server comes back on its port with its sessions, by itself; SIGTERM ends both", async () => {
  using folder = tempDir();
  const store = `sqlite:${join(folder.path, "store.db")}`;
  await holdfastHere(store, ["new", "--id", "first", "--title", "Seen"]);
  const ui = spawn(
    process.execPath,
    [MAIN, "ui", "first", "--agent", "simulated", "--speed", "100", "--print-link", "--store", store],
    {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, DISPLAY: "" },
    },
  );
  using _ = endedAtLast(ui);
  const pid = ui.pid ?? 0;
  const ended = once(ui, "exit");
  let told = "";
  ui.stderr.on("data", (bytes: Buffer) => (told += bytes.toString()));
  const [link] = (await once(createInterface({ input: ui.stdout }), "line")) as [string];
  expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/launch\?code=hfc_[\w-]+$/);
  const launched = await fetch(link, { redirect: "manual" });
  expect([launched.status, launched.headers.get("location")]).toEqual([303, "/c/first"]);
  const cookie = launched.headers.get("set-cookie")?.split(";")[0] ?? "";
  const { origin } = new URL(link);
  // As a page does it: by the cookie, and trying again what did not get through.
  const options: ClientOptions = {
    url: origin,
    retries: 60,
    sleep: () => new Promise((resolve) => setTimeout(resolve, 50)),
    fetch: (request) => {
      const headers = new Headers(request.headers);
      headers.set("cookie", cookie);
      headers.set("origin", origin);
      return fetch(new Request(request, { headers }));
    },
  };
  const client = createClient(options);
  const say = async (content: string): Promise<string> => {
    let text = "";
    for await (const entry of client.turnEvents(await client.send({ conversation: "first", content })))
      if (entry.type === "message" && entry.message.role === "assistant")
        text = entry.message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
    return text;
  };
  await say("remember color=blue");

  const [server = 0] = childrenOf(pid);
  process.kill(server, "SIGKILL");
  await expect.poll(() => childrenOf(pid).filter((one) => one !== server).length).toBe(1);
  expect(await say("recall color")).toBe("blue");
  const [second = 0] = childrenOf(pid);
  expect((await client.listAgents()).agents[0]).toMatchObject({
    troubles: expect.arrayContaining(["kill_server"]),
  });
  await createFaultClient(options).strikeAgent({
    agent: "simulated",
    kind: "kill_server",
  });
  await expect.poll(() => isAlive(second)).toBe(false);
  expect(await say("recall color")).toBe("blue");
  expect((await client.getConversation({ conversation: "first" })).title).toBe("Seen");
  expect((await fetch(link, { redirect: "manual" })).status).toBe(401);

  const [third = 0] = childrenOf(pid);
  ui.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
  expect(isAlive(third)).toBe(false);
  expect(told).toContain("SIGKILL");
});

test("a server without whoever watches over it ends; one that cannot be started says why", async () => {
  using folder = tempDir();
  const store = `sqlite:${join(folder.path, "store.db")}`;
  const ui = spawn(process.execPath, [MAIN, "ui", "--json", "--print-link", "--store", store], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  using _ = endedAtLast(ui);
  const [line] = (await once(createInterface({ input: ui.stdout }), "line")) as [string];
  const { url, token } = JSON.parse(line) as { readonly url: string; readonly token: string };
  expect(await createClient({ url, token }).health()).toMatchObject({ ok: true, rights: "admin" });
  const [server = 0] = childrenOf(ui.pid ?? 0);

  const other = spawn(process.execPath, [MAIN, "ui", "--port", new URL(url).port, "--store", store], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let told = "";
  other.stderr.on("data", (bytes: Buffer) => (told += bytes.toString()));
  expect(await once(other, "exit")).toEqual([2, null]);
  expect(told).toContain("--port");

  ui.kill("SIGKILL");
  await expect.poll(() => isAlive(server)).toBe(false);
});
