import type { Finding } from "#store/requests";
import type { RoutesOf } from "#edges/http/routes/route";
import { answer, choice, count, flag, list, nullable, open, text } from "#edges/http/routes/value-schema";

/** What is served, and how much there is of it. */
export interface StoreView {
  readonly kind: string | null;
  readonly address: string | null;
  readonly bytes: number | null;
  /** Of entries, and of the objects that are answered. */
  readonly formatVersion: number;
  readonly schemaVersion: number;
  readonly conversations: number;
  /** Kept for programs, such as memory. */
  readonly unlisted: number;
  /** There are more than were counted. */
  readonly more: boolean;
  readonly damaged: readonly string[];
}

/** The store as a whole. */
export interface FigureApi {
  getStore: { readonly response: StoreView };
  checkSpace: { readonly response: { readonly findings: readonly Finding[] } };
}

const group = "Figures";

export const FIGURE_ROUTES: RoutesOf<FigureApi> = {
  getStore: {
    method: "GET",
    path: "/api/store",
    right: "read",
    group,
    summary: "Says what is served and how much of it; where it lies only to tokens with the right admin",
    response: answer<StoreView>({
      kind: nullable(text()),
      address: nullable(text()),
      bytes: nullable(count()),
      formatVersion: count(),
      schemaVersion: count(),
      conversations: count(),
      unlisted: count(),
      more: flag(),
      damaged: list(text()),
    }),
  },
  checkSpace: {
    method: "GET",
    long: true,
    path: "/api/check",
    right: "admin",
    group,
    summary: "Reads every log of the space and proves its links, as `holdfast doctor` does; repairs nothing",
    response: answer<FigureApi["checkSpace"]["response"]>({
      findings: list(
        open<Finding>({
          conversation: nullable(text()),
          severity: choice(["damage", "torn", "note"]),
          message: text({ max: 100_000 }),
          repaired: flag(),
        }),
      ),
    }),
  },
};
