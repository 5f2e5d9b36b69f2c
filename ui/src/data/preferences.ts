import { type Signal, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";
const THEMES: readonly Theme[] = ["system", "light", "dark"];

interface Preference<T extends string> {
  readonly name: string;
  readonly choices: readonly T[];
  readonly first: T;
}

/** Kept in this browser: how things look, never what is in a conversation. */
function preference<T extends string>({ name, choices, first }: Preference<T>): Signal<T> {
  const key = `holdfast.${name}`;
  const stored = localStorage.getItem(key);
  const kept = signal(choices.find((choice) => choice === stored) ?? first);
  kept.subscribe((value) => localStorage.setItem(key, value));
  return kept;
}

export const theme: Signal<Theme> = preference({ name: "theme", choices: THEMES, first: "system" });
export const density: Signal<"normal" | "compact"> = preference({
  name: "density",
  choices: ["normal", "compact"],
  first: "normal",
});
/** In percent of what the browser has. */
export const textSize: Signal<"90" | "100" | "110" | "120" | "130"> = preference({
  name: "text",
  choices: ["90", "100", "110", "120", "130"],
  first: "100",
});
/** As the system asks for, or always. */
export const contrast: Signal<"system" | "more"> = preference({
  name: "contrast",
  choices: ["system", "more"],
  first: "system",
});
export const motion: Signal<"system" | "less"> = preference({
  name: "motion",
  choices: ["system", "less"],
  first: "system",
});
/** Keys that are one letter can be switched off: whoever speaks to the machine types many. */
export const singleKeys: Signal<"on" | "off"> = preference({
  name: "keys",
  choices: ["on", "off"],
  first: "on",
});

/** Whether the tour was taken, or declined: it is offered once. */
export const tourSeen: Signal<"no" | "yes"> = preference({
  name: "tour",
  choices: ["no", "yes"],
  first: "no",
});

/** Puts them where the styles look. */
export function applyPreferences(): void {
  const { dataset } = document.documentElement;
  theme.subscribe((value) => {
    if (value === "system") delete dataset["theme"];
    else dataset["theme"] = value;
  });
  density.subscribe((value) => (dataset["density"] = value));
  textSize.subscribe((value) => (dataset["text"] = value));
  contrast.subscribe((value) => (dataset["contrast"] = value));
  motion.subscribe((value) => (dataset["motion"] = value));
}

export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? "system";
}
