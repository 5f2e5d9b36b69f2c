/** Who saved something that is remembered, in words. */
export function savedBy(by: string | null): string {
  if (by === "model" || by === "person") return `a ${by}`;
  return by === "limit" ? "the limit of what models may save" : (by ?? "nobody that is named");
}
