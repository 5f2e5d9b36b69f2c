import type { LiveProjection } from "#conversation/live-projection";
import type { Entry } from "#log/entry";
import type { ContentBlock } from "#log/message";
import type { Leaf } from "#log/lineage/head";
import type { EntryId } from "#log/ids";
import type { BranchPage } from "#conversation/reading";
import type { Host } from "#turn/host";
import type { Owned } from "#turn/one-at-a-time";
import type { Steering } from "#turn/steering";
import type { WireMessage } from "#turn/wire-message";
import type { BranchEnd } from "./sessions/branch-end.ts";
import type { LiveSessionState } from "./rules/proof.ts";
import type { Settled } from "./options.ts";
import type { SessionSettings, Upstream, UpstreamSession } from "./upstream.ts";

/** A conversation that is owned for one piece of work, what is known of it, and who is told. */
export interface Work extends Owned {
  readonly host: Host;
  readonly facts: LiveProjection<readonly Entry[]>;
  readonly branchEnd: LiveProjection<BranchEnd>;
}

/** Where the branch stood before the prompt. */
export interface BranchState {
  readonly leaf: Leaf;
  /** Its end. */
  readonly near: BranchPage;
  /** The last node that an upstream can hold: a change of settings is none. */
  readonly lastModelNode: EntryId;
  readonly settings: SessionSettings;
  /** The end of the branch with the prompt. */
  readonly tip: EntryId;
}

/** What a session is chosen by. */
export interface SessionParts {
  readonly work: Work;
  readonly branch: BranchState;
  readonly options: Settled;
}

/** The prompt as it was accepted. */
interface AcceptedPrompt {
  readonly id: EntryId;
  readonly turn: string;
  readonly content: readonly ContentBlock[];
  readonly wire: WireMessage | undefined;
}

/** A session this process holds. */
export interface Live extends LiveSessionState {
  /** The upstream's id now, which it may have changed by itself. */
  readonly id: string;
  readonly session: UpstreamSession;
  readonly process: string;
}

/** What a turn asks of the runtime that carries it, beside its own work. */
interface Carrier {
  readonly whenLimited: "park" | "switch" | "ask";
  /** Why the first session that is asked has to be a new one; null when it need not be. */
  readonly fresh: string | null;
  /** How the running prompt is steered; nothing while none runs. */
  readonly steering: Steering;
  /** The session held for an agent, if one is. */
  liveOf(upstream: Upstream): Live | null;
  /** Asks for a login; true when there is a new one. */
  login(upstream: Upstream, message: string): Promise<boolean>;
}

/** One turn that upstreams carry. */
export interface Turn extends SessionParts {
  readonly prompt: AcceptedPrompt;
  readonly carrier: Carrier;
}
