import { LogError } from "#log/errors";
import { listConversations } from "#operations/conversations";
import { perform, valueOf } from "#operations/operation";
import { systemClock } from "#conversation/clock";
import { type Call, readLine } from "#edges/cli/command";
import { printRow } from "#edges/cli/commands/list";

const ROWS = 9;

/** Lists the latest conversations and resumes the one that is chosen; null where there are none. */
export async function pick(call: Call): Promise<number | null> {
  const { io } = call;
  const holdfast = await call.open({ readOnly: true });
  const page = await perform(listConversations, { limit: ROWS * 2 }, { holdfast, clock: systemClock });
  const rows = valueOf(page)
    .conversations.filter(({ summary }) => summary?.metadata.archived !== true)
    .slice(0, ROWS);
  if (rows.length === 0) return null;
  for (const [index, row] of rows.entries())
    await printRow(call, holdfast, row, { isFirst: index === 0, lead: `${index + 1}  ` });
  await io.out.write(`\nNumber to resume, Enter to quit (\`holdfast help\` lists commands): `);
  const line = await readLine(io.stdin);
  if (line === "" || line === "q") return 0;
  const row = rows[Number(line) - 1];
  if (row === undefined)
    throw new LogError(
      "invalid_request",
      `"${line}" isn't in the list. Type a number from 1 to ${rows.length}`,
    );
  return call.run(["resume", row.conversation, "--store", call.store, "--space", call.space], io);
}
