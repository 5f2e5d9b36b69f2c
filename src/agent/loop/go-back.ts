import { LogError } from "#log/errors";
import type { CutPoint } from "#log/projections/cut-point";
import { readCut } from "#conversation/read-cut";
import { moveBranch } from "#turn/move-branch";
import type { AgentWork } from "./loop-turn.ts";
import { settleLeft } from "./turn-left.ts";

/** Moves the branch's end before a message of the user's. A turn that was left open is ended first: it stays where it was. */
export async function goBack(
  work: AgentWork,
  entry: string,
  options: Parameters<typeof settleLeft>[1],
): Promise<CutPoint> {
  const { space, id } = work.conversation;
  const cut = await readCut(space, id, entry);
  if (cut.editable === null)
    throw new LogError(
      "invalid_request",
      `${entry} is no message of the user's, so nothing can take its place`,
      { entry },
    );
  await settleLeft(work, options);
  await moveBranch(work, cut.at);
  return cut;
}
