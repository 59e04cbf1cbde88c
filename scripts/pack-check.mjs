// Builds and packs the packages, lints the tarballs, and uses them as strangers would: installed by each package
// manager in an empty project, compiled with each TypeScript, run by each runtime. Nothing comes from a network: the
// projects install from a registry on the loopback interface.
import { spawn } from "node:child_process"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join, resolve } from "node:path"
import process from "node:process"
import { startRegistry } from "./registry.mjs"

// The sources go along: they are what a debugger, and a reader, should see.
const limit = 850_000
const npm = process.platform === "win32" ? "npm.cmd" : "npm"
const tool = (path) => resolve("test/runtimes/node_modules", path)

const run = (command, args, { cwd = ".", env = {} } = {}) =>
  new Promise((done, fail) => {
    const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, shell: command === "npm.cmd" })
    let [stdout, stderr] = ["", ""]
    child.stdout.on("data", (data) => stdout += data)
    child.stderr.on("data", (data) => stderr += data)
    child.on("error", fail)
    child.on("close", (status) =>
      status === 0 ? done(stdout) : fail(new Error(`${command} ${args.join(" ")}\n${stdout}${stderr}`)))
  })
const node = (script, args, options) => run(process.execPath, [resolve(script), ...args], options)
const manifestOf = (folder) => JSON.parse(readFileSync(`${folder}/package.json`, "utf8"))

/** Every package that is published, core first. */
const folders = () =>
  readdirSync("packages").map((name) => `packages/${name}`)
    .filter((folder) => existsSync(`${folder}/package.json`) && manifestOf(folder).private !== true)

const pack = async (folder, to) => {
  const [{ filename, size, entryCount }] = JSON.parse(
    await run(npm, ["pack", "--json", "--pack-destination", to], { cwd: folder })
  )
  const tarball = join(to, filename.replace("@", "").replace("/", "-"))
  if (size > limit) throw new Error(`${filename} is ${size} bytes, at most ${limit} are allowed`)
  await node("node_modules/publint/src/cli.js", ["run", tarball, "--strict"])
  if (manifestOf(folder).exports !== undefined) {
    await node("node_modules/@arethetypeswrong/cli/dist/index.js", [
      tarball,
      "--profile",
      "esm-only",
      "--no-definitely-typed"
    ])
  }
  console.log(`${filename}: ${entryCount} files, ${Math.round(size / 1000)} kB`)
  return [folder, tarball]
}

const own = new Set(["Guard", "GuardError", "Coverage"])
/** Whether a module is for programs that have another SDK. */
const isAdapter = (module) => module.startsWith("@belay/guard/") && !own.has(module.slice("@belay/guard/".length))
const modulesOf = (packages) =>
  packages.flatMap(({ exports = {}, name }) =>
    Object.keys(exports).filter((path) => path !== "./package.json").map((path) => `${name}${path.slice(1)}`)
  )

// Imports modules, so that no export is missing, untyped or broken at run time.
const program = (modules) => {
  return [
    ...modules.map((module, index) => `import * as m${index} from "${module}"`),
    `const modules: ReadonlyArray<object> = [${modules.map((_, index) => `m${index}`).join(", ")}]`,
    `console.log(\`\${modules.length} modules, \${modules.flatMap(Object.keys).length} exports\`)`
  ].join("\n")
}

/** How each package manager installs from a registry. None of them runs a script of a package. */
const managers = (url, folder) => {
  const cache = join(folder, ".cache")
  const home = { HOME: folder, USERPROFILE: folder, CI: "true" }
  return {
    npm: () =>
      run(npm, ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], {
        cwd: folder,
        env: { ...home, npm_config_registry: url, npm_config_cache: cache }
      }),
    pnpm: () =>
      node(tool("pnpm/bin/pnpm.cjs"), ["install", "--ignore-scripts", "--no-frozen-lockfile", `--registry=${url}`], {
        cwd: folder,
        env: { ...home, npm_config_store_dir: cache, npm_config_cache: cache }
      }),
    yarn: () => {
      const settings = [
        `npmRegistryServer: "${url}"`,
        "unsafeHttpWhitelist: [\"127.0.0.1\"]",
        "nodeLinker: node-modules",
        "enableScripts: false",
        "enableTelemetry: false",
        "enableGlobalCache: false",
        "enableImmutableInstalls: false"
      ]
      writeFileSync(join(folder, ".yarnrc.yml"), `${settings.join("\n")}\n`)
      writeFileSync(join(folder, "yarn.lock"), "")
      return node(tool("@yarnpkg/cli-dist/bin/yarn.js"), ["install"], { cwd: folder, env: home })
    },
    bun: () =>
      run(bun, ["install", "--ignore-scripts", "--registry", url], {
        cwd: folder,
        env: { ...home, BUN_INSTALL_CACHE_DIR: cache }
      })
  }
}

const processor = process.arch === "arm64" ? "aarch64" : process.arch
const bun = tool(`@oven/bun-${process.platform}-${processor}/bin/bun`)
const oldNode = tool(`node-${process.platform}-${process.arch}/bin/node`)

const versionsOfTypeScript = {
  7: "node_modules/typescript",
  "6.0": tool("typescript-6.0"),
  5.9: tool("typescript-5.9")
}

/** Compiles a project. Mistakes in the declarations of other vendors' packages are theirs. */
const compile = async (typescript, folder) => {
  try {
    await node(`${typescript}/bin/tsc`, ["-p", folder, "--pretty", "false"])
  } catch (error) {
    const found = error.message.split("\n").filter((line) => /: error TS\d+|^error TS/.test(line))
    const ours = found.filter((line) => !line.includes("node_modules/") || line.includes("node_modules/@belay/"))
    if (found.length === 0 || ours.length > 0) throw error
  }
}

/** Makes a project from a template as a newcomer would, and runs its tests. */
const create = async (template, url, folder) => {
  mkdirSync(folder)
  const env = {
    HOME: folder,
    USERPROFILE: folder,
    CI: "true",
    PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
    npm_config_registry: url,
    npm_config_cache: join(folder, ".cache")
  }
  const cwd = join(folder, "made")
  await run(npm, ["create", "@belay@latest", "made", "--yes", "--", "--template", template], { cwd: folder, env })
  await run(npm, ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], { cwd, env })
  await run(npm, ["run", "types"], { cwd, env })
  await run(npm, ["test"], { cwd, env })
  console.log(`@belay/create: the template ${template} installs, compiles, and its tests pass`)
}

/** Installs the packages with a package manager and imports every module of them. */
const use = async (manager, packages, url, folder) => {
  const versionOf = (name) => manifestOf(".").devDependencies[name]
  // Only one package manager installs the SDKs that the adapters of the guard are for: they are large.
  const { peerDependencies } = packages.find(({ name }) => name === "@belay/guard")
  const sdks = manager === "npm" ? Object.keys(peerDependencies).filter(versionOf) : []
  const dependencies = {
    ...Object.fromEntries(packages.map(({ name, version }) => [name, version])),
    ...Object.fromEntries(["effect", "@types/node", ...sdks].map((name) => [name, versionOf(name)]))
  }
  const compilerOptions = { module: "nodenext", target: "es2024", strict: true, types: ["node"], outDir: "out" }
  mkdirSync(folder)
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module", dependencies }))
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["main.ts", "adapters.ts"] }))
  const modules = modulesOf(packages)
  writeFileSync(join(folder, "main.ts"), program(modules.filter((module) => !isAdapter(module))))
  writeFileSync(join(folder, "adapters.ts"), program(modules.filter(isAdapter)))
  await managers(url, folder)[manager]()
  if (manager === "npm") {
    for (const [version, typescript] of Object.entries(versionsOfTypeScript)) {
      await compile(typescript, folder)
      console.log(`${manager}: compiled with TypeScript ${version}`)
    }
    const belay = join(folder, "node_modules/@belay/cli/bin/belay.mjs")
    await node(belay, ["hooks", "list", "--cwd", folder, "--home", folder])
    await node(belay, ["demo", "--approve", "allow"], { cwd: folder, env: { HOME: folder } })
    console.log(`${manager}: belay demo has run`)
    console.log(`${manager}: adapters, ${(await node(join(folder, "out/adapters.js"), [], { cwd: folder })).trim()}`)
  }
  return folder
}

/** Runs the compiled program where a package manager has installed what it needs. */
const runIn = async (folder, compiled, manager) => {
  cpSync(compiled, join(folder, "main.mjs"))
  const runtimes = [["Node 24", process.execPath]]
  if (manager === "npm") runtimes.push(["Node 22", oldNode])
  if (manager === "bun") runtimes.push(["Bun", bun])
  for (const [name, runtime] of runtimes) {
    console.log(`${manager}: ${name} runs ${(await run(runtime, ["main.mjs"], { cwd: folder })).trim()}`)
  }
}

const temporary = mkdtempSync(join(tmpdir(), "belay-pack-"))
let registry
try {
  await node("scripts/build.mjs", [])
  const all = folders()
  const tarballs = []
  for (const folder of all) tarballs.push(await pack(folder, temporary))
  registry = await startRegistry(new Map(tarballs))
  const packages = all.map(manifestOf)
  const names = ["npm", "pnpm", "yarn", "bun"]
  const place = (name) => join(temporary, name)
  await use("npm", packages, registry.url, place("npm"))
  await Promise.all(names.slice(1).map((name) => use(name, packages, registry.url, place(name))))
  const templates = readdirSync("packages/create/templates", { withFileTypes: true })
    .flatMap((entry) => entry.isDirectory() ? [entry.name] : [])
  await Promise.all(templates.map((name) => create(name, registry.url, place(name))))
  for (const name of names) await runIn(place(name), join(place("npm"), "out/main.js"), name)
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
} finally {
  await registry?.close()
  rmSync(temporary, { recursive: true, force: true })
}
