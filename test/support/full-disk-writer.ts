/** Appends where no file may grow, and says what came of it. Run with the folder of a store whose conversation is "a". */
import { user } from "#store/contract/rig";
import { isLogError } from "#log/errors";
import { openHoldfast } from "#index";

const holdfast = await openHoldfast({ store: `jsonl:${process.argv[2]}` });
const conversation = await holdfast.conversation("a");
const codes: string[] = [];
for (const act of [
  () => conversation.append(user("more")),
  () => conversation.own({ writer: "w", leaseMs: 1_000 }),
  () => conversation.fork({ id: "b" }),
  () => conversation.putBlob(new Uint8Array([1, 2, 3])),
])
  codes.push(
    await act().then(
      () => "done",
      (error: unknown) => (isLogError(error) ? error.code : String(error)),
    ),
  );
console.log(JSON.stringify(codes));
await holdfast.close();
