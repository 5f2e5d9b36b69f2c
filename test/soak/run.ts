/** `npm run soak`: the soak by itself, with its figures. `--store sqlite --minutes 60 --pace 20` and so on; `--history FILE` keeps all of a run with violations. */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { trends } from "./samples.ts";
import { soak } from "./soak.ts";

const { values } = parseArgs({
  options: {
    store: { type: "string", default: "postgres" },
    servers: { type: "string" },
    clients: { type: "string", default: "64" },
    conversations: { type: "string", default: "64" },
    minutes: { type: "string", default: "60" },
    pace: { type: "string", default: "20" },
    faults: { type: "string", default: "240" },
    "silent-ms": { type: "string", default: "3000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    history: { type: "string" },
  },
});

const store = values.store === "sqlite" ? "sqlite" : "postgres";
const { violations, samples, figures, history, logs } = await soak({
  store,
  servers: Number(values.servers ?? (store === "sqlite" ? 1 : 3)),
  clients: Number(values.clients),
  conversations: Number(values.conversations),
  operations: Number.POSITIVE_INFINITY,
  minutes: Number(values.minutes),
  pace: Number(values.pace),
  faults: Number(values.faults),
  silentMs: Number(values["silent-ms"]),
  seed: Number(values.seed),
  sampleMs: 10_000,
  log: (line) => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`),
});
console.table(trends(samples));
console.log(JSON.stringify({ seed: values.seed, ...figures }, null, 2));
for (const one of violations) console.log(`VIOLATION ${one}`);
console.log(`${violations.length} violations`);
if (values.history !== undefined && violations.length > 0) {
  const { operations, tails, crashes } = history;
  const lines = [
    ...operations,
    ...tails,
    ...crashes,
    ...[...logs].map(([conversation, log]) => ({ conversation, log })),
  ];
  writeFileSync(values.history, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}
process.exitCode = violations.length === 0 ? 0 : 1;
