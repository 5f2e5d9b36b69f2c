import type { Tool } from "#turn/effects/tool";
import { editTool, readTool, writeTool } from "./file-tools.ts";
import { searchTool } from "./search-tool.ts";
import { shellTool, type ShellOptions } from "./shell-tool.ts";

/** The tools for work in a folder: `read`, `write`, `edit`, `search` and `shell`. */
export function codingTools(options: ShellOptions): readonly Tool[] {
  const { cwd } = options;
  return [readTool(cwd), writeTool(cwd), editTool(cwd), searchTool(cwd), shellTool(options)];
}
