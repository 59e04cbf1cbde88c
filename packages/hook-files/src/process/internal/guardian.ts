/**
 * Ends what commands started when their host is killed and cannot do it itself: a shell that waits until the host's end
 * of a pipe is closed, and then looks for the
 * host's mark in the environments of all processes. On Linux only; there it is while there are commands, and a second
 * longer.
 */
import * as Result from "effect/Result"
import { type ChildProcess, spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import type { Socket } from "node:net"
import { environment } from "./environment.ts"

const variable = "BELAY_HOOK_RUN"
const host = randomUUID()
let runs = 0

/** The variable that marks the processes of one command, wherever they go. */
export const mark = (): { readonly name: string; readonly value: string } => ({
  name: variable,
  value: `${host}-${++runs}`
})

/** What forks while it is killed leaves children: it looks more than once. */
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

/** There are commands. */
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
  // Somebody else may have ended it: the next command has one again.
  started?.once("close", () => {
    if (guardian === started) guardian = undefined
  })
  started?.on("error", () => {}).unref()
  started?.stdin?.on("error", () => {})
  ;(started?.stdin as Socket | null | undefined)?.unref()
}

/** There are none any more. */
export const rest = (): void => {
  idle = setTimeout(() => {
    guardian?.stdin?.end()
    guardian = undefined
  }, 1_000).unref()
}
