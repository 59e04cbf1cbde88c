/**
 * What importing the entry of each package costs, against importing `openai`: CPU time and modules, in a fresh process
 * each, on the built packages.
 */
import { spawnSync } from "node:child_process"

const probe = `
const { registerHooks } = await import("node:module")
let modules = 0
registerHooks({ load: (url, context, next) => { modules++; return next(url, context) } })
const before = process.cpuUsage()
await Promise.all(process.argv.slice(1).map((entry) => import(entry)))
const { user, system } = process.cpuUsage(before)
console.log(JSON.stringify({ ms: (user + system) / 1000, modules }))
`

/** The imports of the agent in the README, without zod. */
const threeLines = "@belay/core @belay/hooks @belay/providers"

const entries = [
  "openai",
  "effect/Effect",
  "@belay/core",
  "@belay/hooks",
  "@belay/providers",
  "@belay/testing",
  "ai",
  threeLines
]

export const imports = (): Promise<string> => {
  // What a user imports is built; types are not stripped at every start.
  const { status } = spawnSync(process.execPath, ["scripts/build.mjs"], { stdio: "ignore" })
  if (status !== 0) throw new Error("the packages do not build: run npm run build")
  const rows = entries.map((entry) => {
    const runs = Array.from({ length: 7 }, () => {
      const { stderr, stdout } = spawnSync(
        process.execPath,
        ["--input-type=module", "-e", probe, ...entry.split(" ")],
        {
          encoding: "utf8"
        }
      )
      if (stdout === "") throw new Error(stderr)
      return JSON.parse(stdout) as { readonly ms: number; readonly modules: number }
    })
    const [best] = runs.sort((a, b) => a.ms - b.ms)
    return { entry, ...best! }
  })
  const base = rows[0]!.ms
  return Promise.resolve([
    "| entry | CPU ms | ratio | modules |",
    "|---|--:|--:|--:|",
    ...rows.map(({ entry, modules, ms }) => `| ${entry} | ${ms.toFixed(0)} | ${(ms / base).toFixed(2)} | ${modules} |`),
    ""
  ].join("\n"))
}
