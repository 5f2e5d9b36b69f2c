export { ApiError } from "./api-error.ts";
export { type Client, createClient } from "./client.ts";
export type { Api } from "#edges/http/routes/api";
