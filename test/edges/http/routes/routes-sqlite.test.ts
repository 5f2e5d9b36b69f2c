import { join } from "node:path";
import { everyRoute } from "./every-route.ts";

everyRoute("sqlite", (folder) => `sqlite:${join(folder, "store.db")}`);
