/**
 * From production to here: an agent with a real effect is recorded on one server, exported through its guarded endpoint, also
 * over a tunnel that has another name, replayed here without effects, and compared.
 */
import type { Listening } from "#edges/http/node/listen";
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createConnection, createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Agent } from "#agent/agent";
import { openModel } from "#agent/models/open-model";
import { composeEmail } from "#agent/tools/example-tools";
import type { Holdfast } from "#conversation/holdfast";
import { HttpHandler, knownNames, listen, StoredTokens } from "#edges/http/index";
import { openHoldfast } from "#open";
import { exportBundle } from "#transfer/bundles/export-bundle";
import { type ModelServer, startModelServer } from "../../../support/model-server.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { holdfastHere } from "../cli-here.ts";
import { jsonLines, type Ran } from "../cli-run.ts";

const folder = tempDir();
const [outbox, module] = [join(folder.path, "outbox.jsonl"), join(folder.path, "agent.mjs")];
const [tokenFile, local] = [join(folder.path, "token"), `sqlite:${join(folder.path, "local.db")}`];
const MODEL = "anthropic/claude-sonnet-5-5";
const OTHER = "openai/gpt-5";
const emails = (): number => readFileSync(outbox, "utf8").trimEnd().split("\n").length;

let models: ModelServer;
let production: Holdfast;
let server: Listening;
let env: { readonly [name: string]: string };
let secret = "";
let run = "";

beforeAll(async () => {
  models = await startModelServer(({ wire, body }) => {
    if (/tool_result|function_call_output/.test(body))
      return { text: wire === "anthropic" ? "Sent." : "Done." };
    const to = wire === "anthropic" ? "a@example.org" : "b@example.org";
    return { calls: [{ name: "ComposeEmail", input: { to, subject: "17", body: "Paid." } }] };
  });
  env = {
    ANTHROPIC_API_KEY: "dummy",
    ANTHROPIC_BASE_URL: models.baseUrl("anthropic"),
    OPENAI_API_KEY: "dummy",
    OPENAI_BASE_URL: models.baseUrl("openai"),
  };
  production = await openHoldfast({ store: "memory:" });
  const thread = await production.create({ id: "thread", title: "Invoice 17", cwd: folder.path });
  await using agent = new Agent(production, {
    model: MODEL,
    openModel: (given) => openModel(given, { env }),
    tools: [composeEmail({ outbox })],
    permission: () => "allow",
    instructions: false,
  });
  run = (await agent.send(thread, "Tell a@example.org that invoice 17 is paid")).run ?? "";
  server = await listen((port) => new HttpHandler({ holdfast: production, names: knownNames({ port }) }));
  const tokens = new StoredTokens(production);
  ({ secret } = await tokens.add({ token: "laptop", space: "default", rights: "read" }));
  writeFileSync(tokenFile, `${secret}\n`, { mode: 0o600 });
  writeFileSync(
    module,
    `import { appendFileSync } from "node:fs";
export const agent = () => ({
  instructions: false,
  permission: () => "allow",
  tools: [{
    name: "ComposeEmail",
    description: "Sends an email.",
    input: { type: "object", properties: { to: { type: "string" } } },
    run: async (input) => (appendFileSync(${JSON.stringify(outbox)}, JSON.stringify(input) + "\\n"), "Sent"),
    dryRun: async ({ to }) => "Would be sent to " + to,
  }],
});
`,
  );
});

afterAll(async () => {
  await server.close();
  await production.close();
  await models.close();
  folder[Symbol.dispose]();
});

const here = (...args: readonly string[]): Promise<Ran> => holdfastHere(local, args, { env });

test("a bundle is exported from a running server, replayed here without effects and compared; no word of the token is printed", async () => {
  const file = join(folder.path, "export.jsonl");
  const exported = await here(
    "export",
    "thread",
    "--from",
    server.url,
    "--token-file",
    tokenFile,
    "-o",
    file,
    "--json",
  );
  expect([exported.status, exported.err]).toEqual([0, ""]);
  expect(jsonLines(exported.out)).toMatchObject([{ conversation: "thread", from: server.url, file }]);
  // The same bytes by a pipe, with the token in a variable.
  const piped = await holdfastHere(local, ["export", "--from", `${server.url}/c/thread`], {
    env: { ...env, HOLDFAST_TOKEN: secret },
  });
  const lines = (text: string): readonly string[] => text.split("\n").slice(1, -2);
  expect(lines(piped.out)).toEqual(lines(readFileSync(file, "utf8")));
  const replayed = await here("replay", file, "--model", OTHER, "--agent", module, "--json");
  expect(replayed.status).toBe(0);
  const ended = (ran: Ran): { readonly conversation: string; readonly model: string } | undefined =>
    (jsonLines(ran.out) as { type?: string; conversation: string; model: string }[]).findLast(
      ({ type }) => type === "ended",
    );
  expect(ended(replayed)).toMatchObject({ model: OTHER, outcome: "completed", divergence: { kind: "call" } });
  // By the address alone, of the same model: what it calls is the same.
  const bundle = `${server.url}/api/bundle?conversation=thread`;
  const how = ["--model", MODEL, "--agent", module, "--from-message", "1", "--json"];
  const direct = await here("replay", bundle, "--token-file", tokenFile, ...how);
  expect([direct.status, ended(direct)]).toEqual([0, expect.objectContaining({ divergence: null })]);
  const [planned] = jsonLines(direct.out) as { source: { conversation: string; entry: string } }[];
  const original = `${planned?.source.conversation}@${planned?.source.entry}`;
  const diff = await here("diff", original, ended(direct)?.conversation ?? "", "--json", "--stat");
  expect(jsonLines(diff.out)).toMatchObject([{ divergence: { kind: "result" } }]);
  expect(emails()).toBe(1);
  // The run is the one of production, and production is as it was.
  const there = await production.hydrate(run);
  const brought = await here("hydrate", run, "--conversation", planned?.source.conversation ?? "", "--json");
  expect(jsonLines(brought.out)).toMatchObject([{ messages: there.messages.map(({ id }) => ({ id })) }]);
  for (const { out, err } of [exported, piped, replayed, direct]) expect(out + err).not.toContain(secret);
});

test("over a tunnel the server is asked by the name it knows, and by no other", async () => {
  await using tunnel = createServer((socket) => {
    const through = createConnection(server.port, "127.0.0.1");
    socket.pipe(through).pipe(socket);
    for (const end of [socket, through]) end.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => tunnel.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(tunnel.address() as AddressInfo).port}/c/thread`;
  const ask = (...more: readonly string[]): Promise<Ran> =>
    here("export", "--from", url, "--token-file", tokenFile, ...more);
  const refused = await ask();
  expect([refused.status, refused.out]).toEqual([2, ""]);
  const told = await ask("--server-name", `127.0.0.1:${server.port}`);
  expect([told.status, told.out.split("\n").length > 5]).toEqual([0, true]);
});

test("what cannot be fetched is told with what to do, and leaves no file", async () => {
  const file = join(folder.path, "none.jsonl");
  const ask = async (url: string, ...more: readonly string[]): Promise<number | null> => {
    const ran = await here("export", "--from", url, "-o", file, ...more);
    expect([existsSync(file), (ran.out + ran.err).includes(secret)]).toEqual([false, false]);
    return ran.status;
  };
  const token = ["--token-file", tokenFile];
  expect(await ask(`${server.url}/c/nobodys`, ...token)).toBe(3);
  expect(await ask(`${server.url}/c/thread`)).toBe(2); // no token
  const wrong = join(folder.path, "wrong");
  writeFileSync(wrong, "hf_nope");
  expect(await ask(`${server.url}/c/thread`, "--token-file", wrong)).toBe(2);
  writeFileSync(wrong, "two words");
  expect(await ask(`${server.url}/c/thread`, "--token-file", wrong)).toBe(2);
  expect(await ask(server.url, ...token)).toBe(2);
  expect(await ask(`${server.url}/api/health`, ...token)).toBe(2);
  expect(await ask("http://agents.example/c/thread", ...token)).toBe(2); // it would go over the network as it is
  expect(await ask(`http://user:${secret}@127.0.0.1:1/c/thread`)).toBe(2);
  expect(await ask(`${server.url}/c/thread`, "--format", "markdown", ...token)).toBe(2);
  await using gone = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => gone.listen(0, "127.0.0.1", resolve));
  expect(await ask(`http://127.0.0.1:${(gone.address() as AddressInfo).port}/c/thread`, ...token)).toBe(5);
  const cut = createServer((socket) =>
    socket.once("data", () => {
      socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"typ\r\n');
    }),
  );
  await using _ = cut;
  await new Promise<void>((resolve) => cut.listen(0, "127.0.0.1", resolve));
  expect(await ask(`http://127.0.0.1:${(cut.address() as AddressInfo).port}/c/thread`, ...token)).toBe(5);
  // What is not as its links say is not taken for a bundle.
  const text = Buffer.concat(await Array.fromAsync(exportBundle(production, ["thread"]))).toString();
  const body = text.replace("invoice 17 is paid", "invoice 71 is paid");
  await using altered = createHttpServer((__, answer) => answer.end(body));
  await new Promise<void>((resolve) => altered.listen(0, "127.0.0.1", resolve));
  expect(await ask(`http://127.0.0.1:${(altered.address() as AddressInfo).port}/c/thread`, ...token)).toBe(6);
  chmodSync(tokenFile, 0o644);
  const open = await here("export", "--from", `${server.url}/c/thread`, ...token);
  expect([open.status, open.err.includes("chmod 600")]).toEqual([0, true]);
  expect(readdirSync(folder.path).filter((name) => name.endsWith(".part"))).toEqual([]);
});
