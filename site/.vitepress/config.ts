import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { defineConfig, type DefaultTheme } from "vitepress";

const DOCS = join(import.meta.dirname, "..", "..", "docs");

/** The sidebar is the index that readers of the repository see: docs/README.md. */
function sidebar(): DefaultTheme.SidebarItem[] {
  const index = readFileSync(join(DOCS, "README.md"), "utf8");
  return index
    .split(/^## /m)
    .slice(1)
    .map((part) => section(part, "### "));
}

function section(part: string, deeper: string): DefaultTheme.SidebarItem {
  const [title = "", ...rest] = part.split("\n");
  const [own = "", ...parts] = rest.join("\n").split(new RegExp(`^${deeper}`, "m"));
  const links = [...own.matchAll(/\[([^\]]+)\]\(([^)#]+\.md)\)/g)]
    .filter(([, , link = ""]) => !link.startsWith(".."))
    .map(([, text = "", link = ""]) => ({
      text: text.replaceAll("`", ""),
      link: `/${link.replace(/README\.md$/, "")}`,
    }));
  return {
    text: title.trim(),
    collapsed: true,
    items: [...links, ...parts.map((one) => section(one, "#### "))],
  };
}

/** Links to files of the repository that are no page here, such as ARCHITECTURE.md, become plain text. */
function leavesDocs(page: string, href: string): boolean {
  return (
    !/^[a-z]+:|^#/.test(href) && posix.normalize(posix.join(posix.dirname(page), href)).startsWith("../")
  );
}

const config = defineConfig({
  title: "Holdfast",
  description: "Durable conversations for AI agents",
  srcDir: "pages", // a copy of docs: Vue is looked for above the pages
  outDir: "dist",
  cacheDir: ".vitepress/cache",
  cleanUrls: true,
  rewrites: (page) => page.replace(/README\.md$/, "index.md"),
  themeConfig: {
    sidebar: sidebar(),
    search: { provider: "local" },
    outline: [2, 3],
  },
  markdown: {
    html: false, // text of the docs such as <id> stays text
    config(markdown) {
      markdown.core.ruler.push("plain-links", (state) => {
        const page = (state.env as { readonly relativePath?: string }).relativePath ?? "README.md";
        for (const { children } of state.tokens)
          for (const [at, token] of (children ?? []).entries())
            if (token.type === "link_open" && leavesDocs(page, token.attrGet("href") ?? "")) {
              const close = children?.slice(at).find(({ type }) => type === "link_close");
              for (const end of [token, close]) if (end !== undefined) end.type = "text";
            }
      });
    },
  },
});

export default config;
