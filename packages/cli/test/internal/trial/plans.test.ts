/** What a trial makes of the flags, to the letter: its event, what scripts read, and the messages before it. */
import { builtIn } from "@belay/hook-files/Systems"
import * as Effect from "effect/Effect"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { type Facts, overOf, planOf } from "../../../src/internal/trial/occasions.ts"
import { told } from "../../../src/internal/trial/told.ts"
import * as Transcript from "../../../src/internal/trial/transcript.ts"

const occasions = [...new Set(builtIn.flatMap(({ guide }) => guide.events.map(({ occasion }) => occasion)))].toSorted()

/** Facts as the flags give them, little and much. */
const given: { readonly [what: string]: Omit<Facts, "event" | "occasion"> } = {
  "nothing": { input: {}, payload: {} },
  "a tool": { tool: "Read", input: { path: "a" }, output: { text: "b" }, error: "e", prompt: "p", payload: {} },
  "an output": { input: {}, output: "o", payload: {} },
  "a payload": {
    input: {},
    payload: {
      trigger: "manual",
      source: "resume",
      reason: "clear",
      stop_hook_active: true,
      last_assistant_message: "last",
      compact_summary: "summary",
      tool_name: "Write",
      toolArgs: {},
      tool_response: 1,
      error: "e",
      message: "m",
      other: 1
    }
  },
  "another payload": { input: {}, payload: { source: "compact", prompt_response: "response", stop_hook_active: 1 } }
}

const plain = (text: string, root: string) =>
  text.replaceAll(root, "ROOT")
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, "TIME")
    .replaceAll(/\b\d{13}\b/g, "0")
    .replaceAll(/"duration_ms":[\d.]+/g, "\"duration_ms\":0")
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "ID")

const folder = () => realpathSync(mkdtempSync(join(tmpdir(), "belay-cli-plans-")))
const same = (name: string, lines: ReadonlyArray<string>) =>
  expect(`${lines.join("\n")}\n`).toMatchFileSnapshot(`../../support/trial/${name}.txt`)

describe("a trial", () => {
  it("is this event for each occasion", async () => {
    const lines = occasions.flatMap((occasion) => [
      `# ${occasion}`,
      ...Object.entries(given).flatMap(([what, facts]) => {
        const all = { ...facts, event: "Event", occasion }
        return [`${what}: ${JSON.stringify(planOf(all))}`, `  ${JSON.stringify(overOf(all))}`]
      })
    ])
    await same("plans", lines)
  })

  it("has these messages before it", async () => {
    const lines: Array<string> = []
    for (const occasion of occasions) {
      for (const what of ["nothing", "a tool"]) {
        const root = folder()
        Transcript.write(root, [{ name: "one" }], { ...given[what]!, event: "Event", occasion }, "/project")
        lines.push(`# ${occasion}, ${what}`)
        for (const name of readdirSync(root, { recursive: true, encoding: "utf8" }).toSorted()) {
          if (name.endsWith(".jsonl")) lines.push(name, plain(readFileSync(join(root, name), "utf8"), root).trim())
        }
      }
    }
    await same("messages", lines)
  })

  it("tells the scripts of each system this", async () => {
    const lines: Array<string> = []
    for (const { dialect, guide } of builtIn) {
      if (["basecoat", "kodelet", "inkeep"].includes(dialect)) continue
      const root = folder()
      const places = { cwd: join(root, "project"), home: join(root, "home"), folder: root }
      for (const place of [places.cwd, places.home]) mkdirSync(place)
      lines.push(`# ${dialect}`)
      let before: { readonly [field: string]: unknown } = {}
      for (const { name: event, occasion } of guide.events) {
        const facts = { ...given["a tool"]!, event, occasion }
        const heard = await Effect.runPromise(told({ dialect, event }, planOf(facts), places))
        const now = Object.entries(heard ?? {})
        const known = before
        const other = now.filter(([name, value]) => JSON.stringify(known[name]) !== JSON.stringify(value))
        lines.push(
          `${event}: ${heard === undefined ? "nothing" : plain(JSON.stringify(Object.fromEntries(other)), root)}`
        )
        before = heard ?? {}
      }
      const none = await Effect.runPromise(
        told({ dialect, event: "Nothing" }, { point: "preStop", event: {}, depth: 0 }, places)
      )
      lines.push(`Nothing: ${JSON.stringify(none)}`)
    }
    await same("told", lines)
  })
})
