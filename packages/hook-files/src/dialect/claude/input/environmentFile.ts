/** Reads the environment variables that scripts export for later commands of the agent. */
import { makeFolder } from "@belay/core/Folder"
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { read } from "../../../internal/files.ts"
import { loads } from "../../../internal/projectVariables.ts"
import type { EventName } from "../event/events.ts"

/** The environment variables that the scripts of a session exported. */
export const environment: HookState.StateKey<{ readonly [name: string]: string }> = HookState.key(
  "claude/environment",
  Schema.Record(Schema.String, Schema.String),
  {}
)

const events: ReadonlyArray<EventName> = ["SessionStart", "Setup", "CwdChanged", "FileChanged"]

/**
 * Returns the path of the file to which scripts write their exports, and creates the file. Returns undefined if the
 * event has no such file.
 */
export const fileFor = (event: EventName, transcript: string | undefined): string | undefined => {
  if (transcript === undefined || !events.includes(event)) return undefined
  const path = transcript.replace(/\.jsonl$/, ".env")
  const made = Result.try(() => {
    makeFolder(dirname(path), 0o700)
    writeFileSync(path, "", { mode: 0o600, flag: "a" })
  })
  return Result.isSuccess(made) ? path : undefined
}

/**
 * Reads the file and adds its variables to the state of the session. Only lines of the form `export NAME=value` count.
 */
export const take = (path: string, ctx: HookContext): void => {
  const content = read(path, 262_144)
  if (content === "absent" || "problem" in content) return
  const found = content.bytes.toString("utf8").split("\n").flatMap((line) => {
    const [, name, value] = /^\s*export\s+([A-Za-z_]\w{0,127})=(.*?)\s*$/.exec(line) ?? []
    return name === undefined || loads.test(name) ? [] : [[name, plain(value!)] as const]
  })
  if (found.length > 0) ctx.state.update(environment, (all) => ({ ...all, ...Object.fromEntries(found) }))
}

const plain = (value: string): string => /^"(.*)"$/s.exec(value)?.[1] ?? /^'(.*)'$/s.exec(value)?.[1] ?? value
