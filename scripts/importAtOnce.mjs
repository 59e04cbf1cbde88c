// The packages that become one file import single exports of core from one file as well: `all.js` has every export of
// every public module of core, as `<module>_<export>`. A program would otherwise load a small file for each module.
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { posix } from "node:path"

const folder = "packages/core"

/** What the public modules of core export that consist of parts of `modules.js`, with the name that it has there. */
const exportsOf = () => {
  const { exports } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"))
  const found = new Map()
  for (const [key, { default: file }] of Object.entries(exports)) {
    if (key === "." || key === "./all" || file === undefined || !existsSync(`${folder}/${file}`)) continue
    const text = readFileSync(`${folder}/${file}`, "utf8")
    const [, list] = /^export \{ (.*) \} from "(?:\.\.?\/)+modules\.js";\s*$/.exec(text) ?? []
    if (list === undefined) continue
    found.set(key.slice(2), {
      file: posix.relative("dist", file),
      names: list.split(", ").map((one) => one.split(" as "))
    })
  }
  return found
}

/** Writes `all.js` and its types when core is built. */
export const writeAll = () => {
  const modules = [...exportsOf()]
  const code = modules.map(([module, { names }]) =>
    `export { ${names.map(([name, as = name]) => `${name} as ${module}_${as}`).join(", ")} } from "./modules.js"\n`
  )
  const types = modules.map(([module, { file, names }]) =>
    `export { ${names.map(([name, as = name]) => `${as} as ${module}_${as}`).join(", ")} } from "./${file}"\n`
  )
  writeFileSync(`${folder}/dist/all.js`, code.join(""))
  writeFileSync(`${folder}/dist/all.d.ts`, types.join(""))
}

/** A plugin of the build that imports from `all.js`. Nothing moves to another line, so the source map stays right. */
export const importAtOnce = () => {
  const modules = exportsOf()
  return {
    name: "import-at-once",
    renderChunk: (code) => ({
      code: code.replaceAll(/^import \{ (.*) \} from "@belay\/core\/(\w+)";$/gm, (line, list, module) => {
        if (!modules.has(module)) return line
        const names = list.split(", ").map((one) => one.split(" as "))
        return `import { ${
          names.map(([name, as = name]) => `${module}_${name} as ${as}`).join(", ")
        } } from "@belay/core/all";`
      }),
      map: null
    })
  }
}
