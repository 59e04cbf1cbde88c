/** A real browser for tests: Chromium from its npm package, or from the system where that package has none. */
import chromium from "@sparticuz/chromium"
import { existsSync } from "node:fs"
import { type Browser, chromium as playwright } from "playwright-core"

const installed = [
  "/usr/bin/chromium",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
]

/** It connects to nothing by itself. */
const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync"
]

export const openBrowser = async (): Promise<Browser> => {
  const fromPackage = process.platform === "linux" && process.arch === "x64"
  const executablePath = fromPackage ? await chromium.executablePath() : installed.find((path) => existsSync(path))
  if (executablePath === undefined) throw new Error(`no Chromium: install one of ${installed.join(", ")}`)
  return playwright.launch({ executablePath, args, headless: true })
}
