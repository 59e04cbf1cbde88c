// Builds the packages to their `dist` folders, core first: the others are compiled against its declarations.
// A program starts faster when it loads few files. So packages that programs import at their start become one file,
// with a small file for each public module. The compiler writes the declarations of all modules.
import { spawnSync } from "node:child_process"
import { chmodSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, relative, resolve } from "node:path"
import { rolldown } from "rolldown"
import { guardBundle } from "./guardBundle.mjs"
import { importAtOnce, writeAll } from "./importAtOnce.mjs"
import { pureInitializers } from "./pureInitializers.mjs"

const packages = [
  "core",
  "hooks",
  "hook-files",
  "providers",
  "sdk",
  "testing",
  "server",
  "guard",
  "observe",
  "tools",
  "cli"
]
const bundled = new Set(["core", "hooks", "providers"])

/** The sources of all public modules of a package, by their path without extension. */
const entriesOf = (folder) => {
  const { exports, imports = {} } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"))
  const sources = (target) =>
    typeof target === "string"
      ? target.startsWith("./src/") ? [target] : []
      : Object.values(target).flatMap(sources)
  const files = [...Object.values(exports), ...Object.values(imports)].flatMap(sources)
  return Object.fromEntries(files.map((file) => [relative("src", file).replace(/\.ts$/, ""), `${folder}/${file}`]))
}

/** Whether an import loads another package, except those that every program has. */
const isLibrary = (id) => /^(?!(?:effect|@belay|node:|#))[@a-z]/.test(id) && !id.includes("/src/")

/**
 * The files of modules that are loaded with the entry of their package. The others, such as bridges to other libraries,
 * stay apart, so that only those load these libraries who import them. A module that imports another package is a file
 * of its own, so that a bundler leaves the package out if a program does not use it.
 */
const groupsOf = (name) => {
  let found
  const isOfIndex = (id, context) => {
    if (found === undefined) {
      found = new Set([resolve(`packages/${name}/src/index.ts`)])
      for (const one of found) for (const next of context.getModuleInfo(one)?.importedIds ?? []) found.add(next)
    }
    return found.has(id)
  }
  const libraryOf = (id, context) => {
    const library = isOfIndex(id, context) ? context.getModuleInfo(id)?.importedIds.find(isLibrary) : undefined
    return library === undefined ? undefined : `with-${library.replace(/^@/, "").replaceAll("/", "-")}`
  }
  return [
    { name: libraryOf, debugName: "libraries", priority: 2 },
    { name: (id, context) => isOfIndex(id, context) ? "modules" : undefined, debugName: "modules", priority: 1 }
  ]
}

const bundle = async (name, folder) => {
  const build = await rolldown({
    input: entriesOf(folder),
    // Only the package itself: everything else is shared with the program.
    external: (id) => !id.startsWith(".") && !id.startsWith("/") && !id.startsWith("packages/"),
    platform: "node",
    preserveEntrySignatures: "strict",
    plugins: [pureInitializers(), name !== "core" && importAtOnce()],
    checks: { ineffectiveDynamicImport: false },
    // The modules of a package do nothing when they are loaded.
    treeshake: { moduleSideEffects: false }
  })
  await build.write({
    dir: `${folder}/dist`,
    format: "esm",
    sourcemap: true,
    entryFileNames: "[name].js",
    chunkFileNames: "[name].js",
    minifyInternalExports: false,
    // The declarations have the documentation.
    comments: { annotation: true, legal: true, jsdoc: false },
    codeSplitting: { groups: groupsOf(name) }
  })
  await build.close()
  // The package has the sources.
  for (const file of globSync(`${folder}/dist/**/*.js.map`)) {
    const { sourcesContent: _, ...map } = JSON.parse(readFileSync(file, "utf8"))
    writeFileSync(file, JSON.stringify(map))
  }
}

/** Removes the declarations that no public module refers to: a third of the files of a package. */
const removeInnerDeclarations = (folder) => {
  const { exports, imports = {} } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"))
  const typesIn = (target) => typeof target === "string" ? [target] : Object.values(target).flatMap(typesIn)
  const needed = new Set(
    [...Object.values(exports), ...Object.values(imports)].flatMap(typesIn).filter((file) => file.startsWith("./dist/"))
      .map((file) => resolve(folder, file.replace(/(?:\.d\.ts|\.js)$/, ".d.ts"))).filter(existsSync)
  )
  for (const file of needed) {
    for (const [, path] of readFileSync(file, "utf8").matchAll(/(?:from|import)[\s(]*"(\.[^"]+)"/g)) {
      needed.add(resolve(dirname(file), path.replace(/\.[jt]s$/, ".d.ts")))
    }
  }
  for (const file of globSync(`${folder}/dist/**/*.d.ts`)) {
    if (needed.has(resolve(file))) continue
    rmSync(file)
    rmSync(`${file}.map`, { force: true })
  }
}

for (const name of packages) {
  const folder = `packages/${name}`
  rmSync(`${folder}/dist`, { recursive: true, force: true })
  if (globSync(`${folder}/src/**/*.ts`).length === 0) continue
  const only = bundled.has(name) ? ["--emitDeclarationOnly"] : []
  const tsc = spawnSync(
    process.execPath,
    ["node_modules/typescript/bin/tsc", "-p", `${folder}/tsconfig.build.json`, ...only],
    { stdio: "inherit" }
  )
  if (tsc.status !== 0) {
    console.error(`${folder} does not build`)
    process.exit(1)
  }
  if (bundled.has(name)) await bundle(name, folder)
  if (name === "core") writeAll()
  if (name === "cli") await guardBundle(`${folder}/dist/guard/run.cjs`)
  removeInnerDeclarations(folder)
  for (const file of globSync(`${folder}/dist/bin/*.js`)) chmodSync(file, 0o755)
  console.log(`${folder}: ${globSync(`${folder}/dist/**/*.js`).length} modules`)
}
await import("./package-docs.mjs")
