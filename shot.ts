import { openBrowser } from "./test/support/browser.ts"
const b = await openBrowser()
for (const scheme of ["light", "dark"] as const) {
  const page = await b.newPage({ colorScheme: scheme, viewport: { width: 800, height: 1500 } })
  const { readFileSync } = await import("node:fs")
  await page.setContent(
    `<body style="background:${scheme === "dark" ? "#111" : "#fff"}">` +
      ["chain", "turn", "session", "tree"].map((n) =>
        `<img src="data:image/svg+xml;base64,${
          readFileSync(`docs/images/${n}.svg`).toString("base64")
        }" style="display:block;margin:8px">`
      ).join("")
  )
  await page.waitForTimeout(300)
  await page.screenshot({ path: `/tmp/svg-${scheme}.png`, fullPage: true })
}
await b.close()
