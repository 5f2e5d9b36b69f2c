import { readWaiting } from "#agent/pending-permissions";
import {
  readLiveTurn,
  readSentFrom,
  readStretch,
  readThreadBranch,
  type ThreadBranch,
} from "#conversation/read-thread";
import { type Json, objectText } from "#log/json/json-text";
import type { Link } from "#log/projections/chain";
import type { Queued } from "#log/projections/queue";
import type { LiveTurn } from "#log/projections/live-turn";
import {
  type SessionStart,
  type ThreadCall,
  type ThreadChange,
  type ThreadRow as Row,
  ThreadRows,
} from "#log/projections/thread-rows";
import { SCHEMA_VERSION } from "#transfer/context-text";
import type { HeadView } from "#store/requests";
import type { PermissionAsked } from "#turn/host";
import { conversationOf, viewsOf } from "./acts.ts";
import { conversationSchema, type ConversationView, conversationView } from "./conversations.ts";
import { cutStrings, shortLine } from "./views/cut-strings.ts";
import type { Entry } from "#log/entry";
import { JsonText, operation, type OperationContext, type OutputOf } from "./operation.ts";
import { fidelity, linkFields, waitingFields } from "./records.ts";
import {
  answer,
  anything,
  choice,
  count,
  entryShape,
  flag,
  idField,
  list,
  named,
  nullable,
  open,
  optional,
  pageLimit,
  text,
} from "./schemas.ts";
import type { Sibling } from "./views/whole-logs.ts";
import type { Holdfast } from "#conversation/holdfast";

/** A node of a branch with everything that a page shows of it. */
export interface ThreadRow extends Row {
  readonly place: number;
  readonly entry: Entry;
  /** How long its text is, where only its beginning is here. */
  readonly cut: number | null;
  readonly label: string | null;
  /** The ways on from the node before it, itself among them; empty where there is one. */
  readonly siblings: readonly Sibling[];
}

/** A session without its place in the log. */
export type ThreadLink = Omit<Link, "seq">;

const PAGE = 60;
const COUNTED_ENTRIES_MAX = 20_000;

const change = named(
  "ThreadChange",
  open<ThreadChange>({
    kind: choice(["session", "again", "parked", "broken"]),
    seq: count(),
    time: text(),
    reason: optional(text()),
    link: optional(nullable(count())),
    ended: optional(nullable(text())),
    fidelity: optional(fidelity),
    until: optional(text()),
    outcome: optional(text()),
  }),
);

const call = named(
  "ThreadCall",
  open<ThreadCall>({
    call: text(),
    name: text(),
    input: anything(),
    state: choice(["done", "failed", "unknown", "running", "asked", "not_started"]),
    how: nullable(choice(["refused", "stopped"])),
    hasResult: flag(),
    tookMs: nullable(count()),
  }),
);

const row = named(
  "ThreadRow",
  open<ThreadRow>({
    place: count({ about: "on the branch; the root is 0" }),
    entry: entryShape,
    cut: nullable(count()),
    source: nullable(text()),
    hidden: flag(),
    label: nullable(text()),
    carriers: list(count()),
    carrierBefore: nullable(count()),
    idleMs: nullable(count()),
    noFork: nullable(choice(["failed_answer", "cut_off_answer", "calls_open", "other_calls_open"])),
    siblings: list(open<Sibling>({ entry: text(), end: text(), active: flag() })),
    calls: list(call),
    changes: list(change),
  }),
);

export interface Waiting {
  readonly queue: readonly Queued[];
  readonly asked: readonly PermissionAsked[];
}

/** What a page shows of a conversation, put together where the log is. */
export const getThread = operation({
  summary: "Show part of a branch with everything a page displays",
  group: "Entries",
  access: "read",
  kind: "read",
  http: "GET /api/conversations/{conversation}/thread",
  input: {
    conversation: idField,
    leaf: optional(idField),
    at: optional(idField),
    from: optional(count({ about: "the position of the first row (the root is 0)" })),
    limit: optional(pageLimit),
    textMax: optional(
      count({ min: 1, about: "truncates longer texts to this many characters (default: no limit)" }),
    ),
  },
  output: answer({
    conversation: text(),
    header: conversationSchema,
    leaf: text(),
    own: flag("the conversation continues at the end of this branch"),
    length: count(),
    from: count(),
    sentFrom: count({ about: "the position of the first row that models receive" }),
    rows: list(row),
    changes: list(change),
    chain: list(named("ThreadLink", open<ThreadLink>(linkFields))),
    live: nullable(
      open<LiveTurn>({
        turn: nullable(text()),
        words: text({ max: 100_000 }),
        thinking: text({ max: 100_000 }),
      }),
    ),
    waiting: open<Waiting>(waitingFields),
    issues: nullable(count({ about: "null: a turn runs, or the log is long and was not counted yet" })),
    replay: flag("a replay made it"),
    headSeq: count(),
  }),
  async run({ leaf, at, from, limit = PAGE, textMax = null, ...input }, context) {
    const conversation = conversationOf(input, context);
    const { holdfast } = context;
    const { trees } = viewsOf(context);
    const branch = await readThreadBranch(conversation, { leaf, at }, (entry) =>
      trees.endOf(holdfast, conversation.id, entry),
    );
    const { head, end, isOwn } = branch;
    const [header, waiting] = [
      await conversationView(holdfast, head),
      { queue: await conversation.queue(), asked: await readWaiting(conversation) },
    ];
    const asked = stretchOf(branch, { from, limit });
    const { chain, lines, changes } = await rowsOf(branch, asked, { header, waiting, textMax, context });
    const isRunning = header.openTurn?.left === false;
    const json = (name: string, value: unknown): Member => ({ name, text: JSON.stringify(value) });
    return new JsonText(
      objectText([
        json("schemaVersion", SCHEMA_VERSION),
        json("conversation", conversation.id),
        json("header", header),
        json("leaf", end.id),
        json("own", isOwn),
        json("length", end.place.depth + 1),
        json("from", asked.first),
        json("sentFrom", await readSentFrom(conversation, end.place)),
        { name: "rows", text: `[${lines.join(",")}]` },
        json("changes", changes),
        json("chain", chain),
        json(
          "live",
          isOwn && header.openTurn !== null
            ? await readLiveTurn(conversation, head.headSeq, header.openTurn.turn)
            : null,
        ),
        json("waiting", waiting),
        json("issues", isRunning ? null : await issuesOf(head, context)),
        json("replay", head.origin !== null && (await isReplay(holdfast, conversation.id))),
        json("headSeq", head.headSeq),
      ]),
    );
  },
});

/** A page of a thread. */
export type ThreadPage = OutputOf<typeof getThread>;

type Member = Parameters<typeof objectText>[0][number];

export function stretchOf(
  { end, around }: ThreadBranch,
  { from, limit }: { readonly from: number | undefined; readonly limit: number },
): { readonly first: number; readonly last: number } {
  const { depth } = end.place;
  const wanted = from ?? (around === null ? depth - limit + 1 : around.place.depth - Math.floor(limit / 2));
  const first = Math.max(0, Math.min(wanted, depth));
  return { first, last: Math.min(depth, first + limit - 1) };
}

interface RowParts {
  readonly header: ConversationView;
  readonly waiting: Waiting;
  readonly textMax: number | null;
  readonly context: OperationContext;
}

async function rowsOf(
  branch: ThreadBranch,
  asked: { readonly first: number; readonly last: number },
  { header, waiting, textMax, context }: RowParts,
): Promise<{
  readonly lines: readonly string[];
  readonly changes: readonly ThreadChange[];
  readonly chain: readonly ThreadLink[];
}> {
  const { holdfast } = context;
  const { head, end, isOwn } = branch;
  const { conversation } = head;
  const views = viewsOf(context);
  const { nodes, facts, skip } = await readStretch(holdfast, branch, asked);
  const shown = nodes.slice(skip, skip + asked.last - asked.first + 1);
  const siblings =
    (header.summary?.branches ?? 2) > 1 || head.origin !== null
      ? await views.trees.siblings(
          holdfast,
          conversation,
          shown.map(({ entry }) => entry.parentId),
        )
      : new Map<string, readonly Sibling[]>();
  const labels = await views.labels.readAtHead(holdfast, conversation, (known) =>
    shown.map(({ entry }) => known.get(entry.id) ?? null),
  );
  const running = isOwn && header.openTurn?.left === false ? header.openTurn : null;
  return views.chains.read(holdfast, conversation, (reader) => {
    const links = reader.links();
    const rows = new ThreadRows({
      nodes,
      facts,
      recordsIntents:
        header.summary?.counts?.hasIntents ?? facts.some(({ fact }) => fact.type === "tool_intent"),
      running:
        running === null
          ? null
          : {
              sinceSeq: startOf(header, facts, running.turn),
              asked: new Set(waiting.asked.map((one) => one.call)),
            },
      carriersOf: (message) => reader.carriersOf(message),
      msBetween: (since, until) => Date.parse(until) - Date.parse(since),
      linkAt: (seq, source) => sessionAt(links, seq, source),
    });
    const lines = shown.map(({ entry }, at) =>
      rowLine(rows.row(skip + at), {
        place: asked.first + at,
        entry,
        label: labels[at] ?? null,
        siblings: siblings.get(entry.parentId ?? "") ?? [],
        textMax,
      }),
    );
    const isWhole = asked.last === end.place.depth;
    return {
      lines,
      changes: isWhole ? rows.changesBefore(nodes.length) : [],
      chain: links.map(({ seq: _, ...link }) => link),
    };
  });
}

function sessionAt(links: readonly Link[], seq: number, source: string | null): SessionStart | null {
  const link = links.findIndex((one) => one.seq === seq && one.source === source);
  if (link === -1) return null;
  return { link, isFirst: links.findIndex((one) => one.source === source) === link };
}

/** Where the open turn begins. */
function startOf(
  { summary, headSeq }: ConversationView,
  facts: readonly { readonly fact: Entry }[],
  turn: string,
): number {
  const known = summary?.counts?.turns.find((one) => one.turn === turn)?.startSeq;
  const read = facts.find(({ fact }) => fact.type === "turn_start" && fact.turn === turn)?.fact.seq;
  return known ?? read ?? headSeq;
}

interface RowPart {
  readonly place: number;
  readonly entry: Entry;
  readonly label: string | null;
  readonly siblings: readonly Sibling[];
  readonly textMax: number | null;
}

/** The entry stands in it in its exact text. */
function rowLine(made: Row, { place, entry, label, siblings, textMax }: RowPart): string {
  const { line, cut } = shortLine(entry, textMax);
  const input = (value: Json): Json => (textMax === null ? value : (cutStrings(value, textMax) ?? value));
  const calls = made.calls.map((one) => ({ ...one, input: input(one.input) }));
  const rest = JSON.stringify({ ...made, calls, cut, label, siblings });
  return `{"place":${place},"entry":${line},${rest.slice(1)}`;
}

/** A long log with calls is counted when somebody asks for that alone: a page does not wait for it. */
async function issuesOf(head: HeadView, context: OperationContext): Promise<number | null> {
  const { issueCounts } = viewsOf(context);
  const known = issueCounts.at(context.holdfast, head);
  const isLong = head.headSeq > COUNTED_ENTRIES_MAX && head.summary?.counts?.callsFrom !== null;
  if (known !== null || isLong) return known;
  const [issues = null] = await issueCounts.read(context.holdfast, [head.conversation]);
  return issues;
}

async function isReplay(holdfast: Holdfast, conversation: string): Promise<boolean> {
  const { runs } = await holdfast.runPage({ conversation, trigger: "replay", limit: 1 });
  return runs.length > 0;
}
