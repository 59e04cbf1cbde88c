/**
 * Ends the processes of commands when the host is killed. It is a shell that waits until the host's end of a pipe is
 * closed, and then finds the processes by the mark of the host in their environment. It exists on Linux only, from the
 * first command until a second after the last one.
 */
import * as Result from "effect/Result"
import { type ChildProcess, spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import type { Writable } from "node:stream"
import { environment } from "./environment.ts"

const variable = "BELAY_HOOK_RUN"
const host = randomUUID()
let runs = 0

/** The variable that marks the processes of one command, wherever they go. */
export const mark = (): { readonly name: string; readonly value: string } => ({
  name: variable,
  value: `${host}-${++runs}`
})

/** A process that forks while it is killed leaves children, so the guardian looks several times. */
const script = `while read -r _; do :; done
for round in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  left=
  for file in $(grep -lsz "^${variable}=$1-" /proc/[0-9]*/environ); do
    pid=\${file#/proc/}
    kill -KILL "\${pid%/environ}" && left=1
  done
  [ -n "$left" ] || exit 0
  sleep 0.05
done`

let guardian: ChildProcess | undefined
let idle: NodeJS.Timeout | undefined

/** Called when the first command starts. */
export const wake = (): void => {
  clearTimeout(idle)
  if (guardian !== undefined || process.platform !== "linux") return
  const started = Result.getOrUndefined(Result.try(() =>
    spawn("/bin/sh", ["-c", script, "belay-guardian", host], {
      cwd: "/",
      env: environment([], {}),
      detached: true,
      stdio: ["pipe", "ignore", "ignore"]
    })
  ))
  guardian = started
  // If something else ended the guardian, the next command starts a new one.
  started?.once("close", () => {
    if (guardian === started) guardian = undefined
  })
  started?.on("error", () => {})
  // Deno throws if there is no process.
  if (started?.pid !== undefined) started.unref()
  const stdin = started?.stdin as (Writable & { readonly unref?: () => void }) | null | undefined
  stdin?.on("error", () => {})
  // On Bun it keeps nothing alive, and has no `unref`.
  stdin?.unref?.()
}

/** Called when the last command has ended. */
export const rest = (): void => {
  idle = setTimeout(() => {
    guardian?.stdin?.end()
    guardian = undefined
  }, 1_000).unref()
}
