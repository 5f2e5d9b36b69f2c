/** A server with something for every route in two spaces, and everything that a request may show to be let in. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Memory } from "#agent/memory/memory";
import { Skills } from "#agent/skills/skills";
import type { Holdfast } from "#conversation/holdfast";
import { simulatedSource } from "#edges/cli/serve/simulated-agent";
import { StoredTokens } from "#edges/http/index";
import { endBody, plannedBody } from "#operations/views/replay-log";
import { CLIENT_HEADER, type Route, type Right, RIGHTS } from "#edges/http/routes/route";
import { user } from "#log/message";
import { tempDir } from "../../../support/temp-dir.ts";
import { fill } from "../example-conversation.ts";
import { handClock, serve, type Served, URL_HERE } from "../served.ts";
import type { Ids } from "./samples.ts";

/** Text of each space, which no answer to the other one may hold. */
export const CANARIES = { own: "canary-of-mine", foreign: "canary-of-theirs" } as const;
const LIMITS = { perSecond: 1_000_000, burst: 1_000_000, bodyBytes: 100_000 };

/** Ids by the names that routes call them; a route with another name fails until it is here. */
function idsOf(of: string, digest: string) {
  const [conversation, entry] = [`conversation-${of}`, `entry-${of}`];
  return {
    conversation,
    entry,
    digest,
    run: `run-${of}`,
    turn: `turn-${of}`,
    memory: `memory_${of}`,
    replay: `replay-${of}`,
    // Skills and agents belong to the server, not to a space.
    skill: "tidy",
    agent: "simulated",
    a: conversation,
    b: conversation,
    watch: conversation,
    forkOf: conversation,
    at: entry,
    from: entry,
    leaf: entry,
    entries: entry,
    upstream: `upstream-${of}`,
    id: `new-${of}`,
    request: `request-${of}`,
  };
}

async function filled(space: Holdfast, of: keyof typeof CANARIES): Promise<Ids> {
  const words = CANARIES[of];
  const conversation = await space.create({ id: `conversation-${of}`, title: words });
  await fill(conversation);
  const digest = await conversation.putBlob(Buffer.from(words));
  const ids = idsOf(of, digest);
  await conversation.append([
    { type: "run_start", run: ids.run, trigger: words },
    { ...user(words), id: ids.entry },
    { type: "turn_start", turn: ids.turn, prompt: ids.entry },
    { type: "turn_end", turn: ids.turn, outcome: "completed" },
    { type: "run_end", run: ids.run, status: "completed" },
    { type: "label", target: ids.entry, label: words },
  ]);
  if (of === "foreign") await space.create({ id: ids.id, title: words });
  await new Memory(space).save("user", { key: ids.memory, content: words });
  const replay = await space.create({ id: ids.replay, unlisted: true });
  const { leaf: head } = await conversation.head();
  const source = { conversation: conversation.id, entry: head.id, run: null };
  await replay.append([
    plannedBody({
      source,
      models: ["sim"],
      tools: "dry-run",
      prompts: 1,
      absent: [],
      added: [],
      keptTo: head.id,
    }),
    endBody({ status: "completed", message: words, results: [] }),
  ]);
  return ids;
}

/** Headers that a request shows, and what they let it do. */
export interface Sender {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What answers before the operation is reached; null: the operation answers. */
  refused(route: Route): readonly [status: number, code: string] | null;
}

const UNKNOWN = [401, "wrong_token"] as const;
const NO_RIGHT = [403, "no_right"] as const;
const FOREIGN_PAGE = [403, "wrong_origin"] as const;
const HOLDERS: { readonly [R in Right]: readonly Right[] } = {
  read: ["read", "write", "admin"],
  write: ["write", "admin"],
  admin: ["admin"],
  metrics: ["metrics", "admin"],
};

export class TwoSpaces implements AsyncDisposable {
  readonly #folder = tempDir();
  readonly served: Served;
  /** Of the space that is asked, of the other one, and of neither. */
  readonly ids: { readonly own: Ids; readonly foreign: Ids; readonly missing: Ids };
  senders: readonly Sender[] = [];
  admin: Readonly<Record<string, string>> = {};
  /** An administrator of the other space. */
  stranger: Readonly<Record<string, string>> = {};

  private constructor(served: Served, folder: ReturnType<typeof tempDir>, ids: TwoSpaces["ids"]) {
    this.served = served;
    this.#folder = folder;
    this.ids = ids;
  }

  get folder(): string {
    return this.#folder.path;
  }

  static async open(holdfast: Holdfast): Promise<TwoSpaces> {
    const folder = tempDir();
    const skill = join(folder.path, "skills", "tidy");
    mkdirSync(skill, { recursive: true });
    writeFileSync(join(skill, "SKILL.md"), "---\nname: tidy\ndescription: Tidies up.\n---\nTidy up.\n");
    const skills = new Skills({ places: [{ name: "here", folder: join(folder.path, "skills") }] });
    const clock = handClock();
    const agents = { simulated: simulatedSource(1_000) };
    const served = await serve({ holdfast, clock, limits: LIMITS, skills, agents });
    const ids = {
      own: await filled(holdfast, "own"),
      foreign: await filled(holdfast.inSpace("other"), "foreign"),
      missing: idsOf("missing", "0".repeat(64)),
    };
    const made = new TwoSpaces(served, folder, ids);
    await made.#letIn(clock);
    return made;
  }

  async #letIn(clock: ReturnType<typeof handClock>): Promise<void> {
    const { served } = this;
    const expired = await this.#cookie();
    clock.advance(86_400_001);
    const tokens = new StoredTokens(served.holdfast);
    const gone = { token: "removed", space: "default", rights: "admin" } as const;
    const { secret: removed } = await tokens.add(gone);
    await tokens.remove(gone.token);
    clock.advance(1_001);
    const cookie = await this.#cookie();
    const bearer = (secret: string): Sender["headers"] => ({ authorization: `Bearer ${secret}` });
    const unknown = (name: string, headers: Sender["headers"]): Sender => ({
      name,
      headers,
      refused: () => UNKNOWN,
    });
    const holders = RIGHTS.map(async (right) => ({
      name: `a token with the right ${right}`,
      headers: bearer(await served.token(right)),
      refused: (route: Route) => (HOLDERS[route.right].includes(right) ? null : NO_RIGHT),
    }));
    this.admin = bearer(await served.token("admin"));
    this.stranger = bearer(await served.token("admin", "other"));
    const ofPage = { cookie, origin: URL_HERE, [CLIENT_HEADER]: "1" };
    this.senders = [
      { name: "nothing", headers: {}, refused: () => [401, "no_token"] },
      unknown("a token that nobody has", bearer(`hf_${"x".repeat(43)}`)),
      unknown("another scheme", { authorization: "Basic YTpi" }),
      unknown("a header that is too long", { authorization: "x".repeat(5_000) }),
      unknown("a removed token", bearer(removed)),
      unknown("a launch code", bearer(served.handler.launchCode(GRANT))),
      unknown("a cookie that nobody has", { cookie: "holdfast=hf_made-up" }),
      unknown("an expired cookie", { cookie: expired }),
      ...(await Promise.all(holders)),
      { name: "a token of another space", headers: this.stranger, refused: () => null },
      { name: "a cookie and a page of the server", headers: ofPage, refused: () => null },
      {
        name: "a cookie alone",
        headers: { cookie },
        refused: ({ writes }) => (writes === true ? FOREIGN_PAGE : null),
      },
      {
        name: "a cookie and a page of another site",
        headers: { ...ofPage, origin: "https://evil.example" },
        refused: () => FOREIGN_PAGE,
      },
      {
        name: "a token and another name of the server",
        headers: { ...this.admin, host: "evil.example" },
        refused: () => [403, "wrong_host"],
      },
    ];
  }

  async #cookie(): Promise<string> {
    const code = this.served.handler.launchCode(GRANT);
    const response = await this.served.ask(`/launch?code=${code}`);
    return response.headers.get("set-cookie")?.split(";")[0] ?? "";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.served.handler.drain();
    await this.served[Symbol.asyncDispose]();
    this.#folder[Symbol.dispose]();
  }
}

const GRANT = { token: "browser", space: "default", rights: "admin" } as const;
