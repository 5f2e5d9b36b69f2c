/** What a figure is told apart by. */
export type Labels = { readonly [name: string]: string };

export interface Sample {
  readonly suffix?: "_bucket" | "_sum" | "_count";
  readonly labels: Labels;
  readonly value: number;
}

/** A figure, whatever it is told apart by. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly samples: () => readonly Sample[];
}

/** The text format of Prometheus, version 0.0.4. */
export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

export function metricsText(families: readonly Family[]): string {
  return families
    .map(({ name, help, type, samples }) => {
      const lines = samples().map(
        ({ suffix = "", labels, value }) => `${name}${suffix}${labelsText(labels)} ${valueText(value)}\n`,
      );
      return `# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}\n# TYPE ${name} ${type}\n${lines.join("")}`;
    })
    .join("");
}

function labelsText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function valueText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return value === Infinity ? "+Inf" : value === -Infinity ? "-Inf" : "NaN";
}

interface About {
  readonly name: string;
  readonly help: string;
}

/** Goes up only. */
export class Counter implements Family {
  readonly type = "counter";
  readonly name: string;
  readonly help: string;
  readonly #totals = new Map<string, { readonly labels: Labels; value: number }>();

  constructor({ name, help }: About) {
    this.name = name;
    this.help = help;
  }

  add(labels: Labels, by: number = 1): void {
    const key = Object.values(labels).join("\0");
    const total = this.#totals.get(key);
    if (total === undefined) this.#totals.set(key, { labels, value: by });
    else total.value += by;
  }

  readonly samples = (): readonly Sample[] => [...this.#totals.values()];
}

/** How often a value was at most so large. */
export class Histogram implements Family {
  readonly type = "histogram";
  readonly name: string;
  readonly help: string;
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum: number = 0;

  constructor({ name, help }: About, bounds: readonly number[]) {
    this.name = name;
    this.help = help;
    this.#bounds = bounds;
    this.#counts = [...bounds, Infinity].map(() => 0);
  }

  observe(value: number): void {
    const at = this.#bounds.findIndex((bound) => value <= bound);
    const bucket = at === -1 ? this.#bounds.length : at;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += value;
  }

  readonly samples = (): readonly Sample[] => {
    let count = 0;
    const buckets = this.#counts.map((own, at): Sample => {
      count += own;
      return { suffix: "_bucket", labels: { le: valueText(this.#bounds[at] ?? Infinity) }, value: count };
    });
    return [
      ...buckets,
      { suffix: "_sum", labels: {}, value: this.#sum },
      { suffix: "_count", labels: {}, value: count },
    ];
  };
}

/** What is so at the moment. */
export function gauge(name: string, help: string, value: () => number): Family {
  return { name, help, type: "gauge", samples: () => [{ labels: {}, value: value() }] };
}
