export { createClient, type Client, type InputOf } from "./client.ts";
export { ApiError } from "./api-error.ts";
export type { CallOptions, ClientOptions } from "./transport.ts";
export type { Api, OperationName } from "#edges/http/routes/api";
