import { isLogError, LogError } from "#log/errors";
import type { EntryId } from "#log/ids";
import { FAULT_KINDS, FAULT_PHASES, type FaultKind, type Phase, PHASES } from "#testing/index";
import { NOT_UNDONE } from "#transfer/words";
import { findEntry } from "#edges/cli/address";
import type { Sink } from "#edges/cli/command";
import { safeText } from "#edges/cli/terminal";
import { chainRows } from "#edges/cli/view/chain-view";
import { blockPreview } from "#edges/cli/view/preview";
import { treeRows } from "#edges/cli/view/tree-view";
import type { Stage } from "./chat-printer.ts";
import type { ChatSession } from "./chat-session.ts";

const LIMIT_MS = 10_000; // long enough to see it parked, short enough to wait for
const ENTRY_CHARS_MIN = 4; // a shorter word is more likely a word than the start of an id

const HELP = `Talk to the agent. It is simulated and understands, one to a line or parted by ";":
  remember NAME=VALUE     recall NAME     email WHO about WHAT     work STEPS
Everything else it repeats. Orders for Holdfast:
  /edit [ENTRY] TEXT   puts TEXT in place of a message of yours, the last one unless told;
                       files and external effects are not undone, by /fork and /goto neither
  /fork [ENTRY]        goes on in a fork; on a message of yours: from before it
  /goto ENTRY          moves to another entry; /tree shows them
  /tree  /chain        the branches, and the sessions this conversation has held
  /new                 a fresh start: nothing above reaches the agent, all of it stays readable
  /cancel              stops the running turn, as Ctrl-C does
  /fault KIND [PHASE]  lets a fault strike next: ${FAULT_KINDS.slice(0, 6).join(" ")}
                       ${FAULT_KINDS.slice(6).join(" ")}
  /help  /quit`;

interface Desk {
  readonly chatSession: ChatSession;
  readonly stage: Stage;
  readonly out: Sink;
}

type Order = (desk: Desk, rest: string) => Promise<void> | void;

const ORDERS: Readonly<Record<string, Order>> = {
  edit: async ({ chatSession, stage }, rest) => {
    const { entry, text } = await entryAndText(chatSession, rest);
    if (text === "") throw new LogError("invalid_request", "/edit wants the new words: /edit [ENTRY] TEXT");
    stage.notice(`The words before stay in the log. ${NOT_UNDONE}`);
    await chatSession.edit(entry, text);
  },
  fork: async ({ chatSession, stage }, rest) => {
    const source = chatSession.conversation.id;
    const entry = rest === "" ? null : await named(chatSession, rest);
    const { conversation, fidelity, editable } = await chatSession.fork(entry);
    const how =
      fidelity === "native" ? "the agent forked its own session" : "the agent will be told what came before";
    stage.notice(
      `Now in ${conversation.id}, a fork of ${source}: ${how}. The source is as it was. ${NOT_UNDONE}`,
    );
    if (editable !== null)
      stage.notice(`The message it was taken at, to be sent again: ${editable.map(blockPreview).join(" ")}`);
  },
  goto: async ({ chatSession, stage }, rest) => {
    if (rest === "") throw new LogError("invalid_request", "/goto wants an entry; /tree shows them");
    const entry = await named(chatSession, rest);
    await chatSession.goTo(entry);
    stage.notice(`Now at ${entry}; what you say next grows from there. Nothing was removed. ${NOT_UNDONE}`);
  },
  tree: async ({ chatSession, out }) => {
    const { leaf, nodes } = await chatSession.conversation.tree();
    for (const row of treeRows(nodes, leaf, out)) await out.write(`${row}\n`);
  },
  chain: async ({ chatSession, stage }) => {
    const links = await chatSession.chain();
    stage.rows(links.length === 0 ? ["No session has been held yet."] : chainRows(links, true));
  },
  new: async ({ chatSession, stage }) => {
    await chatSession.startAnew();
    stage.notice("A fresh start: nothing above reaches the agent. It stays readable with /tree.");
  },
  cancel: ({ chatSession, stage }) => {
    if (!chatSession.cancel()) stage.notice("Nothing is running.");
  },
  fault: ({ chatSession, stage }, rest) => {
    const [kind = "", phase] = rest.split(/\s+/);
    const fault = faultOf(kind, phase);
    chatSession.strike({ ...fault, resetMs: LIMIT_MS });
    stage.strike(`${fault.kind} will strike (${fault.phase})`);
  },
  help: async ({ out }) => out.write(`${HELP}\n`),
};

/** Carries out a line that begins with "/". */
export async function order(desk: Desk, line: string): Promise<void> {
  const [, name = "", rest = ""] = /^\/(\S*)\s*([\s\S]*)$/.exec(line) ?? [];
  const known = Object.hasOwn(ORDERS, name) ? ORDERS[name] : undefined;
  if (known === undefined)
    throw new LogError("invalid_request", `There is no /${safeText(name)}; /help lists what there is`);
  await known(desk, rest.trim());
}

/** As the tree shows it, with or without the "@" of an address. */
function named(chatSession: ChatSession, text: string): Promise<EntryId> {
  return findEntry(chatSession.conversation, text.replace(/^@/, ""));
}

/** The first word is an entry when it names one and more words follow. */
async function entryAndText(
  chatSession: ChatSession,
  rest: string,
): Promise<{ readonly entry: EntryId | null; readonly text: string }> {
  const [, word = "", more = ""] = /^@?(\S+)\s+([\s\S]+)$/.exec(rest) ?? [];
  if (more === "" || word.length < ENTRY_CHARS_MIN) return { entry: null, text: rest };
  try {
    return { entry: await findEntry(chatSession.conversation, word), text: more };
  } catch (error) {
    if (!isLogError(error, "entry_not_found") || rest.startsWith("@")) throw error;
    return { entry: null, text: rest };
  }
}

function faultOf(
  kind: string,
  phase: string | undefined,
): { readonly kind: FaultKind; readonly phase: Phase } {
  const known = FAULT_KINDS.find((one) => one === kind);
  if (known === undefined)
    throw new LogError("invalid_request", `/fault wants one of: ${FAULT_KINDS.join(", ")}`);
  const phases: readonly Phase[] = FAULT_PHASES[known];
  const usual = phases.includes("start") ? "start" : phases.includes("idle") ? "idle" : phases[0];
  const chosen = PHASES.find((one) => one === (phase ?? usual));
  if (chosen === undefined || !phases.includes(chosen))
    throw new LogError("invalid_request", `A ${known} strikes in: ${phases.join(", ")}`);
  return { kind: known, phase: chosen };
}
