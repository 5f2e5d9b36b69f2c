/** Names of icons. */
type Mark =
  | "bolt"
  | "dash"
  | "fold"
  | "hide"
  | "history"
  | "lock"
  | "pause"
  | "replay"
  | "stop"
  | "swap"
  | "usage"
  | "warn"
  | "x";

/** A trouble as the menu tells of it. */
export interface Trouble {
  readonly kind: string;
  /** Where in its work it strikes; as soon as it can unless told. */
  readonly phase?: string;
  readonly name: string;
  /** What it does to the agent. */
  readonly does: string;
  /** What is to be seen of it in the conversation. */
  readonly watch: string;
  readonly icon: Mark;
}

export interface TroubleGroup {
  readonly name: string;
  readonly troubles: readonly Trouble[];
}

export const KILL_SERVER = "kill_server";

const OFTEN: readonly Trouble[] = [
  {
    kind: "limit",
    name: "Rate limit",
    does: "The provider rejects prompts for ten seconds.",
    watch:
      "The turn pauses and your prompt is saved. Send it again after the limit; the same session answers.",
    icon: "pause",
  },
  {
    kind: "crash",
    name: "Crash",
    does: "The agent process exits when it receives the prompt.",
    watch: "Holdfast restarts the agent and sends the prompt again in the same session.",
    icon: "bolt",
  },
  {
    kind: "crash",
    phase: "in_tool",
    name: "Crash in a tool",
    does: "The agent process exits while a tool runs. Send “email ann about the cake”.",
    watch: "The outcome of the email is shown as unknown. Nothing runs a second time.",
    icon: "bolt",
  },
  {
    kind: "expire",
    name: "Session expires",
    does: "The provider deletes the session.",
    watch: "A new session takes over with the earlier messages. A line in the conversation says why.",
    icon: "x",
  },
  {
    kind: "empty",
    name: "Empty answer",
    does: "The agent completes the turn without any text.",
    watch: "A new session receives the prompt. A line in the conversation says why.",
    icon: "dash",
  },
];

const SESSION: readonly Trouble[] = [
  {
    kind: "lost_transcript",
    name: "Lose the transcript",
    does: "The agent’s session file is deleted.",
    watch: "A new session receives the conversation from the log.",
    icon: "hide",
  },
  {
    kind: "cut_transcript",
    name: "Cut the transcript",
    does: "The agent’s session file loses its second half silently.",
    watch: "Holdfast detects it before it sends the prompt, and starts a new session from the log.",
    icon: "dash",
  },
  {
    kind: "rolled_id",
    name: "Session ID changes",
    does: "The agent switches to an empty session during the turn.",
    watch: "Holdfast records the new id at once. The next prompt includes the earlier messages.",
    icon: "swap",
  },
  {
    kind: "too_long",
    name: "Too long",
    does: "The agent reports that the history is too long.",
    watch: "A new session takes over with a shorter history.",
    icon: "fold",
  },
  {
    kind: "poison",
    name: "Poisoned session",
    does: "Something in the session’s history makes every request fail.",
    watch: "A new session takes over. A line in the conversation says why.",
    icon: "warn",
  },
  {
    kind: "corrupt",
    name: "Damaged session",
    does: "From now on every prompt fails with an unknown error.",
    watch: "The turn fails. After the second failure a new session takes over.",
    icon: "warn",
  },
  {
    kind: "restart",
    name: "Restart the agent",
    does: "Now: the agent process is replaced.",
    watch: "The agent answers the next prompt as usual.",
    icon: "replay",
  },
];

const ANSWER: readonly Trouble[] = [
  {
    kind: "overload",
    name: "Overload",
    does: "The provider is overloaded.",
    watch: "Holdfast waits a moment, then sends the prompt again in the same session.",
    icon: "usage",
  },
  {
    kind: "hang",
    name: "Hang",
    does: "The agent stops responding.",
    watch: "After five seconds a new session answers.",
    icon: "pause",
  },
  {
    kind: "stale",
    name: "Repeated answer",
    does: "The agent repeats its previous answer at once.",
    watch: "Holdfast discards that answer. A new session answers.",
    icon: "history",
  },
  {
    kind: "late",
    name: "Late output",
    does: "The agent sends the rest of an answer you stopped. Send “work 100”, press Stop, then choose this.",
    watch: "Holdfast does not treat it as the next answer.",
    icon: "history",
  },
  {
    kind: "ignore_cancel",
    name: "Ignores Stop",
    does: "The agent keeps running after Stop. Send “work 100”, then press Stop.",
    watch: "Holdfast stops the turn anyway.",
    icon: "stop",
  },
];

const ACCOUNT: readonly Trouble[] = [
  {
    kind: "auth",
    name: "Signed out",
    does: "The provider rejects the agent’s login.",
    watch: "The turn fails and asks you to log in. Send the prompt again.",
    icon: "lock",
  },
  {
    kind: "credit",
    name: "Out of credit",
    does: "The account has run out of credit.",
    watch: "The turn fails with that reason. Send the prompt again.",
    icon: "usage",
  },
];

const SERVER: readonly Trouble[] = [
  {
    kind: KILL_SERVER,
    name: "Kill this server",
    does: "Now: ends the process that serves this page and runs the agent, with SIGKILL.",
    watch:
      "The page reports the lost connection. The server restarts on the same port and the page reconnects.",
    icon: "stop",
  },
];

const GROUPS: readonly TroubleGroup[] = [
  { name: "Most common", troubles: OFTEN },
  { name: "The session", troubles: SESSION },
  { name: "The answer", troubles: ANSWER },
  { name: "The account", troubles: ACCOUNT },
  { name: "This server", troubles: SERVER },
];
const ALL: readonly Trouble[] = GROUPS.flatMap(({ troubles }) => troubles);

/** One that nobody told of is shown by its own name. */
function unknownTrouble(kind: string): Trouble {
  return { kind, name: kind.replaceAll("_", " "), does: "", watch: "", icon: "bolt" };
}

/** What an agent can be made to go through, in the order of the menu. */
export function troubleGroups(kinds: readonly string[]): readonly TroubleGroup[] {
  const known = GROUPS.map(({ name, troubles }) => ({
    name,
    troubles: troubles.filter(({ kind }) => kinds.includes(kind)),
  }));
  const others = kinds.filter((kind) => !ALL.some((one) => one.kind === kind)).map(unknownTrouble);
  return [...known, { name: "Other", troubles: others }].filter(({ troubles }) => troubles.length > 0);
}

/** By what the server calls it. */
export function troubleOf({ kind, phase }: { readonly kind: string; readonly phase: string }): Trouble {
  const alike = ALL.filter((one) => one.kind === kind);
  return (
    alike.find((one) => one.phase === phase) ??
    alike.find((one) => one.phase === undefined) ??
    unknownTrouble(kind)
  );
}

/** The kinds of faults that an agent in the answer of `listAgents` takes; none unless it is simulated. */
export function troublesOf(agent: object): readonly string[] {
  return "troubles" in agent ? (agent.troubles as readonly string[]) : [];
}
