import { answer, type Call, remark } from "#edges/cli/command";
import { copyChunks } from "#edges/cli/bundles/export-file";
import { counted } from "#edges/cli/terminal/count";
import { safeLine } from "#edges/cli/terminal/terminal";
import { LogError } from "#log/errors";
import { spooledFile } from "#transfer/import/bundle-file";
import { checkImport } from "#transfer/import/import-check";
import { remoteBundle } from "./remote-address.ts";
import { fetchBundle } from "./remote-bundle.ts";

/** Conversations of a server into a file: what stands under its name afterwards is whole, and proven by its links. */
export async function exportFromServer(call: Call, url: string): Promise<void> {
  const { flags, args } = call;
  for (const name of ["format", "no-redact", "salvage"])
    if (flags.has(name) || flags.text(name) !== undefined)
      throw new LogError("invalid_request", `--${name} is for a store here; --from gives bundles`);
  const remote = remoteBundle(url, args);
  const bytes = fetchBundle(call, remote, {
    withForks: flags.has("with-forks"),
    redact: flags.has("redact"),
    emails: flags.has("emails"),
  });
  const file = flags.text("output") ?? "-";
  if (file === "-") {
    for await (const chunk of bytes) await call.io.out.writeBytes(chunk);
    return;
  }
  await using spooled = await spooledFile(`The bundle of ${remote.origin}`, bytes);
  const { logs, problems } = await checkImport(spooled.file, () => undefined);
  const [problem] = problems;
  if (problem !== undefined)
    throw new LogError(
      "damaged",
      `What ${remote.origin} sent is not whole: ${problem.message}. No file was written`,
    );
  await copyChunks(spooled.file.chunks(), { file, force: flags.has("force") });
  const entries = logs.reduce((sum, log) => sum + log.entries, 0);
  const ids = logs.map(({ header }) => header.conversation);
  const missing = [...new Set(logs.flatMap((log) => log.missing))];
  if (missing.length > 0 && !call.json)
    await remark(
      call,
      `${counted(missing.length, "image")} that entries name cannot be read there: ${missing.map(safeLine).join(", ")}`,
    );
  await answer(
    call,
    {
      conversation: ids[0],
      conversations: ids,
      file,
      from: remote.origin,
      entries,
      bytes: spooled.bytes,
      missing,
    },
    () => `Wrote ${counted(entries, "entry", "entries")} of ${safeLine(remote.origin)} to ${safeLine(file)}`,
  );
}
