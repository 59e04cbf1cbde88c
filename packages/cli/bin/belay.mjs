#!/usr/bin/env node
// Starts the command line: what was built where the package is installed, and else the sources with the workspace's own
// Node.
const { existsSync } = process.getBuiltinModule("node:fs")
const at = (path) => process.getBuiltinModule("node:url").fileURLToPath(new URL(path, import.meta.url))
const isHelp = process.argv.slice(4).some((word) => word === "--help" || word === "-h")
const isGuard = process.argv[2] === "guard" && process.argv[3] === "run" && !isHelp
// Only the workspace has this file.
const isWorkspace = existsSync(at("../tsconfig.build.json"))

if (process.argv.length === 3 && process.argv[2] === "--version") {
  // Nothing has to be loaded for that.
  const { version } = JSON.parse(process.getBuiltinModule("node:fs").readFileSync(at("../package.json"), "utf8"))
  console.log(`belay v${version}`)
} else if (isGuard && !isWorkspace) {
  // An agent waits for this at every tool call, so nothing else is loaded.
  process.getBuiltinModule("node:module").createRequire(import.meta.url)("./guard.cjs")
} else {
  const [{ spawn }, module, os, path] = await Promise.all([
    import("node:child_process"),
    import("node:module"),
    import("node:os"),
    import("node:path")
  ])
  const windows = process.platform === "win32"
  // What Node has compiled once it need not compile again. Where it cannot be kept, nothing is.
  const cache = process.env["NODE_COMPILE_CACHE"] ?? path.join(os.homedir(), ".belay", "cache")
  if (isWorkspace) {
    const own = at(`../../../node_modules/.bin/node${windows ? ".cmd" : ""}`)
    const node = existsSync(own) ? own : process.execPath
    const entry = at(isGuard ? "../src/bin/guard.ts" : "../src/bin/belay.ts")
    const child = spawn(node, ["--conditions=@belay/source", entry, ...process.argv.slice(2)], {
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
}
