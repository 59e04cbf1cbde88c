/** The program of the page "Guard the agent you have", as a reader would run it. */
import { assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const execute = promisify(execFile)
const root = fileURLToPath(new URL("../../..", import.meta.url))

describe("the page about the guard of other agents", () => {
  it("leads in one program to a mail that is not sent without a person", async () => {
    const page = readFileSync(`${root}docs/guard.md`, "utf8")
    const [, program] = /```ts file=guarded-agent\.ts\n([\s\S]*?)```/.exec(page) ?? []
    assert.isDefined(program)
    const sends = program!.replace(
      "execute: ({ to }) => `sent",
      "execute: ({ to }) => (console.log(`SENT ${to}`), to) && `sent"
    )
    assert.include(sends, "SENT")
    const args = ["--conditions=@belay/source", "--input-type=module-typescript", "-e", sends]
    const { stdout } = await execute(process.execPath, args, { cwd: root })
    assert.strictEqual(stdout, "send_mail has to be approved\n")
  })
})
