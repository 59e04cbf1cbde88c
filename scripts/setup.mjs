// Brings the workspace up to date with its lockfile before `npm start` and `npm test`, and with `--runtimes` the other
// runtimes too. Runs on Node 20, needs nothing installed.
import { spawnSync } from "node:child_process"
import { existsSync, statSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))

/** Installs what the lockfile of a folder pins, unless that is there. */
const install = (folder, what) => {
  const lockfile = `${folder}package-lock.json`
  const installed = `${folder}node_modules/.package-lock.json`
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lockfile).mtimeMs) return
  console.log(`belay: installing ${what} ...`)
  const npm = process.platform === "win32" ? "npm.cmd" : "npm"
  const { status, error } = spawnSync(npm, ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: folder,
    stdio: "inherit",
    shell: process.platform === "win32"
  })
  if (status !== 0) {
    console.error(
      `belay: npm ci failed${error ? ` (${error.message})` : ""}. Fix the cause above and run the command again.`
    )
    process.exit(status ?? 1)
  }
}

install(root, "what package-lock.json pins (about half a minute)")
if (process.argv.includes("--runtimes")) install(`${root}test/runtimes/`, "the runtimes of the long tests")
if (process.argv.includes("--peers")) install(`${root}test/peers/`, "the other SDKs of the long tests")
if (process.argv.includes("--cli")) install(`${root}test/cli/`, "the agents that are programs (about 1.4 GB)")
if (process.argv.includes("--site")) install(`${root}site/`, "the generator of the site")

const node = spawnSync(process.platform === "win32" ? "node.cmd" : `${root}node_modules/.bin/node`, ["--version"], {
  encoding: "utf8"
})
const major = Number(((node.stdout || "").trim() || process.version).slice(1).split(".")[0])
if (major < 22) {
  console.error(
    `belay: needs Node 22.22 or newer, found ${process.version}. Install optional dependencies (npm ci without --omit=optional) or a newer Node.`
  )
  process.exit(1)
}
