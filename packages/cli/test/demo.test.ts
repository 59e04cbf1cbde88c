/** `belay demo`, which is also `npm start`: as a process, as a newcomer runs it. */
import * as Endpoint from "@belay/testing/Endpoint"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"
import { run } from "./belay.ts"

/** What the test reads of the data of a report. */
interface ReportData {
  readonly totals: { readonly cost: string; readonly unpriced: number }
  readonly rows: ReadonlyArray<{
    readonly kind: string
    readonly title: string
    readonly state: string
    readonly decisions: ReadonlyArray<readonly [hook: string, point: string]>
  }>
}

const bin = fileURLToPath(new URL("../src/bin/belay.ts", import.meta.url))
const newFolder = () => join(mkdtempSync(join(tmpdir(), "belay-demo-")), "demo")
const noKeys = { OPENAI_API_KEY: "", OPENAI_BASE_URL: "", OPENAI_MODEL: "", NO_COLOR: "1" }

const demo = (args: ReadonlyArray<string>, env: NodeJS.ProcessEnv = {}) =>
  run(process.execPath, ["--conditions=@belay/source", bin, "demo", ...args], "", { ...noKeys, ...env })

describe("belay demo", () => {
  it("shows, without a key and a network, what hooks stop and change, and ends with its report", async () => {
    const folder = newFolder()
    const { code, stderr, stdout } = await demo(["--folder", folder, "--approve", "allow"])
    assert.strictEqual(stderr, "")
    assert.strictEqual(code, 0)
    assert.match(stdout, /an endpoint on this machine: no key, no network/)
    assert.match(stdout, /primary Overloaded: backup answers instead/)
    assert.match(stdout, /secrets: a key \(aws-key\) was removed from the result of a tool/)
    assert.match(
      stdout,
      /refused by data-flow: .*"collector@evil\.example" stands only in the result of Read "2026-10-invoice\.txt" \(step 3\)/
    )
    assert.match(stdout, /✗ bash git push --force origin main\n +refused by claude: pushing is for people/)
    assert.match(stdout, /✓ delete_files \.tmp {2}\$0\.\d+ of \$0\.05/)
    assert.match(stdout, /✓ send_mail ada@example\.com/)
    assert.match(stdout, /clerk {2}I deleted two \.tmp files\./)
    assert.notInclude(stdout, "Continue")
    assert.include(stdout, `report ${join(folder, "report.html")}`)
    assert.notInclude(readdirSync(join(folder, "invoices")).join(), ".tmp")
    const report = readFileSync(join(folder, "report.html"), "utf8")
    assert.include(report, "collector@evil.example")
    assert.notInclude(report, "AKIAIOSFODNN7EXAMPLE")
  })

  it("ends with a report that has the cost that was printed, the redaction, and only what was really changed", async () => {
    const folder = newFolder()
    const { stdout } = await demo(["--folder", folder, "--approve", "allow"])
    const [, json = "{}"] = /page\(document, (\{.*\})\)\n/.exec(readFileSync(join(folder, "report.html"), "utf8")) ?? []
    const { rows, totals }: ReportData = JSON.parse(json)
    const [, printed = "?"] = /completed in .*, (\$[\d.]+) of/.exec(stdout) ?? []
    assert.strictEqual(totals.cost, printed)
    assert.strictEqual(totals.unpriced, 0)
    const changed = rows.filter(({ decisions }) => decisions.length > 0)
      .map(({ decisions, title }) => `${title}: ${decisions.map(([hook, point]) => `${hook} at ${point}`).join()}`)
    assert.deepStrictEqual(changed, [
      "Read: secrets at wrapToolCall",
      "send_mail: data-flow at preToolCall",
      "bash: claude at preToolCall",
      "delete_files: human-approval at preToolCall"
    ])
    assert.isEmpty(rows.filter(({ kind, state }) => kind === "model" && state === "changed"))
  })

  it("continues at its question after kill -9, in another process", async () => {
    const folder = newFolder()
    const program = fileURLToPath(new URL("support/demo.ts", import.meta.url))
    const child = spawn(process.execPath, ["--conditions=@belay/source", program, folder], {
      env: { ...process.env, ...noKeys }
    })
    let shown = ""
    child.stdout.on("data", (data) => shown += String(data))
    while (!shown.includes("[d]eny")) await once(child.stdout, "data")
    assert.include(shown, `kill -9 ${child.pid}`)
    child.kill("SIGKILL")
    await once(child, "exit")
    const { code, stdout } = await demo(["--folder", folder, "--approve", "allow"])
    assert.strictEqual(code, 0)
    assert.include(stdout, "The last run ended in the middle. It continues there.")
    assert.notInclude(stdout, "Glob")
    assert.match(stdout, /✓ delete_files/)
    assert.match(stdout, /completed in/)
    const report = readFileSync(join(folder, "report.html"), "utf8")
    for (const text of ["Glob", "delete_files"]) assert.include(report, text)
    const again = await demo(["--folder", folder, "--approve", "deny"])
    assert.include(again.stdout, "Glob")
  })

  it("has a folder of its own when others run beside it", async () => {
    const env = { TMPDIR: mkdtempSync(join(tmpdir(), "belay-demo-")) }
    const all = await Promise.all([1, 2, 3].map(() => demo([], env)))
    for (const { code, stdout } of all) assert.strictEqual(code, 0, stdout)
    const reports = all.map(({ stdout }) => /report (.*)/.exec(stdout)?.[1])
    assert.sameMembers(
      reports,
      ["belay-demo", "belay-demo-2", "belay-demo-3"].map((name) => join(env.TMPDIR, name, "report.html"))
    )
  })

  it("denies what needs a person if there is none, says why, and continues", async () => {
    const { code, stdout } = await demo(["--folder", newFolder()])
    assert.strictEqual(code, 0)
    assert.match(stdout, /✗ delete_files \.tmp\n +refused by .*nobody is at a terminal/)
    assert.match(stdout, /I did not delete the \.tmp files/)
  })

  it("shows every decision with -v", async () => {
    const { stdout } = await demo(["--folder", newFolder(), "--approve", "allow", "-v"])
    assert.match(stdout, /cost-tracker: Continue at preLlmCall/)
    assert.match(stdout, /→ model backup demo-small/)
  })

  it("uses the endpoint and the key of the environment, and says in a line what is wrong with them", async () => {
    await using endpoint = await Endpoint.start({ apiKey: "test-right-key" })
    const env = { OPENAI_BASE_URL: endpoint.url, OPENAI_MODEL: "demo-small" }
    const good = await demo(["--folder", newFolder(), "--prompt", "Say hello"], {
      ...env,
      OPENAI_API_KEY: "test-right-key"
    })
    assert.strictEqual(good.code, 0)
    assert.include(good.stdout, endpoint.url)
    const wrong = await demo(["--folder", newFolder()], { ...env, OPENAI_API_KEY: "test-wrong-key" })
    assert.strictEqual(wrong.code, 1)
    assert.match(wrong.stdout, /error {2}Auth: .*set OPENAI_API_KEY/)
    assert.notInclude(wrong.stdout, "test-wrong-key")
    await endpoint.close()
    const away = await demo(["--folder", newFolder()], env)
    assert.match(away.stdout, /error {2}Connection: .*is something listening at http/)
  })

  it("stops at the budget", async () => {
    const { code, stdout } = await demo(["--folder", newFolder(), "--budget", "0.0001", "--approve", "allow"])
    assert.strictEqual(code, 1)
    assert.match(stdout, /error {2}HookRejected: cost-tracker rejected preLlmCall: .*limit/)
  })

  it("leaves a folder alone that it has not made, and refuses wrong options", async () => {
    const folder = newFolder()
    mkdirSync(folder)
    writeFileSync(join(folder, "mine.txt"), "precious")
    const taken = await demo(["--folder", folder])
    assert.strictEqual(taken.code, 1)
    assert.include(taken.stderr, "choose another with --folder")
    assert.strictEqual(readFileSync(join(folder, "mine.txt"), "utf8"), "precious")
    for (const args of [["--bogus"], ["--approve", "maybe"], ["--budget", "nothing"], ["--budget", "0"]]) {
      assert.strictEqual((await demo(args)).code, 2, args.join(" "))
    }
  })
})
