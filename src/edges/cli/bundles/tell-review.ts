import { type Call, jsonLine, remark } from "#edges/cli/command";
import { counted, safeLine } from "#edges/cli/terminal/terminal";
import type { Review } from "#transfer/redactor";

/** Every hit on standard error; for programs as one object, where the answer does not hold it already. */
export async function tellReview(call: Call, review: Review, file: string): Promise<void> {
  if (call.json) {
    if (file === "-") await call.io.err.write(jsonLine(review.value()));
    return;
  }
  const { redactions, unread: digests } = review.value();
  for (const { kind, conversation, entry, where, preview } of redactions)
    await remark(call, safeLine(`taken out: ${kind} ${preview} in ${conversation}@${entry}, ${where}`));
  const count = redactions.length;
  const found = count === 0 ? "Nothing looked like a secret" : `${counted(count, "secret")} taken out`;
  const unread =
    digests.length === 0
      ? ""
      : `; ${counted(digests.length, "image or file", "images or files")} not looked into`;
  await remark(call, `${found}${unread}. Look through it before you pass it on`);
}
