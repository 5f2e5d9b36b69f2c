/** Loaded into a server before anything else: its clock is wrong by the milliseconds that TEST_CLOCK_SKEW_MS names. */
import { skewDate } from "./skewed-date.ts";

skewDate(Number(process.env["TEST_CLOCK_SKEW_MS"]));
