// Loaded first in every Node process that a test starts, see bundledModules.ts.
"use strict"
if (process.execArgv.includes("--conditions=@belay/source")) {
  const map = JSON.parse(require("node:fs").readFileSync(process.env.BELAY_TEST_MODULES, "utf8"))
  require("node:module").registerHooks({
    resolve: (specifier, context, next) => {
      const found = next(specifier, context)
      const instead = map[found.url]
      return instead === undefined ? found : { ...found, format: "module", url: instead }
    }
  })
}
