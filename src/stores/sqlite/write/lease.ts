import { type Ownership, planAcquire, planRenew } from "../../../log/lease.ts";
import type { HeadView } from "../../../store/store.ts";
import type { GroupCommand } from "../commands.ts";
import type { Lookup } from "../tables/lookup.ts";
import type { Conversation } from "../tables/rows.ts";

const UPDATE = "UPDATE conversations SET epoch = ?, lease_writer = ?, lease_until = ? WHERE row = ?";

export function acquireTx(lookup: Lookup, command: Extract<GroupCommand, { kind: "acquire" }>): HeadView {
  const { space, request, nowMs } = command;
  const conversation = lookup.listed(space, request.conversation);
  return setOwner(
    lookup,
    space,
    conversation,
    planAcquire(conversation.head, conversation.lease, { ...request, nowMs }),
  );
}

export function renewTx(lookup: Lookup, command: Extract<GroupCommand, { kind: "renew" }>): HeadView {
  const { space, request, nowMs } = command;
  const conversation = lookup.listed(space, request.conversation);
  return setOwner(
    lookup,
    space,
    conversation,
    planRenew(conversation.head, conversation.lease, { ...request, nowMs }),
  );
}

function setOwner(
  lookup: Lookup,
  space: string,
  conversation: Conversation,
  { epoch, lease }: Ownership,
): HeadView {
  lookup.sql.run(UPDATE, epoch, lease?.writer ?? null, lease?.untilMs ?? null, conversation.row);
  const head = { ...conversation.head, epoch };
  lookup.keepHead(space, { ...conversation, head, lease });
  return { ...head, lease };
}
