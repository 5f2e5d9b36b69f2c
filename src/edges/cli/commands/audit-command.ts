import { AuditLog } from "#edges/http/access/audit-log";
import { type AuditLine, listAudit } from "#operations/server";
import { pagesOf } from "#edges/cli/operation-command";
import { type Command, jsonLine, remark } from "#edges/cli/command";
import { pad, safeLine } from "#edges/cli/terminal/terminal";

const LINES_AT_ONCE = 500;

export const auditCommand: Command = {
  name: "audit",
  summary: "Print who did what: writes, exports, deletions, tokens",
  forms: [""],
  about: `Prints the audit log of the space, oldest first: time, token, operation, conversation or token,
outcome and address. The token is "local" for commands that opened the store themselves. Holdfast
stores an intent before the act and the outcome after it.

Rejected credentials belong to no space: \`holdfast --space holdfast.server audit\` prints how many
came from which address.`,
  examples: [
    "holdfast audit",
    "holdfast audit --month 2026-01 --json",
    "holdfast --space holdfast.server audit",
  ],
  options: { "--month YYYY-MM": "the month (default: this one)" },
  async run(call) {
    const month = call.flags.text("month");
    const holdfast = await call.open({ readOnly: true });
    const input = { limit: LINES_AT_ONCE, ...(month === undefined ? {} : { month }) };
    let count = 0;
    const context = { holdfast, from: "after", audit: new AuditLog(holdfast) } as const;
    for await (const { lines } of pagesOf(listAudit, input, context)) {
      for (const line of lines) await call.io.out.write(call.json ? jsonLine(line) : `${row(line)}\n`);
      count += lines.length;
    }
    if (count === 0 && !call.json)
      await remark(call, `No line of the space ${safeLine(call.space)} in that month.`);
  },
};

function row({ time, token, operation, outcome, address, count, ...about }: AuditLine): string {
  const times = count === 1 ? "" : ` × ${count}`;
  const object = about.conversation ?? about.target ?? "-";
  const columns = [
    time,
    pad(token ?? "-", 16),
    pad(operation, 18),
    pad(object, 36),
    outcome + times,
    address ?? "",
  ];
  return columns.map(safeLine).join("  ").trimEnd();
}
