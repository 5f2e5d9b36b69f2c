import type { Bodies, EntryType, FactType, NodeType, SettingType } from "#log/entry";
import type { Check } from "./shapes.ts";
import type { SummaryChange } from "#log/summary";

/** All that any layer has to know of a type of entry. */
export interface EntryTypeRow<T extends EntryType> {
  /** A node lies on the branch, a fact beside it. */
  readonly is: T extends NodeType ? "node" : "fact";
  /** Its number in an index by type, which never changes; null for the bulk of a log, which is read in order. */
  readonly number: number | null;
  /** What its payload must hold; whatever else it holds is kept exactly and ignored. */
  readonly shape: Check;
  /** The member that names a node, which must exist before it. */
  readonly target?: keyof Bodies[T] & string;
  /**
   * Of a fact about a node, what the file of a fork has of those that its sources had: each, where nothing is said;
   * `state`: only what holds of the node in the end, which the export has to know how to say; `none`.
   */
  readonly inherited?: T extends FactType ? "state" | "none" : never;
  /** Other members that plans and indexes read, so that a store need not carry the rest of the body about. */
  readonly planned?: readonly (keyof Bodies[T] & string)[];
  /** Anyone may add it; the rest belongs to the owner. */
  readonly outside?: true;
  /** Whether it is on disk before it is acknowledged, whatever was asked for; `never`: it need not be. */
  readonly durable?: "always" | "never" | ((body: Bodies[T]) => boolean);
  /** The latest one on a path decides something, so it can be found without walking. */
  readonly setting?: T extends SettingType ? true : never;
  /** It says something to a model, so that an upstream can lack it. */
  readonly inContext?: true | ((body: Bodies[T]) => boolean);
  /** The words people search for. */
  readonly searched?: (body: Bodies[T]) => string;
  /** Its change of the summary that lists show, so that lists read no log. */
  readonly summary?: (body: Bodies[T], time: string) => SummaryChange | null;
}
