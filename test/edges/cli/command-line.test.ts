import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openHoldfast } from "#open";
import { COMMAND_NAMES, loadCommands, nearest } from "#edges/cli/commands";
import { argumentCounts } from "#edges/cli/options";
import { widthOf } from "#edges/cli/terminal/terminal";
import { type HereOptions, holdfastHere } from "./cli-here.ts";
import { jsonLines, MAIN, type Ran, said, someStores } from "./cli-run.ts";

const stores = someStores();
const [store = ""] = stores.addresses;
afterAll(() => stores[Symbol.dispose]());

const run = (...args: readonly string[]): Promise<Ran> => holdfastHere(store, args);
const typing = (input: string, ...args: readonly string[]): Promise<Ran> =>
  holdfastHere(store, args, { input, typed: true, terminal: 80 } satisfies HereOptions);
const NEVER = "aa-no-such-conversation";

beforeAll(async () => {
  await run("new", "--id", "chat-1", "--title", "First");
  await holdfastHere(store, ["append", "chat-1"], { input: said("user", "Hello", { id: "m1" }) });
});

describe("help", () => {
  test("has about twelve commands, and all of them in seven groups with --all (1)", async () => {
    const commands = (text: string): readonly string[] =>
      [...text.matchAll(/^ {2}([a-z][a-z-]*) {2,}[A-Z]/gm)].map(([, name = ""]) => name);
    expect(commands((await run("help")).out)).toHaveLength(12);
    const all = (await run("help", "--all")).out;
    expect(commands(all)).toEqual(COMMAND_NAMES);
    const headings = ["Get started", "Talk", "Inspect", "Branch", "Move data", "Serve", "Maintain"];
    expect(all.split("\n").filter((line) => headings.includes(line))).toEqual(headings);
  });

  test("says what each command does in an imperative of at most 60 characters (2)", async () => {
    const rows = await loadCommands();
    const summaries = rows.flatMap(({ command: { summary, verbs = [] } }) =>
      verbs.map((verb) => verb.summary).concat(summary),
    );
    expect(summaries.filter((text) => text.length > 60 || !/^[A-Z][a-z]+,? /.test(text))).toEqual([]);
    expect(summaries.filter((text) => /^\w+s /.test(text) || text.endsWith("."))).toEqual([]);
  });

  test("fits 80 columns, and gives options a place of their own in the usage (3)", async () => {
    for (const args of [[], ["--all"], ...COMMAND_NAMES.map((name) => [name])]) {
      const { out } = await run("help", ...args);
      const [text = ""] = out.split("\nExamples\n");
      expect(text.split("\n").filter((line) => widthOf(line) > 80)).toEqual([]);
    }
    expect((await run("help", "serve")).out).toContain("  holdfast serve [options] [-- COMMAND...]\n");
  });

  test("names no file of the sources (22)", async () => {
    const texts = await Promise.all(COMMAND_NAMES.map(async (name) => (await run("help", name)).out));
    expect(texts.filter((text) => /docs\/\S+\.md/.test(text))).toEqual([]);
  });

  test("without a command is short, on standard output, with 0 (16)", async () => {
    const { status, out, err } = await run();
    expect([status, err]).toEqual([0, ""]);
    expect(out.split("\n").length).toBeLessThan(25);
  });

  test("is made into a man page and completions, which know every command and option (13)", async () => {
    const [man, bash, zsh, fish] = await Promise.all([
      run("help", "--man"),
      run("completion", "bash"),
      run("completion", "zsh"),
      run("completion", "fish"),
    ]);
    for (const name of COMMAND_NAMES) {
      expect(man?.out).toContain(`.SS ${name.replaceAll("-", "\\-")}\n`);
      expect(bash?.out).toContain(`    ${name}) `);
      expect(fish?.out).toContain(` -a ${name} `);
    }
    expect(zsh?.out).toContain("bashcompinit");
    expect(bash?.out).toContain("--follow");
    expect((await run("completion", "tcsh")).status).toBe(2);
  });

  test("says when to use which of the five commands that move data (20)", async () => {
    for (const name of ["export", "import", "copy", "migrate", "backup"])
      expect((await run("help", name)).out).toMatch(/\n\nUse it /);
  });
});

describe("a mistake", () => {
  test("is named by the option as it was typed (4, 5)", async () => {
    expect((await run("search", "x", "-n", "abc")).err).toContain('-n "abc"');
    expect((await run("search", "x", "--limit", "abc")).err).toContain('--limit "abc"');
    expect((await run("list", "--store")).err).toContain("--store ADDRESS");
    for (const args of [
      ["list", "--store"],
      ["list", "--json=1"],
      ["list", "--tag", "--all"],
    ])
      expect((await run(...args)).status).toBe(2);
  });

  test("gets a suggestion only where at most a third of the letters differ (6)", async () => {
    expect(["nope", "login", "lst", "contxt", "sesions"].map((word) => nearest(word, COMMAND_NAMES))).toEqual(
      [null, null, "list", "context", "sessions"],
    );
    expect((await run("nope")).err).not.toContain("Did you mean");
  });

  test("in the form of an address comes before the search for it (7)", async () => {
    for (const command of ["hide", "goto"]) {
      const { status, err } = await run(command, NEVER);
      expect(status).toBe(2);
      expect(err).toContain("ID@ENTRY");
    }
    expect((await run("label", `${NEVER}@`, "x")).status).toBe(2);
    expect((await run("hide", `${NEVER}@m1`)).status).toBe(3);
  });

  test("names the conversation in the next step, and has it with --json (8, 9)", async () => {
    expect((await run("show", "chat-1@zz")).err).toContain("holdfast tree chat-1`");
    const [{ error }] = jsonLines((await run("show", "chat-1@zz", "--json")).err) as [{ error: object }];
    expect(error).toMatchObject({ code: "entry_not_found", safe: expect.any(String) });
    expect(error).toMatchObject({ next: expect.stringContaining("holdfast tree chat-1") });
  });
});

describe("options of every command", () => {
  test("print the version, no remarks, no color, and the stack of an error (13)", async () => {
    expect((await run("-V")).out).toBe((await run("--version")).out);
    expect((await run("version")).out).toBe((await run("--version")).out);
    expect((await run("list", "--tag", "nothing-has-it")).err).not.toBe("");
    expect((await run("list", "--tag", "nothing-has-it", "-q")).err).toBe("");
    expect((await run("show", NEVER, "--quiet")).err).not.toBe("");
    expect((await run("show", NEVER)).err).not.toMatch(/^ +at /m);
    expect((await run("show", NEVER, "--debug")).err).toMatch(/^ +at /m);
  });

  test("count the arguments by the forms that help shows", () => {
    const forms = [
      "ID[@ENTRY]...",
      "[ID...] --from URL",
      "ID [TAG...]",
      "[-- COMMAND...]",
      "A B [B...]",
      "[ID[@ENTRY]]",
      "",
    ];
    expect(forms.map((form) => argumentCounts([form]))).toEqual([
      [1, Number.POSITIVE_INFINITY],
      [0, Number.POSITIVE_INFINITY],
      [1, Number.POSITIVE_INFINITY],
      [0, Number.POSITIVE_INFINITY],
      [2, Number.POSITIVE_INFINITY],
      [0, 1],
      [0, 0],
    ]);
  });
});

test("a title and a label may have several words, as a search may (10)", async () => {
  expect((await run("title", "chat-1", "New", "title")).status).toBe(0);
  expect((await run("label", "chat-1@m1", "before", "refactoring")).status).toBe(0);
  const [row] = jsonLines((await run("list", "chat-1", "--json")).out);
  expect(row).toMatchObject({ title: "New title" });
  expect((await run("show", "chat-1@before refactoring")).status).toBe(0);
});

test("a token stands alone on standard output (11)", async () => {
  const { out, err } = await run("token", "add", "laptop", "--rights", "write");
  expect(out).toMatch(/^\S+\n$/);
  expect(err).toContain("laptop");
});

test("continue on a complete conversation ends with 0, whoever ran the turn (12)", async () => {
  await using holdfast = await openHoldfast({ store });
  const done = await holdfast.create({ id: "complete" });
  await done.append([
    { type: "message", id: "p1", message: { role: "user", content: [{ type: "text", text: "Hi" }] } },
    { type: "turn_start", turn: "t1", prompt: "p1" },
    { type: "message", message: { role: "assistant", content: [{ type: "text", text: "Hello" }] } },
    { type: "turn_end", turn: "t1", outcome: "completed", class: "completed" },
  ]);
  expect(await run("continue", "complete")).toMatchObject({ status: 0, out: "" });
});

test("tags and pins are set, listed and removed; a pinned conversation is not pruned (14)", async () => {
  await run("new", "--id", "filed");
  expect((await run("tag", "filed", "billing", "urgent")).out).toBe("billing\nurgent\n");
  expect((await run("tag", "filed", "urgent", "--remove")).out).toBe("billing\n");
  expect((await run("tag", "filed")).out).toBe("billing\n");
  expect((await run("list", "--tag", "billing")).out).toMatch(/^filed/);
  const prunable = async (): Promise<string> =>
    (await run("prune", "--older-than", "2999-01-01", "--dry-run")).out;
  expect(await prunable()).toContain("filed");
  await run("pin", "filed");
  expect(await prunable()).not.toContain("filed");
  await run("pin", "filed", "--undo");
  expect(await prunable()).toContain("filed");
});

test("a terminal is asked before anything is deleted; a script needs --yes (15)", async () => {
  await run("new", "--id", "gone-1");
  expect((await run("delete", "gone-1")).status).toBe(2);
  expect((await typing("no\n", "delete", "gone-1")).status).toBe(2);
  expect((await run("show", "gone-1")).status).toBe(0);
  expect((await typing("gone-1\n", "delete", "gone-1")).status).toBe(0);
  expect((await run("show", "gone-1")).status).toBe(3);
  await run("new", "--id", "gone-2");
  await run("archive", "gone-2");
  const prune = ["prune", "--older-than", "2999-01-01", "--archived"];
  expect((await typing("\n", ...prune)).status).toBe(2);
  expect((await run("show", "gone-2")).status).toBe(0);
  expect((await typing("yes\n", ...prune)).status).toBe(0);
  expect((await run("show", "gone-2")).status).toBe(3);
});

test("bare at a terminal lists conversations to resume; Enter quits, and help comes where there are none (16)", async () => {
  const picked = await typing("\n");
  expect(picked).toMatchObject({ status: 0 });
  expect(picked.out).toMatch(/^1 {2}\S+ /m);
  expect(picked.out.split("\n").filter((line) => widthOf(line) > 80)).toEqual([]);
  expect((await typing("99\n")).status).toBe(2);
  const empty = await holdfastHere("memory:", [], { typed: true, terminal: 80 });
  expect(empty.out).toContain("holdfast demo");
});

test("a Node that is too old ends with 1, and says what to install (17)", async () => {
  const old = "Object.defineProperty(process, 'versions', { value: { node: '18.20.0' } })";
  const ran = promisify(execFile)(process.execPath, [
    "--import",
    `data:text/javascript,${old}`,
    MAIN,
    "list",
  ]);
  await expect(ran).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining("https://nodejs.org") });
});

test("a difference ends with 8, so that no script takes it for a crash (18)", async () => {
  await run("fork", "chat-1", "--id", "fork-1");
  await holdfastHere(store, ["append", "fork-1"], { input: said("user", "More") });
  expect((await run("diff", "chat-1", "fork-1", "--exit-code")).status).toBe(8);
  expect((await run("diff", "chat-1", "chat-1", "--exit-code")).status).toBe(0);
});

test("allowing every call has a name that says so, beside the old one (19)", async () => {
  const help = (await run("help", "chat")).out;
  expect(help).toContain("--allow-all, --yes");
  const all = ["-p", "hello", "--model", "sim", "--json"];
  for (const option of ["--allow-all", "--yes"]) expect((await run("chat", ...all, option)).status).toBe(0);
});

test("old names and what people type stand for the new names (20)", async () => {
  const help = async (name: string): Promise<string> => (await run("help", name)).out.split("\n")[3] ?? "";
  const pairs = {
    ls: "list",
    chain: "sessions",
    "new-chat": "clear",
    erase: "delete",
    rm: "delete",
    inspect: "show",
  };
  for (const [old, name] of Object.entries(pairs)) expect(await help(old)).toBe(await help(name));
  expect(await help("hydrate")).toContain("holdfast runs show RUN");
  expect((await run("ls")).out).toBe((await run("list")).out);
});

test("--status takes the states that lists show (21)", async () => {
  for (const state of ["working", "waiting", "interrupted", "failed", "paused", "damaged", "unclean"])
    expect((await run("list", "--status", state)).status).toBe(0);
  expect((await run("list", "--status", "nonsense")).status).toBe(2);
});
