import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  exports: { [path: string]: string | { default: string } };
};

/** The names a source file lists as its own exports; types do not exist at run time, so the lists are read. */
function exportedNames(file: string): readonly string[] {
  const source = readFileSync(join(root, file), "utf8");
  const listed = [...source.matchAll(/export (?:type )?\{([^}]*)\}/gs)].flatMap((match) =>
    (match[1] ?? "").split(","),
  );
  const named = [...source.matchAll(/export (?:async )?(?:const|function|class|interface|type) (\w+)/g)].map(
    (match) => match[1] ?? "",
  );
  const names = [...listed.map((name) => name.trim().replace(/^type /, "")), ...named].filter(Boolean);
  return [...new Set(names)].toSorted();
}

const paths = Object.entries(manifest.exports).flatMap(([path, target]) =>
  typeof target === "string"
    ? []
    : [[path, target.default.replace("./dist/", "src/").replace(/js$/, "ts")] as const],
);

test.each(paths)("%s exports exactly what is listed here", (path, file) => {
  expect(exportedNames(file).join(" ")).toMatchSnapshot(path);
});
