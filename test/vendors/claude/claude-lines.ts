/** Lines as Claude writes them, with only what a test is about. */
export interface Line {
  readonly type: string;
  readonly uuid?: string;
  readonly [name: string]: unknown;
}

export function said(uuid: string, parentUuid: string | null, text: string, more: object = {}): Line {
  return { type: "user", uuid, parentUuid, message: { role: "user", content: text }, ...more };
}

export function part(uuid: string, parentUuid: string | null, id: string, block: object): Line {
  return { type: "assistant", uuid, parentUuid, message: { id, role: "assistant", content: [block] } };
}

export function lines(...records: readonly (Line | string)[]): string {
  return records
    .map((record) => `${typeof record === "string" ? record : JSON.stringify(record)}\n`)
    .join("");
}
