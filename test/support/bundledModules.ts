/**
 * Programs that tests start would load a thousand small files each, which takes longer than all they do. So a run of
 * the tests makes a few large modules of the packages and Effect, and `useBundledModules.cjs` puts them in place of the
 * sources in every Node process that is started with `--conditions=@belay/source`.
 */
import { createHash } from "node:crypto"
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { type OutputChunk, rolldown } from "rolldown"

const root = fileURLToPath(new URL("../..", import.meta.url))

const filesOf = (...patterns: ReadonlyArray<string>) =>
  globSync([...patterns], { cwd: root }).map((file) => join(root, file)).sort()

interface Exports {
  readonly [path: string]: null | string | Exports
}

const sourcesOf = (exports: Exports): ReadonlyArray<string> =>
  Object.entries(exports).flatMap(([condition, target]) =>
    target === null || typeof target !== "object"
      ? condition === "@belay/source" && target !== null && target.endsWith(".ts") ? [target] : []
      : sourcesOf(target)
  )

const publicModules = () =>
  filesOf("packages/*/package.json").flatMap((manifest) => {
    const { exports = {} } = JSON.parse(readFileSync(manifest, "utf8")) as { readonly exports?: Exports }
    return sourcesOf(exports).map((source) => resolve(dirname(manifest), source))
  })

/** What programs of tests import by its place: it has to be the same module as the one that others import by name. */
const importedByPlace = () =>
  filesOf("packages/*/test/**/*.ts").filter((file) => !/\.test(-d)?\.ts$/.test(file)).flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/"((?:\.\.\/)+src\/[^"]+\.ts)"/g)]
      .map(([, place = ""]) => resolve(dirname(file), place)).filter((source) => existsSync(source))
  )

/** Packages of many files. Others stay as they are. */
const bundledPackages = [
  "@belay",
  "@effect/platform-node",
  "@effect/platform-node-shared",
  "@isaacs",
  "balanced-match",
  "brace-expansion",
  "effect",
  "jsonrepair",
  "minimatch",
  "smol-toml",
  "tokenx",
  "yaml"
]

/** In the order in which they build on each other. What the main module of a package imports becomes one module. */
const packages = ["core", "hooks", "hook-files", "providers", "testing", "observe", "tools"]

type ImportsOf = (id: string) => ReadonlyArray<string>

const packageOfModules = (importsOf: ImportsOf): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  const visit = (name: string) => (id: string): void => {
    if (found.has(id) || !id.startsWith("/")) return
    found.set(id, name)
    importsOf(id).forEach(visit(name))
  }
  for (const name of packages) visit(name)(join(root, `packages/${name}/src/index.ts`))
  return found
}

/** Modules find files by their own place, which stays that of the source. */
const ownPlace = {
  name: "own-place",
  transform: (code: string, id: string) =>
    code.includes("import.meta.url")
      ? code.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href))
      : undefined
}

const build = async (): Promise<ReadonlyArray<OutputChunk>> => {
  const modules = [
    ...publicModules(),
    ...importedByPlace(),
    ...filesOf("packages/*/src/bin/*.ts", "node_modules/effect/dist/{*,testing/*}.js")
  ]
  const bundle = await rolldown({
    input: [...new Set(modules)],
    platform: "node",
    treeshake: false,
    logLevel: "silent",
    resolve: { conditionNames: ["@belay/source", "node", "import"] },
    external: (id) => !/^[./#]/.test(id) && !bundledPackages.some((name) => id === name || id.startsWith(`${name}/`)),
    plugins: [ownPlace]
  })
  let packageOf: ReadonlyMap<string, string> | undefined
  const { output } = await bundle.generate({
    keepNames: true,
    entryFileNames: "[name]-[hash].mjs",
    chunkFileNames: "[name]-[hash].mjs",
    codeSplitting: {
      groups: [{
        name: (id, graph) => {
          packageOf ??= packageOfModules((of) => graph.getModuleInfo(of)?.importedIds ?? [])
          return packageOf.get(id) ?? null
        }
      }]
    }
  })
  await bundle.close()
  return output.filter((file) => file.type === "chunk")
}

const nameOfState = () => {
  const files = filesOf("packages/*/{src,test}/**/*.ts", "packages/*/package.json", "package-lock.json")
  const states = [fileURLToPath(import.meta.url), ...files].map((file) => `${file} ${statSync(file).mtimeMs}`)
  return createHash("sha256").update(states.join("\n")).digest("hex").slice(0, 16)
}

const dayMs = 86_400_000

/** Writes the modules if they are not there, and returns the file that says which takes the place of which source. */
export const bundledModules = async (): Promise<string> => {
  const all = join(root, "node_modules/.cache/belay-tests/modules")
  const folder = join(all, nameOfState())
  const map = join(folder, "map.json")
  if (existsSync(map)) return map
  const chunks = await build()
  for (const old of existsSync(all) ? readdirSync(all) : []) {
    if (statSync(join(all, old)).mtimeMs < Date.now() - dayMs) rmSync(join(all, old), { recursive: true, force: true })
  }
  const unfinished = `${folder}-${process.pid}`
  mkdirSync(unfinished, { recursive: true })
  for (const { code, fileName } of chunks) writeFileSync(join(unfinished, fileName), code)
  const places = chunks.flatMap(({ facadeModuleId, fileName }) =>
    facadeModuleId === null ? [] : [[facadeModuleId, join(folder, fileName)].map((path) => pathToFileURL(path).href)]
  )
  writeFileSync(join(unfinished, "map.json"), JSON.stringify(Object.fromEntries(places)))
  // Another run of the tests may have been as quick.
  if (existsSync(map)) rmSync(unfinished, { recursive: true })
  else renameSync(unfinished, folder)
  return map
}
