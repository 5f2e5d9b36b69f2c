import type { Command } from "./command.ts";
import { acp } from "./commands/acp.ts";
import { append } from "./commands/append.ts";
import { backup } from "./commands/backup.ts";
import { chain } from "./commands/chain.ts";
import { chat } from "./chat/chat.ts";
import { continueCommand } from "./chat/continue.ts";
import { context } from "./commands/context.ts";
import { demo } from "./demos/demo.ts";
import { doctor } from "./commands/doctor.ts";
import { effects } from "./commands/effects.ts";
import { erase } from "./commands/erase.ts";
import { exportCommand } from "./commands/export.ts";
import { fork } from "./commands/fork.ts";
import { goTo } from "./commands/goto.ts";
import { helpCommand } from "./help-command.ts";
import { hide } from "./commands/hide.ts";
import { importCommand } from "./commands/import.ts";
import { label } from "./commands/label.ts";
import { log } from "./commands/log.ts";
import { ls } from "./commands/ls.ts";
import { newChatCommand } from "./commands/new-chat.ts";
import { newCommand } from "./commands/new.ts";
import { search } from "./commands/search.ts";
import { show } from "./commands/show.ts";
import { signOutCommand } from "./commands/sign-out.ts";
import { title } from "./commands/title.ts";
import { tour } from "./demos/tour.ts";
import { usage } from "./commands/usage.ts";
import { tree } from "./commands/tree.ts";

const WORKING: readonly Command[] = [
  newCommand,
  append,
  log,
  show,
  context,
  tree,
  chain,
  effects,
  usage,
  goTo,
  fork,
  label,
  title,
  hide,
  newChatCommand,
  signOutCommand,
  ls,
  search,
  exportCommand,
  importCommand,
  backup,
  erase,
  doctor,
  acp,
  demo,
  chat,
  continueCommand,
  tour,
];

export const COMMANDS: readonly Command[] = [...WORKING, helpCommand(WORKING)];
