import type { AnyOperation, Download, Operation } from "#operations/operation";
import { OPERATION_LIST, type OPERATIONS as OPERATION_TABLE } from "#operations/table";
import { EDGE_ROWS, type EdgeRow } from "./edge-rows.ts";
import { routeOf } from "./operation-route.ts";
import type { Route } from "./route.ts";

/** What a client sends and receives, by a row. */
export interface OperationShape<Input, Output> {
  readonly input: Input;
  readonly response: Output extends Download ? Uint8Array : Output;
}

export type EdgeShapes<Table> = {
  readonly [K in keyof Table]: Table[K] extends EdgeRow<infer I, infer R> ? OperationShape<I, R> : never;
};
type ShapesOf<Table> = {
  readonly [K in keyof Table]: Table[K] extends Operation<infer I, infer R> ? OperationShape<I, R> : never;
};

/** Every operation, by its name. */
export interface Api extends ShapesOf<typeof OPERATION_TABLE>, EdgeShapes<typeof EDGE_ROWS> {}

export type OperationName = keyof Api;
/** The operations that stream events. */
export type StreamName = Exclude<keyof typeof EDGE_ROWS, "health" | "openApi" | "getMetrics">;

/** The one table of routes: requests are checked by it, the OpenAPI document and the client are made from it. */
export const OPERATIONS: readonly (readonly [OperationName, Route])[] = [
  ...OPERATION_LIST,
  ...(Object.entries(EDGE_ROWS) as [keyof typeof EDGE_ROWS, EdgeRow][]),
].map(([name, row]: readonly [OperationName, AnyOperation | EdgeRow]) => [name, routeOf(row)]);
