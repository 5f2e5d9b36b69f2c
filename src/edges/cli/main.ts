#!/usr/bin/env node
// Nothing is imported before the version is known: an older Node could not even read what it would get.
const NODE_MIN: readonly [number, number] = [22, 16];
const version = process.versions.node.split(".").map(Number);
const [major, minor] = [version[0] || 0, version[1] || 0];

if (major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1])) await import("./program.ts");
else {
  process.stderr.write(
    `holdfast: Needs Node ${NODE_MIN.join(".")} or newer (this is ${process.versions.node}). Install Node 24: https://nodejs.org\n`,
  );
  process.exitCode = 1;
}
