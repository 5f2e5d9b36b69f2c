import { planAcquire, planRenew } from "../../../log/lease.ts";
import type { HeadView } from "../../../store/store.ts";
import type { GroupCommand } from "../commands.ts";
import type { Lookup } from "../tables/lookup.ts";

const UPDATE = "UPDATE conversations SET epoch = ?, lease_writer = ?, lease_until = ? WHERE row = ?";

export function leaseTx(
  lookup: Lookup,
  command: Extract<GroupCommand, { kind: "acquire" | "renew" }>,
): HeadView {
  const { space, nowMs } = command;
  const found = lookup.listed(space, command.request.conversation);
  const { epoch, lease } =
    command.kind === "acquire"
      ? planAcquire(found.head, found.lease, { ...command.request, nowMs })
      : planRenew(found.head, found.lease, { ...command.request, nowMs });
  lookup.sql.run(UPDATE, epoch, lease?.writer ?? null, lease?.untilMs ?? null, found.row);
  const head = { ...found.head, epoch };
  lookup.keepHead(space, { ...found, head, lease });
  return { ...head, lease };
}
