/** Runs a program in a pseudo-terminal, which `script` of util-linux makes. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** Starts a program. `type` presses keys, and `until` waits for a text and forgets what was shown up to it. */
export const inTerminal = (command: ReadonlyArray<string>, env: NodeJS.ProcessEnv, cwd: string) => {
  const log = join(mkdtempSync(join(tmpdir(), "belay-terminal-")), "log")
  // A shell that stays would get Ctrl-C too, and would end with its own code.
  const child = spawn("script", ["-qefc", `exec ${command.map(quoted).join(" ")}`, log], {
    cwd,
    env: { ...process.env, ...env, TERM: "xterm" }
  })
  let shown = ""
  let seen = 0
  child.stdout.on("data", (data) => shown += String(data))
  const ended = once(child, "exit").then(([code]) => code as number | null)
  return {
    type: (keys: string) => void child.stdin.write(keys),
    until: async (text: string) => {
      for (;;) {
        const at = shown.indexOf(text, seen)
        if (at >= 0) {
          seen = at + text.length
          return
        }
        if (child.exitCode !== null) throw new Error(`the program has ended without ${JSON.stringify(text)}: ${shown}`)
        await Promise.race([once(child.stdout, "data"), ended])
      }
    },
    shown: () => shown,
    ended
  }
}
