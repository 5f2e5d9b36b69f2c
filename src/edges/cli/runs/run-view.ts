import type { Run } from "#log/runs/run-row";
import { fit, pad, safeLine, type Style } from "#edges/cli/terminal/terminal";
import { ageOf } from "#edges/cli/view/time";
import { shortId } from "#transfer/views/safe-text";

const [RUN, BEGUN, STATUS, CONVERSATION, TRIGGER_MIN] = [36, 6, 11, 8, 9]; // together 80 columns, with two between each

export interface RunRowStyle {
  readonly columns: number;
  readonly style: Style;
}

export function runHeading({ style }: RunRowStyle): string {
  const cells = [pad("RUN", RUN), pad("BEGUN", BEGUN), pad("STATUS", STATUS), pad("IN", CONVERSATION)];
  return style.dim([...cells, "TRIGGER"].join("  "));
}

/** For a person at a terminal; a run is named by its whole id, which is not cut where it is one of ours. */
export function runLine(run: Run, nowMs: number, { columns, style }: RunRowStyle): string {
  const paint = run.status === "failed" ? style.red : run.status === "running" ? style.yellow : style.green;
  const cells = [
    style.cyan(pad(fit(safeLine(run.run), RUN), RUN)),
    style.dim(pad(ageOf(run.startedAt, nowMs), BEGUN)),
    paint(pad(fit(safeLine(run.error?.code ?? run.status), STATUS), STATUS)),
    pad(fit(shortId(run.conversation), CONVERSATION), CONVERSATION),
  ];
  const used = RUN + BEGUN + STATUS + CONVERSATION + 2 * cells.length;
  const from = run.mailbox === null ? "" : ` · ${run.mailbox}`;
  const trigger = safeLine(`${triggerText(run)}${from}`);
  return `${cells.join("  ")}  ${fit(trigger, Math.max(TRIGGER_MIN, columns - used))}`.trimEnd();
}

/** For a pipe: whole ids, a tab between members. */
export function plainRunLine(run: Run): string {
  const { run: id, conversation, status, startedAt, mailbox } = run;
  const cells = [id, conversation, startedAt, status, triggerText(run), mailbox ?? ""];
  return cells
    .map((cell) => safeLine(cell))
    .join("\t")
    .trimEnd();
}

export function triggerText({ trigger: { type, id } }: Pick<Run, "trigger">): string {
  return id === null ? type : `${type} ${id}`;
}
