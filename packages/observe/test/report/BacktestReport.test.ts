/** The page of a backtest, in a real browser. */
import * as BacktestReport from "@belay/observe/BacktestReport"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Browser, Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openBrowser } from "../../../../test/support/browser.ts"

const finding = (step: number, fields: Partial<BacktestReport.Finding> = {}): BacktestReport.Finding => ({
  session: "s1",
  turn: 1,
  step,
  point: "preToolCall",
  subject: "bash",
  agent: "lead",
  answer: "Reject",
  by: "no-force",
  reason: `no --force in step ${step}`,
  recorded: "Continue",
  kind: "stricter",
  ...fields
})

const findings = [
  ...Array.from({ length: 4 }, (_, step) => finding(step)),
  finding(5, { kind: "looser", by: "no-rm", answer: "Continue", recorded: "Reject", reason: "" }),
  finding(6, { reason: "<img src=x onerror=\"document.title='broken'\"> AKIAIOSFODNN7EXAMPLE" })
]
const result: BacktestReport.Result = {
  sessions: 2,
  inputs: 40,
  findings,
  counts: { stricter: 5, looser: 1, changes: 0, same: 0, fails: 0 },
  stricterShare: 0.125,
  unmet: [{ expectation: { session: "s1", step: 9, expect: "Reject" }, found: ["Continue"] }]
}

describe("the page of a backtest", () => {
  let browser: Browser
  beforeAll(async () => void (browser = await openBrowser()))
  afterAll(() => browser.close())

  /** Opens a page that must not load anything and must not have an error. */
  const open = async (html: string, use: (page: Page) => Promise<void>, options = {}) => {
    const path = join(mkdtempSync(join(tmpdir(), "belay-backtest-")), "report.html")
    writeFileSync(path, html)
    const page = await (await browser.newContext(options)).newPage()
    const problems: Array<string> = []
    page.on("pageerror", ({ message }) => problems.push(message))
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()))
    page.on("request", (request) => /^(file|data):/.test(request.url()) || problems.push(request.url()))
    await page.goto(`file://${path}`)
    await use(page)
    await page.context().close()
    assert.deepStrictEqual(problems, [])
  }

  it("shows counts, the hooks and each finding with its reason, and hides what is a secret", () =>
    open(BacktestReport.render(result, { title: "Guard" }), async (page) => {
      assert.strictEqual(await page.title(), "Guard")
      const text = await page.locator("main").innerText()
      assert.include(text, "12.5% would be stopped now")
      assert.include(text, "Would be stopped now, and were not (5)")
      assert.include(text, "Were stopped by a hook of the same name, and would not be now (1)")
      assert.match(text, /no-force\s+preToolCall\s+bash\s+0\s+5\s+0\s+0\s+0/)
      assert.include(text, "no --force in step 3")
      assert.include(text, "<img src=x")
      assert.notInclude(text, "AKIAIOSFODNN7EXAMPLE")
      assert.match(text, /Expectations that do not hold \(1\)[^]*"step":9[^]*Continue/)
    }))

  it("can be searched with the keyboard, and shows no more findings than asked for", () =>
    open(BacktestReport.render(result, { shown: 3 }), async (page) => {
      assert.include(await page.locator("main").innerText(), "2 more are not shown")
      await page.keyboard.press("/")
      await page.keyboard.type("step 2")
      assert.strictEqual(await page.locator("#count").innerText(), "1 of 4 shown")
      assert.strictEqual(await page.locator("tbody.findings tr:visible").count(), 1)
    }))

  it("fits a phone, and is readable in the dark", () =>
    open(BacktestReport.render(result), async (page) => {
      const [width, scroll, color] = await page.evaluate<[number, number, string]>(
        "[innerWidth, document.documentElement.scrollWidth, getComputedStyle(document.body).backgroundColor]"
      )
      assert.isAtMost(scroll, width)
      assert.strictEqual(color, "rgb(13, 17, 23)")
    }, { viewport: { width: 390, height: 800 }, colorScheme: "dark" }))

  it("says so if there is nothing to show", () =>
    open(
      BacktestReport.render({
        ...result,
        findings: [],
        unmet: [],
        counts: { stricter: 0, looser: 0, changes: 0, same: 0, fails: 0 },
        stricterShare: 0
      }),
      async (page) =>
        assert.include(await page.locator("main").innerText(), "The hooks would have stopped and changed nothing.")
    ))
})
