import { askForEffects, type Permission } from "#agent/agent-options";
import { decidedBy } from "#agent/loop/run-calls";
import { answeredYes, type Decision } from "#agent/tools/permissions";
import { isStandIn, type ReplayTools } from "./replay-tools.ts";

/**
 * What may run in a replay. What a rule forbids stays so, but where the record answers: it has the refusal. For what only says
 * what it would do nobody is asked; live, every effect is asked for again, whatever was allowed for good.
 */
export function replayPermission(
  mode: ReplayTools,
  given: Permission = askForEffects,
): (...call: Parameters<Extract<Permission, (...call: never) => unknown>>) => Promise<Decision> {
  return async (call) => {
    if (mode === "recorded") return "allow";
    const decision = await decidedBy(given, call);
    if (mode === "dry-run") return isStandIn(call.tool) ? answeredYes(decision) : decision;
    return call.tool.effect === "none" || decision === "deny" ? decision : "ask";
  };
}
