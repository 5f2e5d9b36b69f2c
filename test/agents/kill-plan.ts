/** What is killed, and when: all of it follows from a seed. */
import { draw } from "#testing/faults";
import type { Policy } from "./host-answers.ts";

const TARGETS = [
  "bridge",
  "adapter",
  "agent",
  "bridge and adapter",
  "adapter and agent",
  "all three",
  "everything",
] as const;
export type Target = (typeof TARGETS)[number];

/** After the n-th line or model request of the prompt, or when what it names has been seen. */
type Moment = "line" | "request" | "call" | "permission" | "intent" | "effect" | "result" | "answer";

// Those in which a tool is at work come more often.
const MOMENTS: readonly [Moment, ...Moment[]] = [
  ...(["line", "line", "request", "call", "permission", "intent", "intent"] as const),
  ...(["effect", "effect", "effect", "result", "result", "answer"] as const),
];

/** A shell command that appends its token to the file of effects. */
interface Call {
  readonly token: string;
  readonly command: string;
}

export interface Kill {
  readonly name: string;
  readonly calls: readonly [Call, ...Call[]];
  /** All calls in one answer of the model, or each when the one before has returned. */
  readonly together: boolean;
  /** The model takes its time, so that a kill comes before its answer is whole. */
  readonly slow: boolean;
  readonly policy: Policy;
  readonly moment: Moment;
  readonly nth: number;
  readonly delayMs: number;
  readonly target: Target;
  /** A bridge that outlived the kill is killed after the prompt was answered. */
  readonly thenBridge: boolean;
  /** Between the kill and the load. */
  readonly pauseMs: number;
  /** Another bridge begins to load the conversation and is killed after so long, alone or with all it started; null: none. */
  readonly reload: { readonly afterMs: number; readonly target: Target } | null;
  /** The load is followed by a prompt, or by the next kill. */
  readonly asks: boolean;
}

const POLICIES: readonly [Policy, ...Policy[]] = ["allow", "allow", "allow", "allow", "allow", "reject"];
export const EFFECTS_FILE = "effects.txt";

export function planKill(seed: number, at: number): Kill {
  const chance = (what: string): number => draw(seed, at, what);
  const pick = <T>(what: string, list: readonly [T, ...T[]]): T =>
    list[Math.floor(chance(what) * list.length)] ?? list[0];
  const calls = Array.from({ length: pick("calls", [1, 1, 2, 3]) }, (_, index) =>
    callOf(`token-${at}-${index}`, pick(`command ${index}`, COMMANDS)),
  );
  const moment = pick("moment", MOMENTS);
  const [first = callOf(`token-${at}-0`, COMMANDS[0]), ...rest] = calls;
  return {
    name: `kill_${at}`,
    calls: [first, ...rest],
    together: chance("together") < 0.4,
    slow: chance("slow") < 0.4,
    policy: pick("policy", moment === "permission" ? ["allow", "hold", "reject"] : POLICIES),
    moment,
    nth: 1 + Math.floor(chance("nth") * 8),
    delayMs: pick("delay", [0, 0, 1, 1]) * Math.floor(chance("ms") * 400),
    target: pick("target", TARGETS),
    thenBridge: chance("then") < 0.5,
    pauseMs: pick("pause", [0, 0, 200, 1500]),
    reload:
      chance("reload") < 0.25
        ? {
            afterMs: Math.floor(chance("reload ms") * 2000),
            target: pick("reload target", ["bridge", "everything"]),
          }
        : null,
    asks: chance("asks") < 0.6,
  };
}

// Most take long enough for a kill to come while they run.
const COMMANDS: readonly [(act: string) => string, ...((act: string) => string)[]] = [
  (act) => act,
  (act) => `sleep 0.5; ${act}`,
  (act) => `${act}; sleep 0.8`,
  (act) => `${act}; sleep 1.5`,
  (act) => `sleep 0.2; ${act}; sleep 0.6`,
  (act) => `${act}; sleep 0.5; exit 3`,
];

function callOf(token: string, around: (act: string) => string): Call {
  return { token, command: around(`echo ${token} >> ${EFFECTS_FILE} && echo ${hasRun(token)}`) };
}

/** What a command prints when it has appended its token. */
export function hasRun(token: string): string {
  return `ran ${token}`;
}
