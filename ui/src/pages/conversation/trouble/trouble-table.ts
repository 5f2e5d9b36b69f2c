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
    does: "Its vendor turns the prompt away for ten seconds.",
    watch:
      "The turn is parked and its prompt kept; send it again when the time is over, and the same session answers.",
    icon: "pause",
  },
  {
    kind: "crash",
    name: "Crash",
    does: "Its process dies when it is asked.",
    watch: "It is started again and asked once more in the same session, by itself.",
    icon: "bolt",
  },
  {
    kind: "crash",
    phase: "in_tool",
    name: "Crash in a tool",
    does: "Its process dies while a tool runs: send “email ann about the cake”.",
    watch: "Whether the mail went out is unknown, and said so; nothing is run a second time.",
    icon: "bolt",
  },
  {
    kind: "expire",
    name: "Session expires",
    does: "Its vendor ends the session and forgets all of it.",
    watch: "A new session takes over and is told what was said before; a ribbon says why.",
    icon: "x",
  },
  {
    kind: "empty",
    name: "Empty answer",
    does: "It says that it is done and has said nothing.",
    watch: "It is asked once more, in a new session; a ribbon says why.",
    icon: "dash",
  },
];

const SESSION: readonly Trouble[] = [
  {
    kind: "lost_transcript",
    name: "Lose the transcript",
    does: "What it keeps of the session on its disk is deleted.",
    watch: "A new session is told everything from the log.",
    icon: "hide",
  },
  {
    kind: "cut_transcript",
    name: "Cut the transcript",
    does: "Half of what it keeps is gone, and it does not say so.",
    watch: "It is noticed before anything is sent; a new session is told everything.",
    icon: "dash",
  },
  {
    kind: "rolled_id",
    name: "New session in mid-turn",
    does: "It switches to a new session in the middle of the turn, which knows nothing of before.",
    watch: "The new id is linked at once; the next prompt carries the context.",
    icon: "swap",
  },
  {
    kind: "too_long",
    name: "Too long",
    does: "It says that the history is longer than it takes.",
    watch: "A new session takes over, with room.",
    icon: "fold",
  },
  {
    kind: "poison",
    name: "Poisoned session",
    does: "Something in its history makes every request fail.",
    watch: "A new session takes over; the ribbon names the reason.",
    icon: "warn",
  },
  {
    kind: "corrupt",
    name: "Damaged session",
    does: "From now on it fails every prompt with an unknown error.",
    watch: "The turn fails. After the second one a new session takes over.",
    icon: "warn",
  },
  {
    kind: "restart",
    name: "Restart of the agent",
    does: "Now: its process is replaced without a word.",
    watch: "The next prompt is answered as if nothing had happened.",
    icon: "replay",
  },
];

const ANSWER: readonly Trouble[] = [
  {
    kind: "overload",
    name: "Overload",
    does: "Its vendor is too busy to answer.",
    watch: "It is waited for a moment and asked once more in the same session.",
    icon: "usage",
  },
  {
    kind: "hang",
    name: "Hang",
    does: "It says nothing more.",
    watch: "After five seconds it is given up on; a new session answers.",
    icon: "pause",
  },
  {
    kind: "stale",
    name: "Stale answer",
    does: "It gives the answer before once more, at once.",
    watch: "That answer reaches nobody; a new session answers.",
    icon: "history",
  },
  {
    kind: "late",
    name: "Late words",
    does: "It serves the rest of an answer that was stopped: send “work 100”, stop it, then strike.",
    watch: "The rest is not taken for the answer.",
    icon: "history",
  },
  {
    kind: "ignore_cancel",
    name: "Deaf to stop",
    does: "It does not stop when it is told to: send “work 100”, then press Stop.",
    watch: "The turn is stopped all the same.",
    icon: "stop",
  },
];

const ACCOUNT: readonly Trouble[] = [
  {
    kind: "auth",
    name: "Signed out",
    does: "Its vendor does not know it any more.",
    watch: "The turn fails and says that a person is needed; send the prompt again.",
    icon: "lock",
  },
  {
    kind: "credit",
    name: "Out of credit",
    does: "Its vendor wants to be paid.",
    watch: "The turn fails and says so; send the prompt again.",
    icon: "usage",
  },
];

const SERVER: readonly Trouble[] = [
  {
    kind: KILL_SERVER,
    name: "Kill this server",
    does: "Now, with SIGKILL: the process that serves this page and runs the agent. Nothing is asked first.",
    watch:
      "The page says that nobody answers; the server comes back on the same port, and the page goes on by itself.",
    icon: "stop",
  },
];

const GROUPS: readonly TroubleGroup[] = [
  { name: "Most seen", troubles: OFTEN },
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
  return [...known, { name: "Others", troubles: others }].filter(({ troubles }) => troubles.length > 0);
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
