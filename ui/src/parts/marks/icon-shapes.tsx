import type { JSX } from "preact";

/** What is drawn of each icon, on a grid of 16. */
export const ICON_SHAPES = {
  bolt: <path d="M9 1.75 3.5 9H8l-1 5.25L12.5 7H8z" />,
  check: <path d="m3 8.5 3.25 3.25L13 5" />,
  context: <path d="M2.5 3.5h7M2.5 6.5h11M2.5 9.5h5M2.5 12.5h9" />,
  copy: (
    <>
      <rect x="5.5" y="5.5" width="8" height="8" rx="1.25" />
      <path d="M10.5 5.5v-2a1 1 0 0 0-1-1h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1h2" />
    </>
  ),
  dash: <path d="M4 8h8" />,
  down: <path d="m3.5 6 4.5 4.5L12.5 6" />,
  edit: <path d="m3 13 .6-2.7 7-7 2.1 2.1-7 7zM9.4 4.5l2.1 2.1" />,
  file: <path d="M4 1.75h5L12.5 5v9.25h-8.5zM9 1.75V5h3.5" />,
  fold: <path d="M2.5 8h11M8 1.5v4M6 3.75l2 2 2-2M8 14.5v-4M6 12.25l2-2 2 2" />,
  fork: (
    <>
      <circle cx="4.5" cy="3.5" r="1.5" />
      <circle cx="4.5" cy="12.5" r="1.5" />
      <circle cx="11.5" cy="5.5" r="1.5" />
      <path d="M4.5 5v6M11.5 7c0 2.5-7 1.5-7 4" />
    </>
  ),
  health: <path d="M1.75 8.5h3l1.75-4.5 3 8 1.75-3.5h3" />,
  hide: <path d="M2 8s2.25-4 6-4 6 4 6 4-2.25 4-6 4-6-4-6-4zM3 13.5l10-11" />,
  history: <path d="M2.5 4h11M2.5 8h11M2.5 12h7" />,
  in: <path d="M8 2.5V10M5 7l3 3 3-3M2.5 10v3.5h11V10" />,
  label: <path d="M2.5 2.5h5l6 6-5 5-6-6zM5.25 5.25v.1" />,
  ledger: <path d="m2.5 4 1.25 1.25L6 3M2.5 11l1.25 1.25L6 10M8.5 4.5h5M8.5 11.5h5" />,
  left: <path d="M10 3.5 5.5 8l4.5 4.5" />,
  lock: (
    <>
      <rect x="3.5" y="7" width="9" height="6.5" rx="1" />
      <path d="M5.5 7V5a2.5 2.5 0 0 1 5 0v2" />
    </>
  ),
  mail: (
    <>
      <rect x="2" y="3.5" width="12" height="9" rx="1.25" />
      <path d="m2.5 4.5 5.5 4.25 5.5-4.25" />
    </>
  ),
  memory: <path d="M8 2 2.5 5 8 8l5.5-3zM2.5 8 8 11l5.5-3M2.5 11 8 14l5.5-3" />,
  model: (
    <>
      <rect x="3.5" y="3.5" width="9" height="9" rx="1.5" />
      <path d="M6 1.5v2M10 1.5v2M6 12.5v2M10 12.5v2M1.5 6h2M1.5 10h2M12.5 6h2M12.5 10h2" />
    </>
  ),
  more: (
    <>
      <circle class="solid" cx="3.5" cy="8" r="1.25" />
      <circle class="solid" cx="8" cy="8" r="1.25" />
      <circle class="solid" cx="12.5" cy="8" r="1.25" />
    </>
  ),
  out: <path d="M8 10V2.5M5 5.5l3-3 3 3M2.5 10v3.5h11V10" />,
  pause: <path d="M5.5 3.5v9M10.5 3.5v9" />,
  plus: <path d="M8 3v10M3 8h10" />,
  replay: <path d="M3.3 6.2A5.25 5.25 0 1 1 2.75 8.5M3 2.75v3.5h3.5" />,
  right: <path d="m6 3.5 4.5 4.5L6 12.5" />,
  roll: <path d="M2.5 5.5h10.5M10.5 3 13 5.5 10.5 8M13.5 10.5H3M5.5 8 3 10.5 5.5 13" />,
  runs: (
    <>
      <circle cx="8" cy="8" r="5.75" />
      <path d="M6.75 5.75v4.5L10.5 8z" />
    </>
  ),
  search: (
    <>
      <circle cx="7" cy="7" r="4.25" />
      <path d="m10.25 10.25 3.25 3.25" />
    </>
  ),
  settings: (
    <>
      <path d="M2.5 4.5h6M11.5 4.5h2M2.5 11.5h2M7.5 11.5h6" />
      <circle cx="10" cy="4.5" r="1.5" />
      <circle cx="6" cy="11.5" r="1.5" />
    </>
  ),
  steer: <path d="M2.5 12.5c0-5 3-6.5 8-6.5M8 3l3 3-3 3" />,
  stop: <rect x="4" y="4" width="8" height="8" rx="1" />,
  swap: <path d="M2.5 5h10M10 2.5 12.5 5 10 7.5M13.5 11h-10M6 8.5 3.5 11 6 13.5" />,
  terminal: <path d="m2.5 4 4 4-4 4M8 12.5h5.5" />,
  theme: (
    <>
      <circle cx="8" cy="8" r="5.75" />
      <path class="solid" d="M8 2.25a5.75 5.75 0 0 1 0 11.5z" />
    </>
  ),
  transfer: <path d="M5 13V3M2.5 5.5 5 3l2.5 2.5M11 3v10M8.5 10.5 11 13l2.5-2.5" />,
  unknown: (
    <path d="M8 1.75 14.25 8 8 14.25 1.75 8zM6.5 6.6c.1-1.9 3.1-1.9 3 0-.1 1-1.5 1.1-1.5 2.2M8 10.9v.1" />
  ),
  usage: <path d="M2.5 13.5h11M4.5 11V8M8 11V3.5M11.5 11V6" />,
  user: (
    <>
      <circle cx="8" cy="5.25" r="2.75" />
      <path d="M2.75 13.75c.6-3 2.7-4.25 5.25-4.25s4.65 1.25 5.25 4.25" />
    </>
  ),
  warn: <path d="M8 2.5 14 13H2zM8 6.5v3M8 11.25v.1" />,
  x: <path d="m4 4 8 8M12 4l-8 8" />,
} satisfies Record<string, JSX.Element>;
