import { spawn } from "node:child_process";

type Env = Readonly<Record<string, string | undefined>>;

/** The command that opens an address where there is a display; null where there is none. */
export function browserCommand(
  url: string,
  { platform, env }: { readonly platform: NodeJS.Platform; readonly env: Env },
): readonly [string, ...string[]] | null {
  if (platform === "darwin") return ["open", url];
  if (platform === "win32") return ["cmd", "/c", "start", '""', url];
  const hasDisplay = Boolean(env["DISPLAY"]) || Boolean(env["WAYLAND_DISPLAY"]);
  return hasDisplay ? ["xdg-open", url] : null;
}

/** Tries to open a browser; the address was printed, so nothing depends on it. */
export function openBrowser(url: string, env: Env): void {
  const command = browserCommand(url, { platform: process.platform, env });
  if (command === null) return;
  const [program, ...args] = command;
  const child = spawn(program, args, { stdio: "ignore", detached: true, env });
  child.on("error", () => undefined);
  child.unref();
}
