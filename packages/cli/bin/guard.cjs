// Starts `belay guard run` of an installed package: one file, with the code that V8 has compiled before. It runs for
// every tool call of an agent, so it loads nothing else.
"use strict"
const { closeSync, existsSync, fstatSync, mkdirSync, openSync, readSync, renameSync, writeFileSync } = require("node:fs")
const os = require("node:os")
const path = require("node:path")
const { Script, constants } = require("node:vm")

// Standard error is the reason of a refusal.
process.removeAllListeners("warning")

// A call is over before it pays to compile what it runs often. These numbers are higher than usual, so code that runs
// for long is still compiled. Other versions of V8 may have other options.
if (process.versions.v8.startsWith("13.6.")) {
  const { setFlagsFromString } = require("node:v8")
  setFlagsFromString("--invocation-count-for-maglev=8000")
  setFlagsFromString("--invocation-count-for-maglev-osr=2000")
  setFlagsFromString("--baseline-batch-compilation-threshold=65536")
  setFlagsFromString("--no-parallel-scavenge")
}

const filename = path.join(__dirname, "..", "dist", "guard", "run.cjs")
const home = os.homedir()

// Node would try for ever to make folders below a home folder that takes none, for example because its disk in the
// network is not there.
const made = (folder) => {
  for (const one of [path.dirname(folder), folder]) {
    try {
      mkdirSync(one, { mode: 0o700 })
    } catch {
      if (!existsSync(one)) return undefined
    }
  }
  return folder
}

// Where there is no home folder, nothing is kept.
const folder = process.env["NODE_COMPILE_CACHE"] ||
  (path.isAbsolute(home) ? made(path.join(home, ".belay", "cache")) : undefined)

// What is kept begins with how often it was written: each time, it has the functions of one more kind of call.
const head = 8
const times = 12

// Both files are read into the same memory: what was not used before costs more than reading.
let memory = Buffer.allocUnsafeSlow(1_600_000)

const read = (file) => {
  const opened = openSync(file, "r")
  try {
    const { size } = fstatSync(opened)
    if (size > memory.length) memory = Buffer.allocUnsafeSlow(size)
    let at = 0
    for (let more = 1; more > 0; at += more) more = readSync(opened, memory, at, size - at, null)
    return memory.subarray(0, at)
  } finally {
    closeSync(opened)
  }
}

const readKept = (file) => {
  try {
    return read(file)
  } catch {
    return undefined
  }
}

try {
  const source = read(filename).latin1Slice()
  // The first line is a comment with a hash of the rest.
  const id = source.slice(2, 18)
  const name = `guard-${id}-${process.version}-${process.arch}.bin`
  const cache = folder === undefined ? undefined : path.join(folder, name)
  const kept = cache === undefined ? undefined : readKept(cache)
  const cachedData = kept === undefined || kept.length <= head ? undefined : kept.subarray(head)
  const script = new Script(source, {
    filename,
    cachedData,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
  })
  const written = cachedData === undefined || script.cachedDataRejected === true ? 0 : kept[0]
  memory = undefined
  // V8 compiles functions when they are called first, so what is kept is written at the end.
  const finish = () => {
    if (cache === undefined || written >= times) return
    try {
      const temporary = `${cache}.${process.pid}`
      const start = Buffer.alloc(head)
      start[0] = written + 1
      writeFileSync(temporary, Buffer.concat([start, script.createCachedData()]), { mode: 0o600 })
      renameSync(temporary, cache)
    } catch {
      // Where nothing can be kept, everything is compiled again.
    }
  }
  // A config in TypeScript is compiled too.
  if (folder !== undefined) require("node:module").enableCompileCache(folder)
  const loaded = { exports: {} }
  // Effect reads the stack of an error at its start, to choose between two functions that do the same. V8 would look
  // for all ends of lines first.
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  script.runInThisContext()(loaded.exports, require, loaded)
  Error.stackTraceLimit = stackTraceLimit
  loaded.exports.command(process.argv.slice(2), finish)
} catch (error) {
  process.stderr.write(`belay guard: it cannot be started: ${error && error.message}\n`)
  process.exit(2)
}
