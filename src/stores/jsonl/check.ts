import { join } from "node:path";
import { isLogError } from "#log/errors";
import type { ConversationId } from "#log/ids";
import { checkLinks, firstLinkStart } from "#stores/indexed/check-links";
import type { Finding } from "#store/requests";
import { blobsOf, getBlob } from "./blob-files.ts";
import type { Disk } from "./disk/disk.ts";
import { type LogLocation, isTempFile } from "./file-names.ts";
import type { JsonlLog } from "./jsonl-log.ts";

const ABANDONED_MS = 3_600_000; // an hour: no create or erase takes as long, so its writer is gone

/** The damage of one conversation, read again from the disk. */
export async function checkLog(
  location: LogLocation,
  open: (conversation: ConversationId) => Promise<JsonlLog | null>,
): Promise<readonly Finding[]> {
  const { conversation } = location;
  let log: JsonlLog | null;
  try {
    log = await open(conversation);
  } catch (error) {
    if (!isLogError(error) || error.code === "busy") throw error;
    const severity = error.code === "unsupported_version" ? "note" : "damage";
    return [finding(conversation, { severity, message: error.message })];
  }
  if (log === null) return [];
  const findings: Finding[] = [];
  const reachableSeq = log.index.head.headSeq;
  if (log.damage !== null) {
    const position = log.damage.details["position"];
    const place = { position: typeof position === "number" ? position : null, reachableSeq };
    findings.push(finding(conversation, { severity: "damage", message: log.damage.message, ...place }));
  } else if (log.file.seenSize > log.file.end) {
    const message = `${log.file.seenSize - log.file.end} bytes after the last complete batch come from an interrupted write. They are ignored, and moved to a separate file before the next write.`;
    findings.push(finding(conversation, { severity: "torn", message, position: log.file.end, reachableSeq }));
  }
  if (log.damage === null) findings.push(...(await checkBatches(log, open)));
  return [...findings, ...(await checkBlobs(location))];
}

/** Whether every batch is as its link says, and whether a fork's source still has what the fork was made from. */
async function checkBatches(
  log: JsonlLog,
  open: (conversation: ConversationId) => Promise<JsonlLog | null>,
): Promise<readonly Finding[]> {
  const { conversation, origin } = log.index.head;
  const source = origin === null || log.erased ? null : await open(origin.source);
  if (origin !== null && source?.erased === false && source.index.head.headSeq < origin.head) {
    const reachableSeq = source.index.head.headSeq;
    const message = `Conversation ${origin.source} ends at ${reachableSeq}, but had ${origin.head} entries when ${conversation} was forked from it. Its last entries are missing.`;
    return [finding(origin.source, { severity: "damage", message, reachableSeq })];
  }
  return checkLinks(log, await firstLinkStart(log, open));
}

async function checkBlobs(location: LogLocation): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const digest of await blobsOf(location)) {
    try {
      await getBlob(location, digest);
    } catch (error) {
      if (!isLogError(error) || error.code === "busy") throw error;
      findings.push(finding(location.conversation, { severity: "damage", message: error.message }));
    }
  }
  return findings;
}

/** Files whose writer was cut off before they got their name; removing them loses nothing. */
export async function checkAbandoned(
  disk: Disk,
  folder: string,
  options: { readonly repair: boolean; readonly nowMs: number },
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const file of await disk.list(folder)) {
    const stat = isTempFile(file) ? await disk.stat(join(folder, file)) : null;
    if (stat === null || options.nowMs - stat.modifiedMs < ABANDONED_MS) continue;
    if (options.repair) await disk.remove(join(folder, file));
    findings.push(
      finding(null, {
        severity: "note",
        message: `${file} remains from an interrupted write`,
        repaired: options.repair,
      }),
    );
  }
  return findings;
}

function finding(
  conversation: ConversationId | null,
  problem: Pick<Finding, "severity" | "message"> & Partial<Finding>,
): Finding {
  return { conversation, position: null, reachableSeq: null, repaired: false, ...problem };
}
