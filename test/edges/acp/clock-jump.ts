/** Loaded into a bridge before anything else: once the file that CLOCK_JUMP names is there, it is ten minutes later. */
import { existsSync } from "node:fs";

const JUMP_MS = 600_000;
const signal = process.env["CLOCK_JUMP"] ?? "";
const now = Date.now.bind(Date);
Date.now = () => now() + (signal !== "" && existsSync(signal) ? JUMP_MS : 0);
