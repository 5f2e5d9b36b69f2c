/** Who saved something that is remembered, in words. */
export function savedBy(by: string | null): string {
  if (by === "model" || by === "person") return by === "model" ? "the model" : "a user";
  return by === "limit" ? "the limit for models" : (by ?? "unknown");
}
