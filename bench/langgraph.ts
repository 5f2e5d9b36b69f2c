import { readdirSync, statSync } from "node:fs";
import { openHoldfast } from "../src/open.ts";
import type { EntryBody } from "../src/log/entry.ts";
import { textOf } from "./history.ts";
import {
  loadPeer,
  MESSAGES,
  type MessagesModule,
  type Saver,
  SAVER,
  type SaverConfig,
  type SaverModule,
} from "./peers.ts";
import { type Row, slower, unmeasured } from "./report.ts";
import { timingOf } from "./sample.ts";
import type { Stage } from "./stage.ts";

const TURNS = 200;
const CHARS = 1_000;
const PAYLOAD_BYTES = TURNS * 2 * CHARS;
// A graph of one node saves three times per turn: the input, the input applied, the reply applied.
const PUTS_PER_TURN = 3;
const APPEND_THREADS = 5; // ours are quick, so there is time for more samples
const OUR_FILE = "langgraph-ours";
const THEIR_FILE = "langgraph.db";
const EARLY: readonly [number, number] = [9, 24];
const LATE: readonly [number] = [TURNS - 15];

/** The same conversation kept by LangGraph's saver, which stores the whole state at every step. */
export async function measureLangGraph(stage: Stage): Promise<readonly Row[]> {
  const against = "LangGraph SqliteSaver";
  const saverModule = await loadPeer<SaverModule>(SAVER);
  const messages = await loadPeer<MessagesModule>(MESSAGES);
  if (typeof saverModule === "string") return [unmeasured("bytes on disk", against, saverModule)];
  if (typeof messages === "string") return [unmeasured("bytes on disk", against, messages)];
  stage.say(`${TURNS} turns of 2 KB through LangGraph's saver`);
  const puts = await putTurns(stage.path(THEIR_FILE), saverModule, messages);
  const appends: Ages = { early: [], late: [] };
  for (let n = 0; n < APPEND_THREADS; n++) await appendTurns(stage.path(`${OUR_FILE}-${n}.db`), appends);
  const work = `${TURNS} turns of 2 KB`;
  return [
    sizeRow(`${work}, our log on disk`, bytesOf(stage, `${OUR_FILE}-0.db`), { atMost: 3 }),
    sizeRow(`${work}, ${against} on disk`, bytesOf(stage, THEIR_FILE), null),
    slower(`a turn's append at turn ${TURNS}`, "ours at turn 16", {
      ours: timingOf(appends.late),
      theirs: timingOf(appends.early),
      budget: { atMost: 1.3 },
    }),
    slower(`a turn's ${PUTS_PER_TURN} puts at turn ${TURNS}, ${against}`, "the same at turn 16", {
      ours: timingOf(puts.late),
      theirs: timingOf(puts.early),
      note: "its puts are not synced to disk (synchronous=NORMAL); our appends are",
    }),
  ];
}

/** The times of the turns around the 16th, and of the last ones. */
interface Ages {
  readonly early: number[];
  readonly late: number[];
}

function keep(ages: Ages, turn: number, elapsed: number): void {
  if (turn >= EARLY[0] && turn <= EARLY[1]) ages.early.push(elapsed);
  if (turn >= LATE[0]) ages.late.push(elapsed);
}

async function putTurns(path: string, module: SaverModule, messages: MessagesModule): Promise<Ages> {
  const saver = module.SqliteSaver.fromConnString(path);
  const thread = new Thread(saver, messages);
  const ages: Ages = { early: [], late: [] };
  for (let turn = 1; turn <= TURNS; turn++) keep(ages, turn, await thread.turn(turn));
  saver.db.close();
  return ages;
}

async function appendTurns(path: string, ages: Ages): Promise<void> {
  await using holdfast = await openHoldfast({ store: `sqlite:${path}` });
  const conversation = await holdfast.create();
  for (let turn = 1; turn <= TURNS; turn++) {
    const bodies = ourTurn(turn);
    const started = performance.now();
    await conversation.append(bodies);
    keep(ages, turn, performance.now() - started);
  }
}

function sizeRow(work: string, bytes: number, budget: { readonly atMost: number } | null): Row {
  const note = `${(bytes / 1e6).toFixed(2)} MB for ${(PAYLOAD_BYTES / 1e6).toFixed(1)} MB of text`;
  return {
    work,
    against: "the text itself",
    value: bytes / PAYLOAD_BYTES,
    unit: "x",
    budget,
    ours: null,
    theirs: null,
    note,
  };
}

/** One thread of a chat graph, saved the way the graph's loop saves it. */
class Thread {
  readonly #saver: Saver;
  readonly #modules: MessagesModule;
  readonly #messages: object[] = [];
  #config: SaverConfig = { configurable: { thread_id: "thread", checkpoint_ns: "" } };
  #step = 0;

  constructor(saver: Saver, modules: MessagesModule) {
    this.#saver = saver;
    this.#modules = modules;
  }

  /** The time its saves took. */
  async turn(turn: number): Promise<number> {
    const { HumanMessage, AIMessage } = this.#modules;
    let elapsed = await this.#put("input");
    this.#messages.push(new HumanMessage({ content: textOf(2 * turn, CHARS), id: `u${turn}` }));
    elapsed += await this.#put("loop");
    this.#messages.push(new AIMessage({ content: textOf(2 * turn + 1, CHARS), id: `a${turn}` }));
    return elapsed + (await this.#put("loop"));
  }

  async #put(source: string): Promise<number> {
    const step = this.#step++;
    const checkpoint = {
      v: 4,
      id: step.toString(16).padStart(12, "0"),
      ts: new Date().toISOString(),
      channel_values: { messages: [...this.#messages] },
      channel_versions: { messages: step + 1 },
      versions_seen: {},
    };
    const started = performance.now();
    this.#config = await this.#saver.put(
      this.#config,
      checkpoint,
      { source, step, parents: {} },
      { messages: step + 1 },
    );
    return performance.now() - started;
  }
}

function ourTurn(turn: number): readonly EntryBody[] {
  const content = (n: number) => [{ type: "text", text: textOf(n, CHARS) }] as const;
  return [
    { type: "message", message: { role: "user", content: content(2 * turn) } },
    { type: "message", message: { role: "assistant", content: content(2 * turn + 1), model: "example-1" } },
  ];
}

/** A database with all that lies beside it. */
function bytesOf(stage: Stage, name: string): number {
  const files = readdirSync(stage.dir).filter((file) => file.startsWith(name));
  return files.reduce((sum, file) => sum + statSync(stage.path(file)).size, 0);
}
