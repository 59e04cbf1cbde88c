// Writes the manifest of every package: what all packages have in common, and the `exports` from its source files: one
// flat entry a module, `internal` and `bin` folders stay private.
// `--check` only says whether they are up to date.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { complete } from "./manifests.mjs"

const check = process.argv.includes("--check")
/** Files below `internal` and `bin`; and in the parts of `hook-files` those whose names begin in lower case. */
const isPrivate = (path) =>
  /(^|\/)(internal|bin)\//.test(path) || /^(dialect|engine|system|discovery)\/(.*\/)?[a-z]\w*\.ts$/.test(path)
const modules = (folder) =>
  (existsSync(folder) ? readdirSync(folder, { recursive: true }) : [])
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".ts") && !isPrivate(path))
    .map((path) => path.slice(0, -3))

/** Every package that is published. */
const packages = readdirSync("packages").filter((name) => {
  const file = `packages/${name}/package.json`
  return existsSync(file) && JSON.parse(readFileSync(file, "utf8")).private !== true
})

let stale = 0
for (const name of packages) {
  const file = `packages/${name}/package.json`
  const before = readFileSync(file, "utf8")
  const manifest = complete(name, JSON.parse(before))
  const paths = modules(`packages/${name}/src`)
  const flat = (path) => path === "index" ? "." : `./${path.split("/").at(-1)}`
  for (const path of paths) {
    const twin = paths.find((other) => other !== path && flat(other) === flat(path))
    if (twin === undefined) continue
    console.error(`packages/${name}: ${path}.ts and ${twin}.ts would both be exported as ${flat(path)}`)
    process.exit(1)
  }
  const exported = Object.fromEntries(
    paths.map((
      path
    ) => [flat(path), {
      "@belay/source": `./src/${path}.ts`,
      types: `./dist/${path}.d.ts`,
      default: `./dist/${path}.js`
    }])
      .sort(([a], [b]) => a < b ? -1 : 1)
  )
  // For the other packages, see importAtOnce.mjs.
  const all = name === "core" ? { "./all": { types: "./dist/all.d.ts", default: "./dist/all.js" } } : {}
  if (paths.length > 0) manifest.exports = { ...exported, ...all, "./package.json": "./package.json" }
  const after = JSON.stringify(manifest, null, 2) + "\n"
  if (after === before) continue
  stale++
  if (check) console.error(`${file}: it is not what its sources say. Run: node scripts/exports.mjs`)
  else writeFileSync(file, after)
}
if (check && stale > 0) process.exit(1)
