import { readPriorContext } from "../src/upstream/read-prior.ts";
import { Runtime } from "../src/upstream/runtime.ts";
import type { PromptEvent } from "../src/upstream/upstream.ts";
import { openHoldfast } from "../src/open.ts";
import type { ConversationId } from "../src/log/ids.ts";
import { renderPreamble } from "../src/upstream/rules/preamble.ts";
import { PRIOR_BUDGET } from "../src/upstream/rules/prior-budget.ts";
import type { SpaceStore } from "../src/store/facets.ts";
import { BareReader } from "./bare.ts";
import { benchUpstream } from "./bench-upstream.ts";
import { fill } from "./history.ts";
import { type Row, slower } from "./report.ts";
import { alternate } from "./sample.ts";
import { MESSAGE_CHARS, sizeText, type Stage } from "./stage.ts";
import { spaceOf } from "../src/conversation/on-space.ts";

const ENTRIES = 100_000;
const LINKS = 16;
const UPDATES = 20_000;

/** What every send does before and while an agent works: build the prior context, pass on and record its updates. */
export async function measureSending(stage: Stage): Promise<readonly Row[]> {
  return [await measureBuild(stage), ...(await measureUpdates(stage))];
}

async function measureBuild(stage: Stage): Promise<Row> {
  const path = stage.path("sending-history.db");
  stage.say(`building a conversation of ${sizeText(ENTRIES)} entries and ${LINKS} links`);
  await using holdfast = await openHoldfast({ store: `sqlite:${path}` });
  const conversation = await holdfast.create({ id: "long" });
  for (let link = 1; link <= LINKS; link++) {
    const reason = link === 1 ? "first" : "lost";
    await conversation.append({ type: "upstream_link", upstream: `up-${link}`, agent: "claude", reason });
    await fill(conversation, { messages: ENTRIES / LINKS, chars: MESSAGE_CHARS });
  }
  const { leaf } = await conversation.head();
  const build = async (space: SpaceStore): Promise<string> =>
    renderPreamble(await readPriorContext(space, conversation.id, { from: leaf, budget: PRIOR_BUDGET }));
  const rows = await rowsRead(spaceOf(holdfast), build);
  using bare = new BareReader(path);
  const row = bare.rowOf(conversation.id);
  checkSame(await build(spaceOf(holdfast)), bare.newest(row, rows));
  const times = await alternate(
    { ours: { run: () => build(spaceOf(holdfast)) }, bare: { run: () => bare.newest(row, rows) } },
    stage.plan(2_000, 20_000),
  );
  return slower(
    `prior context read + build, ${sizeText(ENTRIES)} entries, ${LINKS} links`,
    "bare SELECT + JSON.parse",
    { ours: times.ours, theirs: times.bare, budget: { atMost: 1.5 }, note: `${rows} rows on both sides` },
  );
}

/** How many rows the work reads, so that the bare side can read the same. */
async function rowsRead(space: SpaceStore, work: (space: SpaceStore) => Promise<unknown>): Promise<number> {
  let rows = 0;
  await work({
    ...space,
    page: async (request) => {
      const page = await space.page(request);
      rows += page.entries.length;
      return page;
    },
  });
  return rows;
}

/** The newest words of the bare rows must stand in what was built from ours. */
function checkSame(built: string, bare: readonly unknown[]): void {
  const [newest] = bare as readonly {
    readonly message?: { readonly content: readonly { text: string }[] };
  }[];
  const words = newest?.message?.content[0]?.text.split("\n")[0] ?? "";
  if (words === "" || !built.includes(words)) throw new Error("The two sides read different messages");
}

async function* streamed(): AsyncGenerator<PromptEvent> {
  for (let at = 0; at < UPDATES; at++) yield { type: "text", text: `word ${at} of many ` };
  const end = { stopReason: "end_turn", error: null, exited: false, durationMs: 60_000, usage: null };
  yield { type: "end", end };
}

async function measureUpdates(stage: Stage): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const kind of ["memory:", `sqlite:${stage.path("sending.db")}`]) {
    await using holdfast = await openHoldfast({ store: kind });
    rows.push(...(await measureStream(stage, kind.split(":")[0] ?? "", new Sender(holdfast))));
  }
  return rows;
}

/** Sends to a conversation of its own each time, made beforehand. */
class Sender {
  readonly #holdfast: Awaited<ReturnType<typeof openHoldfast>>;
  readonly #runtime: Runtime;
  #next: ConversationId | null = null;
  heard: number = 0;

  constructor(holdfast: Awaited<ReturnType<typeof openHoldfast>>) {
    this.#holdfast = holdfast;
    this.#runtime = new Runtime(holdfast, { upstreams: [benchUpstream(streamed)] });
  }

  async prepare(): Promise<void> {
    this.#next = (await this.#holdfast.create()).id;
    this.heard = 0;
  }

  async send(): Promise<void> {
    const onEvent = (event: { readonly type: string }): void => {
      if (event.type === "update") this.heard++;
    };
    await this.#runtime.send(this.#next ?? "", "go", { onEvent });
    if (this.heard !== UPDATES) throw new Error(`${this.heard} of ${UPDATES} updates were passed on`);
  }
}

async function measureStream(stage: Stage, store: string, sender: Sender): Promise<readonly Row[]> {
  const bare = async (): Promise<number> => {
    let heard = 0;
    for await (const event of streamed()) if (event.type === "text") heard++;
    return heard;
  };
  const times = await alternate(
    { ours: { before: () => sender.prepare(), run: () => sender.send() }, bare: { run: bare } },
    stage.plan(40, 20_000),
  );
  const perUpdate = ((times.ours.medianMs - times.bare.medianMs) * 1_000) / UPDATES;
  return [
    {
      work: `send, ${sizeText(UPDATES)} streamed updates into ${store}, per update`,
      against: "a bare loop over the same stream",
      value: perUpdate,
      unit: "us",
      budget: null,
      ours: times.ours,
      theirs: times.bare,
      note: "what a send adds to each update, its own accept and end included",
    },
  ];
}
