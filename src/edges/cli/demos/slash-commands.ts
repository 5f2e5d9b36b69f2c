import { isLogError, LogError } from "#log/errors";
import type { EntryId } from "#log/ids";
import { forkAside, goBackTo } from "#sending/forks/fork-aside";
import { FAULT_KINDS, FAULT_PHASES, type FaultKind, type Phase, PHASES } from "#testing/index";
import { NOT_UNDONE } from "#transfer/words";
import { findEntry } from "#edges/cli/address";
import type { Sink } from "#edges/cli/command";
import { safeText } from "#edges/cli/terminal/terminal";
import { chainRows, withFidelity } from "#edges/cli/view/chain-view";
import { blockPreview } from "#edges/cli/view/preview";
import { treeRows } from "#edges/cli/view/tree-view";
import type { ChatSession } from "./chat-session.ts";
import type { Printer } from "./printer.ts";

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

export interface ChatParts {
  readonly session: ChatSession;
  readonly printer: Printer;
  readonly out: Sink;
}

type SlashCommand = (chat: ChatParts, rest: string) => Promise<void> | void;

const SLASH_COMMANDS: Readonly<Record<string, SlashCommand>> = {
  edit,
  fork: async ({ session, printer }, rest) => {
    const source = session.conversation.id;
    const at = rest === "" ? {} : { at: await named(session, rest) };
    const { clock } = session.world;
    const forked = await forkAside(session.conversation, session.upstream, { clock, ...at });
    session.conversation = forked.conversation;
    const how = `the agent ${forked.fidelity === "native" ? "forked its own session" : "will be told what came before"}`;
    printer.notice(
      `Now in ${forked.conversation.id}, a fork of ${source}: ${how}. The source is as it was. ${NOT_UNDONE}`,
    );
    if (forked.editable !== null)
      printer.notice(
        `The message it was taken at, to be sent again: ${forked.editable.map(blockPreview).join(" ")}`,
      );
  },
  goto: async ({ session, printer }, rest) => {
    if (rest === "") throw new LogError("invalid_request", "/goto wants an entry; /tree shows them");
    const entry = await named(session, rest);
    await session.conversation.goTo(entry);
    printer.notice(`Now at ${entry}; what you say next grows from there. Nothing was removed. ${NOT_UNDONE}`);
  },
  tree: async ({ session, out }) => {
    const { leaf, nodes } = await session.conversation.tree();
    for (const row of treeRows(nodes, leaf, out)) await out.write(`${row}\n`);
  },
  chain: async ({ session: { conversation }, printer }) => {
    const links = withFidelity(await conversation.chain(), await conversation.facts(["attempt"]));
    printer.rows(links.length === 0 ? ["No session has been held yet."] : chainRows(links, true));
  },
  new: async ({ session, printer }) => {
    await session.conversation.newChat();
    printer.notice("A fresh start: nothing above reaches the agent. It stays readable with /tree.");
  },
  cancel: ({ session, printer }) => {
    if (!session.cancel()) printer.notice("Nothing is running.");
  },
  fault: ({ session, printer }, rest) => {
    const [kind = "", phase] = rest.split(/\s+/);
    const fault = faultOf(kind, phase);
    session.world.script({ ...fault, resetMs: LIMIT_MS });
    printer.fault(`${fault.kind} will strike (${fault.phase})`);
  },
  help: ({ out }) => out.write(`${HELP}\n`),
};

/** Carries out a line that begins with "/". */
export async function runSlashCommand(chat: ChatParts, line: string): Promise<void> {
  const [, name = "", rest = ""] = /^\/(\S*)\s*([\s\S]*)$/.exec(line) ?? [];
  const known = Object.hasOwn(SLASH_COMMANDS, name) ? SLASH_COMMANDS[name] : undefined;
  if (known === undefined)
    throw new LogError("invalid_request", `There is no /${safeText(name)}; /help lists what there is`);
  await known(chat, rest.trim());
}

/** Other words in place of a message of the person's; the last one unless told. */
async function edit({ session, printer }: ChatParts, rest: string): Promise<void> {
  const { conversation, upstream, world } = session;
  const { entry, text } = await entryAndText(session, rest);
  if (text === "") throw new LogError("invalid_request", "/edit wants the new words: /edit [ENTRY] TEXT");
  printer.notice(`The words before stay in the log. ${NOT_UNDONE}`);
  const mine = (await conversation.branch()).findLast(
    (one) => one.type === "message" && one.message.role === "user",
  );
  const target = entry ?? mine?.id;
  if (target === undefined) throw new LogError("invalid_request", "There is nothing to edit yet");
  const found = await conversation.entry(target);
  if (found.type !== "message" || found.message.role !== "user")
    throw new LogError("invalid_request", `${target} is not a message of yours; nothing was changed`);
  const { fidelity } = await goBackTo(conversation, upstream, target, { clock: world.clock });
  const how = fidelity === "native" ? "cut its own session there" : "will be told what came before";
  printer.notice(`What came after is off the branch; the agent ${how}.`);
  await session.send(text);
}

/** As the tree shows it, with or without the "@" of an address. */
function named({ conversation }: ChatSession, text: string): Promise<EntryId> {
  return findEntry(conversation, text.replace(/^@/, ""));
}

/** The first word is an entry when it names one and more words follow. */
async function entryAndText(
  session: ChatSession,
  rest: string,
): Promise<{ readonly entry: EntryId | null; readonly text: string }> {
  const [, word = "", more = ""] = /^@?(\S+)\s+([\s\S]+)$/.exec(rest) ?? [];
  if (more === "" || word.length < ENTRY_CHARS_MIN) return { entry: null, text: rest };
  try {
    return { entry: await named(session, word), text: more };
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
  const usual = (["start", "idle"] as const).find((one) => phases.includes(one)) ?? phases[0];
  const chosen = PHASES.find((one) => one === (phase ?? usual));
  if (chosen === undefined || !phases.includes(chosen))
    throw new LogError("invalid_request", `A ${known} strikes in: ${phases.join(", ")}`);
  return { kind: known, phase: chosen };
}
