/** A number with its noun, for people: 1 entry, 2 entries. */
export function counted(count: number, one: string, many: string = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
