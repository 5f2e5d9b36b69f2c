import { openHoldfast } from "../src/open.ts";
import { parseSpaceId } from "../src/log/ids.ts";
import { BareReader } from "./bare.ts";
import { createMany } from "./history.ts";
import { type Row, slower } from "./report.ts";
import { alternate } from "./sample.ts";
import { CROWD, MESSAGE_CHARS, sizeText, type Stage } from "./stage.ts";

const LISTED = 100;
const LARGE_CHARS = 8_000;
const SPACE = parseSpaceId("default");
const SELECT = `SELECT id, title, cwd, created_at, updated_at, head_seq, leaf_id, source, origin_entry, summary
  FROM conversations WHERE space = ? AND listed = 1 AND unlisted = 0 ORDER BY updated_at DESC, id DESC LIMIT ?`;

const SUMMARY = 9;

/** What lies there as JSON is parsed, as on every bare side. */
function parsed(rows: readonly unknown[][]): readonly unknown[][] {
  for (const row of rows) row[SUMMARY] = JSON.parse(String(row[SUMMARY]));
  return rows;
}

/** The most recent conversations of many, as a person sees them on opening a client. */
export async function measureList(stage: Stage): Promise<readonly Row[]> {
  const library = await stage.library();
  const path = stage.path("list-small.db");
  await using small = await openHoldfast({ store: `sqlite:${path}` });
  await using large = await openHoldfast({ store: `sqlite:${stage.path("list-large.db")}` });
  const spaces = { small: small.store.space(SPACE), large: large.store.space(SPACE) };
  stage.say(`building two stores of ${sizeText(CROWD)} conversations`);
  await createMany(spaces.small, CROWD, MESSAGE_CHARS);
  await createMany(spaces.large, CROWD, LARGE_CHARS);
  using bare = new BareReader(path);
  const select = bare.arrays(SELECT);
  const times = await alternate(
    {
      bare: { run: () => parsed(select.all(SPACE, LISTED) as unknown as readonly unknown[][]) },
      small: { run: () => spaces.small.list({ limit: LISTED }) },
      large: { run: () => spaces.large.list({ limit: LISTED }) },
      library: { run: () => library.crowd.list({ limit: LISTED }) },
    },
    stage.plan(1_000, 10_000),
  );
  const work = `first ${LISTED} of ${sizeText(CROWD)} conversations`;
  const entries = sizeText(stage.sizes.reduce((sum, size) => sum + size, 0));
  const theirs = times.small;
  return [
    slower(work, "bare SELECT + JSON.parse of the same rows", { ours: times.small, theirs: times.bare }),
    slower(`${work}, ${LARGE_CHARS / 1_000} KB bodies`, "ours with 0.4 KB bodies", {
      ours: times.large,
      theirs,
      budget: { atMost: 1.3 },
    }),
    slower(`${work}, beside ${entries} other entries`, "ours without them", {
      ours: times.library,
      theirs,
      budget: { atMost: 1.3 },
    }),
  ];
}
