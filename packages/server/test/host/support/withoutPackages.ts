/** Runs a program for which some packages are not installed. */
import { spawnSync } from "node:child_process"

/** Returns what the program prints. */
export const withoutPackages = (packages: ReadonlyArray<string>, program: string): string => {
  const hooks = `import { registerHooks } from "node:module"
    registerHooks({ resolve: (specifier, context, next) => {
      if (!${JSON.stringify(packages)}.some((name) => specifier.startsWith(name))) return next(specifier, context)
      throw Object.assign(new Error("Cannot find package " + specifier), { code: "ERR_MODULE_NOT_FOUND" })
    } })`
  const { stderr, stdout } = spawnSync(process.execPath, [
    "--conditions=@belay/source",
    "--import",
    `data:text/javascript,${encodeURIComponent(hooks)}`,
    "--input-type=module",
    "--eval",
    program
  ], { encoding: "utf8" })
  return `${stdout}${stderr}`.trim()
}
