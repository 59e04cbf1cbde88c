// Runs every check, two at a time: one line each, the output of those that failed, and the sum in the last line.
import { spawn } from "node:child_process"
import { stripVTControlCharacters } from "node:util"

const checks = [
  ["pack", "pack:check"],
  ["types", "types"],
  ["lint", "lint"],
  ["format", "format:check"],
  ["diagnostics", "diagnostics"],
  ["exports", "exports", "--", "--check"],
  ["unused code", "knip"]
]

const run = ([name, ...script]) =>
  new Promise((resolve) => {
    const started = performance.now()
    const child = spawn("npm", ["run", "--silent", ...script], {
      env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: undefined },
      shell: process.platform === "win32",
      stdio: ["ignore", "pipe", "pipe"]
    })
    let output = ""
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => output += data)
    child.on("close", (status) => {
      const seconds = ((performance.now() - started) / 1000).toFixed(1)
      console.log(`${name.padEnd(12)} ${status === 0 ? "ok    " : "failed"} ${seconds.padStart(6)} s`)
      resolve({ name, ok: status === 0, output })
    })
  })

const waiting = [...checks]
const results = []
const worker = async () => {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) results.push(await run(next))
}
await Promise.all([worker(), worker()])

const failed = results.filter(({ ok }) => !ok)
for (const { name, output } of failed) console.log(`\n--- ${name}\n${stripVTControlCharacters(output).trim()}`)
console.log(`\n${results.length - failed.length} passed, ${failed.length} failed`)
process.exit(failed.length === 0 ? 0 : 1)
