/**
 * Writes the package.json beside the compiled files. Sources import each other as `#log/entry`; the `imports` of the
 * package lead into `src`, those of the compiled files have to lead to their compiled neighbours.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const [folder = "dist"] = process.argv.slice(2);
const manifest = { type: "module", imports: { "#*": "./*.js" } };
writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
