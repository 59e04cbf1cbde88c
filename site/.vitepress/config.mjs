import { readFileSync } from "node:fs"
import { defineConfig } from "vitepress"

/** The pages are plain Markdown: two braces are text, not an expression of Vue. */
const asText = (md) => {
  const braces = (html) => html.replaceAll("{{", "&#123;&#123;")
  for (const rule of ["text", "code_inline"]) {
    const render = md.renderer.rules[rule] ?? ((tokens, index) => md.utils.escapeHtml(tokens[index].content))
    md.renderer.rules[rule] = (...args) => braces(render(...args))
  }
}

/** The anchors that GitHub gives to headings, so that a link works in both places. */
const anchorOf = (heading) => heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, "").trim().replaceAll(/\s/g, "-")

export default defineConfig({
  title: "Belay",
  description: "An agent SDK for TypeScript with typed hooks around every step of an agent",
  lang: "en",
  srcDir: "pages",
  srcExclude: ["public/**"],
  outDir: "dist",
  cleanUrls: false,
  lastUpdated: false,
  metaChunk: true,
  markdown: { anchor: { slugify: anchorOf }, config: asText, html: false },
  themeConfig: {
    nav: [
      { text: "Start", link: "/start" },
      { text: "Hooks", link: "/catalogue/" },
      { text: "Reference", link: "/reference/" }
    ],
    sidebar: JSON.parse(readFileSync(new URL("sidebar.json", import.meta.url), "utf8")),
    outline: { level: [2, 3] },
    search: { provider: "local", options: { detailedView: true } },
    footer: { message: "MIT" }
  }
})
