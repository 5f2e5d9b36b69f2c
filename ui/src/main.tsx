import { render } from "preact";
import { App } from "./app.tsx";
import { applyPreferences } from "./data/preferences.ts";
import { keepFocus } from "./parts/kept-focus.ts";
import { listenForKeys } from "./frame/keys.ts";
import { followLinks } from "./router/location.ts";

applyPreferences();
followLinks();
listenForKeys();
keepFocus();
const root = document.getElementById("root");
root?.replaceChildren(); // the frame that stood there until now
if (root !== null) render(<App />, root);
