import type { Finding } from "./requests.ts";

/** What a check says of a log that was begun before there were links: nothing is wrong with it, and nothing proves it. */
export function unprovenNote(conversation: string, unprovenSeq: number): readonly Finding[] {
  if (unprovenSeq === 0) return [];
  const which = unprovenSeq === 1 ? "Entry 1 is" : `Entries 1 to ${unprovenSeq} are`;
  return [
    {
      conversation,
      severity: "note",
      message: `${which} from before logs had links: they read well, and nothing proves them; every later one is proven`,
      position: null,
      reachableSeq: null,
      repaired: false,
      unprovenSeq,
    },
  ];
}
