import { checkFree } from "../../../log/append.ts";
import { LogError } from "../../../log/errors.ts";
import type { Lease } from "../../../log/head.ts";
import type { HeadView } from "../../../store/store.ts";
import type { GroupCommand } from "../commands.ts";
import type { Lookup } from "../tables/lookup.ts";
import type { Conversation } from "../tables/rows.ts";

const UPDATE = "UPDATE conversations SET epoch = ?, lease_writer = ?, lease_until = ? WHERE row = ?";

export function acquireTx(lookup: Lookup, command: Extract<GroupCommand, { kind: "acquire" }>): HeadView {
  const { space, request, nowMs } = command;
  const conversation = lookup.listed(space, request.conversation);
  checkFree(conversation.head, conversation.lease, nowMs);
  const lease = request.leaseMs > 0 ? { writer: request.writer, untilMs: nowMs + request.leaseMs } : null;
  return setOwner(lookup, conversation, conversation.head.epoch + 1, lease);
}

export function renewTx(lookup: Lookup, command: Extract<GroupCommand, { kind: "renew" }>): HeadView {
  const { space, request, nowMs } = command;
  const conversation = lookup.listed(space, request.conversation);
  const { head } = conversation;
  if (request.epoch !== head.epoch) {
    throw new LogError(
      "fenced",
      `Another writer took over (epoch ${head.epoch}, yours is ${request.epoch})`,
      {
        epoch: head.epoch,
        yours: request.epoch,
      },
    );
  }
  const writer = conversation.lease?.writer ?? "owner";
  const lease = request.leaseMs > 0 ? { writer, untilMs: nowMs + request.leaseMs } : null;
  return setOwner(lookup, conversation, head.epoch, lease);
}

function setOwner(lookup: Lookup, conversation: Conversation, epoch: number, lease: Lease | null): HeadView {
  lookup.sql.run(UPDATE, epoch, lease?.writer ?? null, lease?.untilMs ?? null, conversation.row);
  return { ...conversation.head, epoch, lease };
}
