const TITLE_CHARS_MAX = 80; // one line in a list

/** A title from what was said or given: one line, not too long, no character cut in half. */
export function titleFrom(text: string | null): string | null {
  // Far more than is kept, so that long prompts are not gone through to their end.
  const line = (text ?? "").slice(0, 1_000).trim().replaceAll(/\s+/g, " ");
  return line === "" ? null : Array.from(line).slice(0, TITLE_CHARS_MAX).join("").toWellFormed();
}

const SESSION_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Ids become file names, and they come from outside: nothing but a UUID passes. */
export function isSessionId(id: string): boolean {
  return SESSION_ID.test(id);
}
