import { resolve } from "node:path";
import { ERROR_GROUPS, LogError } from "#log/errors";
import { openHoldfast } from "#open";
import { checkStorePlace, findConversation } from "#edges/cli/address";
import { type Call, type Command, jsonLine, remark } from "#edges/cli/command";
import { STATUS } from "#edges/cli/exit";
import { counted, safeLine } from "#edges/cli/terminal/terminal";
import { progressOn } from "#edges/cli/terminal/output";
import type { Holdfast } from "#conversation/holdfast";
import { type CopyOutcome, type CopyResult, copySpace, followSpace } from "#transfer/copy-space";
import { redactAddress } from "#stores/redact-address";

export const copyCommand: Command = {
  name: "copy",
  summary: "Copy a space into another store",
  forms: [""],
  about: `Use it to move to another kind of store, or to keep a second store up to date. Holdfast copies each
conversation entry by entry, with its forks, images, sessions and memory, and only reads the
source. Run it again to copy new entries: you can interrupt it at any time. A conversation that
differs in the target is reported and skipped, and the exit code is 4.`,
  examples: [
    "holdfast copy --from jsonl:chats --to sqlite:chats.db",
    "holdfast copy --to jsonl:/mnt/disk/chats --follow",
    "holdfast copy --to sqlite:one.db --only ID",
  ],
  options: {
    "--to ADDRESS": "the target, such as sqlite:PATH; created if needed",
    "--from ADDRESS": "the source, such as jsonl:DIR (default: the store of --store)",
    "--only ID...": "copy this conversation and the ones it was forked from",
    "-f, --follow": "keep copying new entries until Ctrl-C",
  },
  writes: true,
  async run(call) {
    const { flags } = call;
    const [source, target] = [flags.text("from") ?? call.store, flags.text("to")];
    if (target === undefined) throw new LogError("invalid_request", "--to says where it is copied to");
    checkTwo(source, target);
    const signal = call.io.catchInterrupt();
    const from = await openSide(call, source, true);
    const only = await Promise.all(
      flags.list("only").map(async (id) => (await findConversation(from, id)).id),
    );
    const to = await openSide(call, target, false);
    const progress = progressOn(call.io.err, "copying");
    const printer = new CopyPrinter(call);
    const options = {
      ...(only.length === 0 ? {} : { only }),
      signal,
      onProgress: ({ done, total }: { done: number; total: number }) => progress.step(done, total),
      onConversation: (outcome: CopyOutcome) => printer.conversation(outcome),
    };
    const following = (): void =>
      printer.remark(`Copied all there is to ${safeLine(redactAddress(target))}; Ctrl-C stops following it`);
    const result = await (flags.has("follow")
      ? followSpace(from, to, { ...options, onCaughtUp: following })
      : copySpace(from, to, options));
    progress.end();
    await printer.end(result);
    if (result.stopped && !flags.has("follow")) return STATUS.unavailable;
    return statusOf(result);
  },
};

function checkTwo(source: string, target: string): void {
  for (const address of [source, target]) {
    if (address.startsWith("memory:"))
      throw new LogError(
        "invalid_request",
        "memory: is gone with this command; nothing can be copied from or to it",
      );
    checkStorePlace(address);
  }
  if (placeOf(source) === placeOf(target))
    throw new LogError("invalid_request", "--from and --to are the same store. Choose another target.");
}

function placeOf(address: string): string {
  const colon = address.indexOf(":") + 1;
  return address.slice(0, colon) + resolve(address.slice(colon));
}

async function openSide(call: Call, store: string, readOnly: boolean): Promise<Holdfast> {
  const holdfast = await openHoldfast({ store, space: call.space, readOnly });
  call.onEnd(() => holdfast.close());
  return holdfast;
}

/** Says what becomes of each conversation in the order in which it is known. */
class CopyPrinter {
  readonly #call: Call;
  #output: Promise<void> = Promise.resolve();

  constructor(call: Call) {
    this.#call = call;
  }

  conversation({ state: type, ...outcome }: CopyOutcome): void {
    if (this.#call.json) this.#write(jsonLine({ type, ...outcome }));
    else if ("message" in outcome) this.remark(safeLine(`${outcome.conversation}: ${outcome.message}`));
  }

  remark(text: string): void {
    this.#output = this.#output.then(() => (this.#call.json ? undefined : remark(this.#call, text)));
  }

  async end({ left: omitted, ...result }: CopyResult): Promise<void> {
    const { conversations, copied, entries, blobs, missing, erased } = result;
    if (missing.length > 0)
      this.remark(
        `${counted(missing.length, "image")} that entries name cannot be read and is not in the copy: ${missing.join(", ")}`,
      );
    const images = blobs === 0 ? "" : ` and ${counted(blobs, "image")}`;
    const forgotten = erased.length === 0 ? "" : `; ${counted(erased.length, "log")} of memory erased`;
    const suffix = omitted.length === 0 ? "" : `; ${counted(omitted.length, "conversation")} left out`;
    const all = counted(conversations, "conversation");
    const within = copied === conversations ? all : `${copied} of ${all}`;
    const copiedText = `Copied ${counted(entries, "entry", "entries")}${images} in ${within}`;
    const line = `${copied === 0 ? `Nothing new in ${all}` : copiedText}${forgotten}${suffix}`;
    this.#write(this.#call.json ? jsonLine({ type: "end", ...result, left: omitted.length }) : `${line}\n`);
    await this.#output;
  }

  #write(text: string): void {
    this.#output = this.#output.then(() => this.#call.io.out.write(text));
  }
}

/** A conversation of the target that went its own way is a conflict, not damage. */
function statusOf({ left: omitted }: CopyResult): number {
  const statuses = omitted.map(({ code }) =>
    code === "diverged" ? STATUS.conflict : STATUS[ERROR_GROUPS[code]],
  );
  return Math.max(STATUS.ok, ...statuses);
}
