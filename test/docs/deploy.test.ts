import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { serveCommand } from "#edges/cli/serve/serve-command";
import { optionsIn, scanLine } from "#edges/cli/options";
import { Metrics } from "#telemetry/metrics";
import { ROOT } from "../edges/cli/cli-run.ts";
import { serve } from "../edges/http/served.ts";

const FOLDER = join(ROOT, "deploy");
const file = (name: string): string => readFileSync(join(FOLDER, name), "utf8");

interface Package {
  readonly bin: object;
  readonly devDependencies: { readonly node: string };
}

interface Container {
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly [probe: `${string}Probe`]: { readonly httpGet: { readonly path: string; readonly port: string } };
}

interface Manifest {
  readonly kind: string;
  readonly spec: {
    readonly template?: { readonly spec: { readonly containers: readonly [Container] } };
    readonly ports?: readonly [{ readonly port: number; readonly targetPort: string }];
  };
}

interface Compose {
  readonly services: {
    readonly holdfast: {
      readonly build: { readonly context: string; readonly dockerfile: string };
      readonly command: readonly string[];
      readonly environment: { readonly [name: string]: string };
      readonly ports: readonly string[];
      readonly depends_on: object;
    };
  };
}

const dockerfile = file("Dockerfile");
const manifests = parseAllDocuments(file("kubernetes.yaml")).map((one) => one.toJS() as Manifest);
const [container] = manifests.find(({ kind }) => kind === "Deployment")?.spec.template?.spec.containers ?? [];
const compose = (parse(file("compose.yaml")) as Compose).services;
const unit = file("holdfast.service");

function matched(text: string, pattern: RegExp): readonly string[] {
  const [, ...found] = pattern.exec(text) ?? [];
  expect(found, String(pattern)).not.toEqual([]);
  return found;
}

const commandLines: { readonly [name: string]: readonly string[] } = {
  Dockerfile: JSON.parse(matched(dockerfile, /^CMD (\[.*\])$/m)[0] ?? "") as readonly string[],
  "compose.yaml": compose.holdfast.command,
  "kubernetes.yaml": container?.args ?? [],
  "holdfast.service": (matched(unit, /^ExecStart=\S+\/holdfast (.*)$/m)[0] ?? "").split(" "),
};

test.each(Object.entries(commandLines))(
  "the command line in deploy/%s has options of serve alone",
  (_, args) => {
    const [command, ...rest] = args;
    expect(command).toBe("serve");
    const { values, unknown, problems } = scanLine(rest, optionsIn(serveCommand.options));
    expect([unknown, problems]).toEqual([[], []]);
    expect(values).toMatchObject({ port: "8080", "log-format": "json" });
    // Beyond this machine it answers only where the names are given.
    expect(values["allow-host"] === undefined).toBe(values["host"] === undefined);
  },
);

test("every port is the one that the server listens on", () => {
  expect(matched(dockerfile, /^EXPOSE (\d+)$/m)).toEqual(["8080"]);
  expect(matched(dockerfile, /fetch\('http:\/\/127\.0\.0\.1:(\d+)\//)).toEqual(["8080"]);
  expect(compose.holdfast.ports).toEqual(["127.0.0.1:8080:8080"]);
  expect(container?.ports).toEqual([{ name: "http", containerPort: 8080 }]);
  const service = manifests.find(({ kind }) => kind === "Service");
  expect(service?.spec.ports).toEqual([{ name: "http", port: 8080, targetPort: "http" }]);
  expect(matched(file("nginx.conf"), /server 127\.0\.0\.1:(\d+);/)).toEqual(["8080"]);
  expect(matched(file("Caddyfile"), /reverse_proxy 127\.0\.0\.1:(\d+) /)).toEqual(["8080"]);
});

test("every path that a probe or a proxy names is answered by the server", async () => {
  await using served = await serve({ metrics: new Metrics() });
  const probes = Object.entries(container ?? {}).flatMap(([name, value]) =>
    name.endsWith("Probe") ? [(value as Container["livenessProbe"])?.httpGet.path ?? ""] : [],
  );
  expect(probes.toSorted()).toEqual(["/livez", "/livez", "/readyz"]);
  for (const path of [...probes, ...matched(dockerfile, /fetch\('http:\/\/127\.0\.0\.1:8080(\/\w+)'/)])
    expect([path, (await served.ask(path, { headers: { host: "10.0.0.1:8080" } })).status]).toEqual([
      path,
      200,
    ]);
  const [nginx = ""] = matched(file("nginx.conf"), /location ~ \^\/\(([\w|]+)\)\$/);
  const hidden = nginx.split("|").map((name) => `/${name}`);
  expect(matched(file("Caddyfile"), /@internal path (.*)$/m)).toEqual([hidden.join(" ")]);
  const authorization = `Bearer ${await served.token("metrics")}`;
  for (const path of hidden)
    expect([path, (await served.ask(path, { headers: { authorization } })).status]).toEqual([path, 200]);
  const largest = (await served.client(await served.token("read")).health()).importBytes;
  expect(matched(file("nginx.conf"), /client_max_body_size (\d+)g;/)).toEqual([String(largest / 1_024 ** 3)]);
});

test("the store's address is in the environment, and nowhere in a command line or a manifest", () => {
  expect(Object.keys(compose.holdfast.environment)).toEqual(["HOLDFAST_STORE"]);
  expect(container?.env.map(({ name }) => name)).toEqual(["HOLDFAST_STORE"]);
  expect(matched(dockerfile, /(HOLDFAST_\w+)=/)).toEqual(["HOLDFAST_STORE"]);
  expect(matched(unit, /^Environment=(HOLDFAST_\w+)=/m)).toEqual(["HOLDFAST_STORE"]);
  expect(readFileSync(join(ROOT, "docs/reference/cli.md"), "utf8")).toContain("`HOLDFAST_STORE`");
  for (const args of Object.values(commandLines)) expect(args.join(" ")).not.toMatch(/postgres:|--store/);
});

test("the image is built from files that are here, for the Node that the package is tested with", () => {
  const { bin, devDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Package;
  const images = [...dockerfile.matchAll(/^FROM node:(\d+)-/gm)].map(([, major]) => major);
  expect(new Set(images)).toEqual(new Set(matched(devDependencies.node, /^\D*(\d+)\./)));
  expect(Object.keys(bin)).toContain(matched(dockerfile, /^ENTRYPOINT \["(\w+)"\]$/m)[0]);
  expect(dockerfile).toMatch(/^USER node$/m);
  const { context, dockerfile: named } = compose.holdfast.build;
  expect(join(FOLDER, context)).toBe(dirname(FOLDER));
  expect(existsSync(join(FOLDER, context, named))).toBe(true);
  expect(existsSync(join(FOLDER, context, `${named}.dockerignore`))).toBe(true);
});
