/** How a provider wants requests to be, as far as that is no matter of its package. */
export type Dialect = "anthropic" | "openai" | "openai-compatible" | "google" | "other";

/** By the name that a package gives to the provider of its models: the API stands behind a dot. */
export function dialectOf(provider: string): Dialect {
  if (/(?:^|\.)anthropic(?:\.|$)/.test(provider)) return "anthropic";
  const first = provider.split(".")[0];
  return first === "openai" || first === "openai-compatible" || first === "google" ? first : "other";
}

/** Whether a file of this type can be shown; a package given another one fails as a whole. */
export function showsMedia(dialect: Dialect, mediaType: string): boolean {
  if (mediaType.startsWith("image/")) return true;
  if (dialect === "google" || dialect === "other") return true;
  if (mediaType === "application/pdf") return true;
  return dialect === "openai-compatible" && /^audio\/(?:wav|mpeg|mp3)$/.test(mediaType);
}

/** Whether a tool's result may hold one; else it would be sent as text, every byte of it. */
export function showsMediaInResults(dialect: Dialect, mediaType: string): boolean {
  if (dialect === "openai-compatible" || dialect === "other") return false;
  return mediaType.startsWith("image/") || mediaType === "application/pdf";
}
