/**
 * A process that races others on one conversation. As `owner` it appends with the head it last saw and reads again
 * when it lost; as `outside` it labels and steers; as `flood` it leaves no pause. It prints one line per win: the seq it was given; `lost` per loss.
 */
import { writeSync } from "node:fs";
import { isLogError, openHoldfast } from "#index";

const [address = "", role = "owner", name = "p", countText = "10"] = process.argv.slice(2);
const count = Number(countText);
await using holdfast = await openHoldfast({ store: address });
const conversation = await holdfast.conversation("shared");

if (role === "outside") {
  const { leaf } = await conversation.head();
  for (let n = 0; n < count; n++) {
    const { toSeq } =
      n % 2 === 0
        ? await conversation.label(leaf.id, `${name}-${n}`)
        : await conversation.steer(`${name}-${n}`, [{ type: "text", text: "wait" }]);
    writeSync(1, `${toSeq}\n`);
  }
}

if (role === "flood") {
  const lane = async (): Promise<void> => {
    for (let n = 0; n < count; n++)
      await conversation.append({ type: "custom", customType: "flood", data: "x".repeat(30_000) });
  };
  await Promise.all(Array.from({ length: 40 }, lane));
}

let won = 0;
let expected = (await conversation.head()).headSeq;
// Bounded: each loss means that another process won, and they are finitely many.
const wanted = role === "owner" ? count : 0;
while (won < wanted) {
  try {
    const { toSeq } = await conversation.append(
      { type: "custom", customType: "race", data: name },
      { expected },
    );
    expected = toSeq;
    won++;
    writeSync(1, `${toSeq}\n`);
  } catch (error) {
    if (!isLogError(error, "head_moved") && !isLogError(error, "busy")) throw error;
    if (error.code === "head_moved") writeSync(1, "lost\n");
    expected = (await conversation.head()).headSeq;
  }
}
