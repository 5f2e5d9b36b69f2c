import type { Link } from "../../../log/projections/chain.ts";
import { pad, safeLine } from "../terminal.ts";
import { clockOf } from "./time.ts";

/** The rows of a chain, oldest first. */
export function chainRows(links: readonly Link[]): readonly string[] {
  return links.map(({ id, agent, reason, since, carried, inherited }, index) => {
    const range = carried === null ? "nothing carried" : `entries ${carried.fromSeq}–${carried.toSeq}`;
    const head = `${inherited ? "⑂" : " "}${String(index + 1).padStart(3)}  ${clockOf(since)}  ${pad(safeLine(agent), 12)}`;
    return `${head}  ${safeLine(id)}  (${safeLine(reason)}; ${range})`;
  });
}
