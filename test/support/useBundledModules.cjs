// Loaded first in every Node process that a test starts, see bundledModules.ts.
"use strict"
const condition = "--conditions=@belay/source"
if (process.execArgv.includes(condition) || process.env.NODE_OPTIONS?.endsWith(condition)) {
  const { BELAY_TEST_MODULES: file } = process.env
  const map = JSON.parse(require("node:fs").readFileSync(file, "utf8"))
  const { enableCompileCache, registerHooks } = require("node:module")
  // Compiling them again would be a quarter of the CPU of a start.
  enableCompileCache(require("node:path").join(file, "..", "compiled"))
  registerHooks({
    resolve: (specifier, context, next) => {
      const found = next(specifier, context)
      const instead = map[found.url]
      return instead === undefined ? found : { ...found, format: "module", url: instead }
    }
  })
}
