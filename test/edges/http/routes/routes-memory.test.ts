import { everyRoute } from "./every-route.ts";

everyRoute("memory", () => null);
