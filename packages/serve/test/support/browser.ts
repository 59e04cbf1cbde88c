/** A browser for tests, and pages that are bundled for it. */
import chromium from "@sparticuz/chromium"
import { fileURLToPath } from "node:url"
import { type Browser, chromium as launcher } from "playwright-core"
import { rolldown } from "rolldown"

export const openBrowser = async (): Promise<Browser> =>
  launcher.launch({
    executablePath: await chromium.executablePath(),
    // With a single process, the browser ends when a page is closed.
    args: chromium.args.filter((arg) => arg !== "--single-process" && arg !== "--no-zygote"),
    headless: true
  })

/** Bundles a module of this folder as one script. */
export const bundle = async (name: string): Promise<string> => {
  const input = fileURLToPath(new URL(name, import.meta.url))
  const built = await rolldown({
    input,
    logLevel: "silent",
    platform: "browser",
    transform: { define: { "process.env.NODE_ENV": "\"production\"" } }
  })
  const { output } = await built.generate({ format: "esm", minify: false })
  return output[0].code
}
