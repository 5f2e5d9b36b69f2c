/** Why a session is not the one before, for people. A reason that is not here is shown as it stands. */
const REASONS: Readonly<Record<string, string>> = {
  first: "the first one",
  never_used: "the one before was never used",
  empty: "the one before answered nothing",
  expired: "the one before had expired",
  lost: "the agent had lost the one before",
  crashed: "the agent's process had died",
  too_long: "the history had become too long for the one before",
  poisoned: "something in the one before made every request fail",
  stale_replay: "the one before repeated an old answer",
  branch_left: "the one before knows words that are no longer part of the conversation",
  agent_switch: "another agent goes on",
  chosen: "it was chosen",
  switched_back: "back to one from before",
  rolled_by_upstream: "the agent changed its own session id",
  cwd_changed: "the folder has moved",
  forked: "made for the fork",
  edited: "made for the edited message",
  adopted: "found in the agent's own history",
  new_chat: "a new chat was begun",
  cleared: "the agent was told to forget",
  sign_out: "the account was signed out",
  resumed: "whether it remembers everything is not certain",
};

export function reasonWords(reason: string): string {
  return REASONS[reason] ?? reason.replaceAll("_", " ");
}

const FIDELITIES: Readonly<Record<string, string>> = {
  native: "by itself",
  transcript: "from a transcript",
  preamble: "was told again",
};

/** How a session came to know the conversation, for people. */
export function fidelityWords(fidelity: string | null): string {
  return fidelity === null ? "" : (FIDELITIES[fidelity] ?? fidelity);
}
