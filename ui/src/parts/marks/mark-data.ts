/** How a conversation is, as far as a list knows. */
export type Status = "working" | "waiting" | "parked" | "unclean" | "agent_only" | "quiet";

export interface StripData {
  readonly entries: number;
  readonly carriers: number;
  readonly isLive: boolean;
  readonly isUnclean: boolean;
}
