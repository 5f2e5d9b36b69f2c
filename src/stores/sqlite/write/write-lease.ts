import { leaseAt, planAcquire, planRenew } from "#log/plans/lease";
import type { HeadView } from "#store/requests";
import type { GroupCommand } from "#stores/sqlite/thread/messages";
import type { Lookup } from "#stores/sqlite/tables/lookup";

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
  return { ...head, lease: leaseAt(lease, nowMs) };
}
