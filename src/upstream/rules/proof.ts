import type { EndingClass } from "#log/ending-class";
import type { EntryId } from "#log/ids";
import type { LinkRecord } from "#log/projections/link-records";
import { ACTIONS } from "#turn/rules/ending";

const KEPT: ReadonlySet<EndingClass> = new Set(["empty", "limit", "credit", "overloaded"]);

interface Sent extends Pick<LinkPosition, "knownUpTo" | "prompt"> {
  /** Anything came back for it. */
  readonly begun: boolean;
  /** A prompt that is refused stays in the sessions of this agent. */
  readonly keepsPrompt: boolean;
}

/**
 * What a session holds after a prompt that it gave no certain answer to: the prompt, where the model's service refused
 * or said nothing and the agent is known to keep what it was asked, or where the agent had begun with it when it was
 * stopped. Else no more than before.
 */
export function knownUpToAfter(ending: EndingClass, at: Sent): EntryId | null {
  const hasPrompt = ending === "cancelled" ? at.begun : at.keepsPrompt && KEPT.has(ending);
  return hasPrompt ? at.prompt : at.knownUpTo;
}

/** Where the link stands to the branch that is about to be continued. */
export interface LinkPosition {
  /** The last node of the branch before the new prompt that is said to a model. */
  readonly lastModelNode: EntryId;
  /** The new prompt, which the session may have been given already; the same as `lastModelNode` when there is none. */
  readonly prompt: EntryId;
  /** The link's last node lies on the branch, and no reset lies behind it. */
  readonly onBranch: boolean;
  /** Something was hidden after the link was made. */
  readonly hiddenSince: boolean;
  /**
   * What the session itself is known to hold: because the same process has held it since, because what it showed agrees
   * with the log, or because the agent's table says that its resume can be trusted. Null: nothing is known.
   */
  readonly knownUpTo: EntryId | null;
}

/** What a process is known to hold of a session. */
export interface LiveSessionState {
  /** The last node up to which it holds everything; null when nothing is known. */
  readonly holds: EntryId | null;
  /** It forked the session from the agent's record, which may have been cut: that it holds so much is not proven yet. */
  readonly forked?: true;
}

/** Whether a live session's process knows less than the session does by now: another process went on with it. */
export function isBehind(link: LinkRecord, { holds, forked }: LiveSessionState): boolean {
  if (forked === true && link.since !== null) return true;
  return holds !== null && !link.uncertain && holds !== link.knownUpTo;
}

/**
 * `proven`: it holds exactly this branch, nothing needs to be said again. `unproven`: it may lack something, so it is
 * told what came after the node it holds. `tainted`: it holds something that must not reach the model here, so it is not
 * used.
 */
export function proofOf(link: LinkRecord, position: LinkPosition): "proven" | "unproven" | "tainted" {
  if (link.lastNode === null) return "unproven";
  if (!position.onBranch || position.hiddenSince) return "tainted";
  return position.knownUpTo === position.lastModelNode || position.knownUpTo === position.prompt
    ? "proven"
    : "unproven";
}

const SESSION_LIVES: ReadonlySet<string> = new Set(["park", "back_off", "ask_auth", "stop", "interrupt"]);

/**
 * Whether a failure to get hold of a session says that the session is gone, so that another may take its place. A
 * limit, a login or an overload says nothing about it; a crash does only once a new process failed at it too.
 */
export function sessionIsGone(ending: EndingClass, restarted: boolean): boolean {
  const action = ACTIONS[ending];
  if (action === "restart") return restarted;
  return !SESSION_LIVES.has(action);
}
