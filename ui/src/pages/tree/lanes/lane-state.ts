/** How a stretch of line looks: on the active branch, on the way to one of the two that are compared, or on another. */
export type LaneClass = "trunk" | "a" | "b" | "";

/** Lanes that are drawn; what lies further in is drawn in the last one and told in words. */
export const LANES_MAX = 10;

/** What one row draws of the lines. */
export interface RowLanes {
  /** The column of its own mark. */
  readonly column: number;
  /** The lines of other lanes that pass it, from the left. */
  readonly passing: readonly (LaneClass | null)[];
  /** To what is above and below it in its lane; null: nothing is. */
  readonly up: LaneClass | null;
  readonly down: LaneClass | null;
  /** It comes out of the lane to its left. */
  readonly elbow: LaneClass | null;
  readonly isDashed: boolean;
}

interface OwnLines {
  readonly up: LaneClass | null;
  readonly down: LaneClass | null;
  readonly isSide: boolean;
}

/** Which lines pass, while rows are laid out from top to bottom. */
export class LaneState {
  /** Of each lane, the line that goes on below the last row in it. */
  readonly #below: (LaneClass | null)[] = [];

  /** A row that stands on the line of its lane. */
  through(lane: number, { up, down, isSide }: OwnLines): RowLanes {
    const column = Math.min(lane, LANES_MAX);
    const isDrawnAside = isSide && lane <= LANES_MAX;
    const row: RowLanes = {
      column,
      passing: this.#below.slice(0, column),
      up: isDrawnAside ? null : up,
      down,
      elbow: isDrawnAside ? up : null,
      isDashed: false,
    };
    if (lane < LANES_MAX) {
      this.#below.length = lane;
      this.#below.push(down);
    }
    return row;
  }

  /** A row beside the line that it comes out of, and that nothing follows. */
  aside(lane: number, own: LaneClass, isDashed: boolean = false): RowLanes {
    return { ...this.through(lane, { up: own, down: null, isSide: true }), isDashed };
  }

  /** Nothing more comes in a lane. */
  end(lane: number): void {
    if (lane < this.#below.length) this.#below[lane] = null;
  }
}
