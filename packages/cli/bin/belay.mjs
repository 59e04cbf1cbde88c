#!/usr/bin/env node
// Starts the command line: what was built where the package is installed, the sources with the workspace's own Node where it is not.
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import * as module from "node:module"
import { homedir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const windows = process.platform === "win32"
// What Node has compiled once it need not compile again. Where it cannot be kept, nothing is.
const cache = process.env["NODE_COMPILE_CACHE"] ?? join(homedir(), ".belay", "cache")

const isGuard = process.argv[2] === "guard" && process.argv[3] === "run"
const entry = isGuard ? "../src/bin/guard.ts" : "../src/bin/belay.ts"

// Only the workspace has this file.
if (isGuard && existsSync(at("../dist/guard/run.cjs"))) {
  // An agent waits for this at every tool call.
  module.createRequire(import.meta.url)("./guard.cjs")
} else if (existsSync(at("../tsconfig.build.json"))) {
  const own = at(`../../../node_modules/.bin/node${windows ? ".cmd" : ""}`)
  const node = existsSync(own) ? own : process.execPath
  const child = spawn(node, ["--conditions=@belay/source", at(entry), ...process.argv.slice(2)], {
    stdio: "inherit",
    env: { ...process.env, NODE_COMPILE_CACHE: cache },
    shell: windows
  })
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal))
  child.on("error", (error) => {
    console.error(`belay: ${node} cannot be started: ${error.message}`)
    process.exitCode = 1
  })
  child.on("exit", (code) => process.exit(code ?? 1))
} else {
  const [major, minor] = process.versions.node.split(".").map(Number)
  if (major < 22 || (major === 22 && minor < 22)) {
    console.error(`belay: needs Node 22.22 or newer, found ${process.version}`)
    process.exit(1)
  }
  module.enableCompileCache(cache)
  await import("../dist/bin/belay.js")
}
