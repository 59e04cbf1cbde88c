// Builds and packs the packages, lints the tarballs, and uses them as a stranger would: installed in an empty project,
// compiled, run.
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"

// The sources go along: they are what a debugger, and a reader, should see.
const limit = 700_000
const npm = process.platform === "win32" ? "npm.cmd" : "npm"

const run = (command, args, cwd = ".") => {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: "utf8",
    shell: command === "npm.cmd"
  })
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}\n${error ?? ""}${stdout ?? ""}${stderr ?? ""}`)
  return stdout
}
const node = (script, args, cwd) => run(process.execPath, [resolve(script), ...args], cwd)
const versionOf = (name) => JSON.parse(readFileSync("package.json", "utf8")).devDependencies[name]

const pack = (name, to) => {
  const [{ filename, size, entryCount }] = JSON.parse(
    run(npm, ["pack", "--json", "--pack-destination", to], `packages/${name}`)
  )
  const tarball = join(to, filename.replace("@", "").replace("/", "-"))
  if (size > limit) throw new Error(`${filename} is ${size} bytes, at most ${limit} are allowed`)
  console.log(`${filename}: ${entryCount} files, ${Math.round(size / 1000)} kB`)
  node("node_modules/publint/src/cli.js", ["run", tarball, "--strict"])
  node("node_modules/@arethetypeswrong/cli/dist/index.js", [tarball, "--profile", "esm-only", "--no-definitely-typed"])
  return tarball
}

// Imports every module of every package, so that no export is missing, untyped or broken at run time.
const program = (names) => {
  const modules = names.flatMap((name) =>
    Object.keys(JSON.parse(readFileSync(`packages/${name}/package.json`, "utf8")).exports)
      .filter((path) => path !== "./package.json").map((path) => `@belay/${name}${path.slice(1)}`)
  )
  return [
    ...modules.map((module, index) => `import * as m${index} from "${module}"`),
    `const modules: ReadonlyArray<object> = [${modules.map((_, index) => `m${index}`).join(", ")}]`,
    `console.log(\`\${modules.length} modules, \${modules.flatMap(Object.keys).length} exports\`)`
  ].join("\n")
}

const use = (names, tarballs, folder) => {
  const dependencies = {
    ...Object.fromEntries(names.map((name, index) => [`@belay/${name}`, `file:${tarballs[index]}`])),
    ...Object.fromEntries(["effect", "typescript", "@types/node"].map((name) => [name, versionOf(name)]))
  }
  const compilerOptions = { module: "nodenext", target: "es2024", strict: true, types: ["node"], outDir: "out" }
  mkdirSync(folder)
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module", dependencies }))
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["main.ts"] }))
  writeFileSync(join(folder, "main.ts"), program(names))
  run(npm, ["install", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"], folder)
  node(join(folder, "node_modules/typescript/bin/tsc"), ["-p", "."], folder)
  node(join(folder, "node_modules/@belay/cli/bin/belay.mjs"), ["hooks", "list", "--cwd", folder, "--home", folder])
  console.log(`installed, compiled, ran: ${node(join(folder, "out/main.js"), [], folder).trim()}`)
}

const temporary = mkdtempSync(join(tmpdir(), "belay-pack-"))
try {
  node("scripts/build.mjs", [])
  const names = [
    "core",
    "hooks",
    "hook-files",
    "providers",
    "testing",
    "host",
    "serve",
    "tracing",
    "inspect",
    "tools",
    "cli"
  ]
    .filter((
      name
    ) => existsSync(`packages/${name}/dist`))
  use(names, names.map((name) => pack(name, temporary)), join(temporary, "stranger"))
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
} finally {
  rmSync(temporary, { recursive: true, force: true })
}
