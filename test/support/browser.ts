/** A real browser for tests: Chromium from its npm package, or from the system where that package has none. */
import chromium from "@sparticuz/chromium"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
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

/** Unpacks the package, once for all test files of a run: one that is only half unpacked must not be started. */
const unpacked = async (): Promise<string> => {
  const [folder, ready] = [join(tmpdir(), "chromium-unpacking"), join(tmpdir(), "chromium-ready")]
  const isFirst = !existsSync(folder) && mkdirSync(folder, { recursive: true }) !== undefined
  if (isFirst) {
    await chromium.executablePath()
    writeFileSync(ready, "")
  }
  while (!existsSync(ready)) await new Promise((resolve) => void setTimeout(resolve, 20))
  return chromium.executablePath()
}

export const openBrowser = async (): Promise<Browser> => {
  const fromPackage = process.platform === "linux" && process.arch === "x64"
  const executablePath = fromPackage ? await unpacked() : installed.find((path) => existsSync(path))
  if (executablePath === undefined) throw new Error(`no Chromium: install one of ${installed.join(", ")}`)
  return playwright.launch({ executablePath, args, headless: true })
}
