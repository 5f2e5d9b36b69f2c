import type { SimUpstreamOptions } from "#testing/index";

/** In a third of the stories an agent lives in the host's process and acts there, and the host dies at the act. */
export function isInside(seed: number): boolean {
  return seed % 3 === 2;
}

/** In another third an agent asks before each tool, and the host dies while it does. */
export function asks(seed: number): boolean {
  return seed % 3 === 1;
}

/** How the bridge hears the agents: with ids of their messages, without, or not at all. */
export function wireOf(seed: number): "ids" | "no ids" | null {
  return ([null, "ids", "no ids", null] as const)[seed % 4] ?? null;
}

/** How many of the prompts the hosts carry themselves: in half of the stories with an agent inside none, it has enough to do. */
export function loopShare(seed: number): number {
  if (!isInside(seed)) return 0.35;
  return seed % 2 === 0 ? 0 : 0.2;
}

/** In a ninth of the stories people sign out of an account now and then. */
export function signsOut(seed: number): boolean {
  return seed % 9 === 4;
}

/** In another ninth the tools of the hosts return state, and everything is replayed by its record in the end. */
export function isReplayed(seed: number): boolean {
  return seed % 9 === 2;
}

/** In a seventh the agents summarize their own sessions, which hold what they held. */
function compactsAfter(seed: number): Pick<SimUpstreamOptions, "compactsAfter"> {
  return seed % 7 === 0 ? { compactsAfter: 2 } : {};
}

/** The agents of a story: two, one of them under two accounts. */
export function agentsOf(seed: number): readonly SimUpstreamOptions[] {
  return [
    {
      agent: "claude",
      records: seed % 3 > 0,
      restores: seed % 4 === 1,
      inside: isInside(seed),
      asks: asks(seed),
      ...compactsAfter(seed),
    },
    {
      agent: "codex",
      shows: seed % 2 === 0,
      capabilities: { resume: resumes("codex", seed) },
      records: seed % 3 === 1,
      restores: seed % 4 > 1,
      ...compactsAfter(seed),
    },
    { agent: "claude", account: "team" },
  ];
}

/** Whether an agent of a story, named with its account or without, takes up its sessions again. */
export function resumes(agent: string, seed: number): boolean {
  return seed % 5 > 0 || !agent.startsWith("codex");
}
