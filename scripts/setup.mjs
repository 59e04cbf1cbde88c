// Brings the workspace up to date with its lockfile before `npm start` and `npm test`. Runs on Node 20, needs nothing
// installed.
import { spawnSync } from "node:child_process"
import { existsSync, statSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const lockfile = `${root}package-lock.json`
const installed = `${root}node_modules/.package-lock.json`

const upToDate = existsSync(installed) && statSync(installed).mtimeMs >= statSync(lockfile).mtimeMs
if (!upToDate) {
  console.log("belay: first run, installing what package-lock.json pins (about half a minute) ...")
  const npm = process.platform === "win32" ? "npm.cmd" : "npm"
  const { status, error } = spawnSync(npm, ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: root,
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
