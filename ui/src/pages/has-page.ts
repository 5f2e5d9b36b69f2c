import { PAGES } from "./pages.ts";

/** Whether there is a page to lead to. */
export function hasPage(path: string): boolean {
  return PAGES.some((row) => row.path === path);
}
