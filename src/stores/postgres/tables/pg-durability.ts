/**
 * How a commit waits for the disk, as a question whose answer is the setting of its own transaction. Relaxed: not at all. Else
 * as the server is told, and for the disk at least: what was answered must not be lost with the power.
 */
export function syncCommit(relaxed: string): string {
  return `select set_config('synchronous_commit', case when ${relaxed} then 'off'
  when current_setting('synchronous_commit') = 'off' then 'on' else current_setting('synchronous_commit') end, true)`;
}

/** A statement that begins so has to name `sync` in what it writes, or it is never asked. */
export function withSync(relaxed: string): string {
  return `with sync as materialized (${syncCommit(relaxed)})`;
}
