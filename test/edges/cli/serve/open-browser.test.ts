import { expect, test } from "vitest";
import { browserCommand } from "#edges/cli/serve/ui-command";

const url = "http://127.0.0.1:1/launch?code=x";

test("a browser is opened as each system does it, and nowhere without a display", () => {
  const on = (platform: NodeJS.Platform, env: Record<string, string> = {}) =>
    browserCommand(url, { platform, env })?.[0] ?? null;
  expect(["darwin", "win32"].map((platform) => on(platform as NodeJS.Platform))).toEqual(["open", "cmd"]);
  expect([on("linux"), on("linux", { DISPLAY: "" }), on("linux", { DISPLAY: ":0" })]).toEqual([
    null,
    null,
    "xdg-open",
  ]);
  expect(on("linux", { WAYLAND_DISPLAY: "wayland-0" })).toBe("xdg-open");
});
