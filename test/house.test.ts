import { execFileSync, spawnSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"

const read = (path: string): string => readFileSync(path, "utf8")
const json = (path: string): { readonly [field: string]: unknown } => JSON.parse(read(path))

const folders = readdirSync("packages").map((name) => `packages/${name}`)
  .filter((folder) => existsSync(`${folder}/package.json`))
const manifests = ["package.json", ...folders.map((folder) => `${folder}/package.json`)]
const published = folders.filter((folder) => json(`${folder}/package.json`)["private"] !== true)
const tracked = existsSync(".git")
  ? execFileSync("git", ["ls-files", "-z"], { encoding: "utf8" }).split("\0").filter((path) =>
    path !== "" && existsSync(path)
  )
  : []

/** The lines of the tracked files that match, as `path:line: text`. */
const linesLike = (pattern: RegExp, paths = tracked): ReadonlyArray<string> =>
  paths.flatMap((path) =>
    read(path).split("\n").flatMap((line, index) => pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])
  )

describe("the lockfile", () => {
  const lockfiles = ["", "site/", "test/cli/", "test/peers/", "test/runtimes/"].map((folder) =>
    `${folder}package-lock.json`
  )

  it("names no registry", () => assert.deepEqual(linesLike(/"resolved":\s*"https?:/, lockfiles), []))

  it("runs no install script", () => assert.deepEqual(linesLike(/"hasInstallScript"/, lockfiles), []))

  const packages = Object.entries(json("package-lock.json")["packages"] as Record<string, Record<string, unknown>>)
  const keys = new Set(packages.map(([path]) => path))

  it("carries the integrity of every package, save those of other platforms that are not published", () => {
    const bare = packages.filter(([path, entry]) =>
      path.includes("node_modules/") && entry["link"] !== true && entry["integrity"] === undefined &&
      !(entry["optional"] === true && Array.isArray(entry["os"]))
    )
    assert.deepEqual(bare.map(([path]) => path), [])
  })

  it("names the packages of every platform, or npm ci refuses it", () => {
    const missing = packages.flatMap(([path, entry]) =>
      Object.keys(entry["optionalDependencies"] ?? {}).filter((name) =>
        !keys.has(`${path}/node_modules/${name}`) && !keys.has(`node_modules/${name}`)
      )
    )
    assert.deepEqual(missing, [], "run: npm run lockfile")
  })
})

describe("every manifest", () => {
  const each = it.for(manifests)

  each("%s pins exact versions, except of what its users share with it", (path) => {
    const fields = ["dependencies", "devDependencies", "optionalDependencies"].map((field) => json(path)[field] ?? {})
    const isShared = (name: string) => path !== "package.json" && (name === "effect" || name.startsWith("@belay/"))
    const loose = fields.flatMap(Object.entries).filter(([name, version]) =>
      !(isShared(name) ? /^\^?\d+\.\d+\.\d+$/ : /^\d+\.\d+\.\d+(?:-[\w.]+)?$/).test(version)
    )
    assert.deepEqual(loose, [])
  })

  each("%s gives its peers ranges, so that the next patch release can be installed beside it", (path) => {
    const peers = Object.entries((json(path)["peerDependencies"] ?? {}) as { readonly [name: string]: string })
    assert.deepEqual(peers.filter(([, version]) => !/^\^\d+\.\d+\.\d+$/.test(version)), [])
  })

  each("%s is MIT and wants Node 22.22", (path) => {
    assert.strictEqual(json(path)["license"], "MIT")
    assert.deepEqual(json(path)["engines"], { node: ">=22.22" })
  })

  each("%s has no install script", (path) => {
    const scripts = Object.keys(json(path)["scripts"] ?? {})
    assert.deepEqual(scripts.filter((name) => /^(pre|post)?install$|^prepare$/.test(name)), [])
  })
})

describe("the repository", () => {
  it("is MIT, and so is every package", () => {
    assert.match(read("LICENSE"), /^MIT License\n\nCopyright \(c\) 2026 Belay contributors\n/)
    for (const folder of published) assert.strictEqual(read(`${folder}/LICENSE`), read("LICENSE"))
  })

  it("exports what the sources have", () => {
    const { status, stderr } = spawnSync(process.execPath, ["scripts/exports.mjs", "--check"], { encoding: "utf8" })
    assert.strictEqual(status, 0, stderr)
  })

  it("has no test that uses the test folder of another package", () => {
    const tests = tracked.filter((path) => /^packages\/[^/]+\/test\//.test(path))
    const pattern = /(?:\.\.\/)+(?:core|hooks|hook-files|providers|testing|tools|cli|examples)\/test\//
    assert.deepEqual(linesLike(pattern, tests), [])
  })

  it("names no folder of somebody's machine", () => {
    const machine = new RegExp(`(?<![\\w./:-])/(?:${["home", "root", "Users", "work"].join("|")})/\\w|[A-Z]:\\\\Users`)
    assert.deepEqual(linesLike(machine), [])
  })

  it("runs no package of somebody else that has the name of this project", () => {
    const commands = ["npx", "bunx", "dlx", "create", "init", "exec", "install", "i", "add"].join("|")
    const stranger = new RegExp(`(?:^|[^\\w-])(?:${commands})\\s+(?:-\\S+\\s+)*(?:create-)?${"belay"}(?![\\w./-])`)
    assert.deepEqual(linesLike(stranger, tracked.filter((path) => !path.endsWith("CHANGELOG.md"))), [])
  })

  it("says why a rule is switched off", () => {
    const silent = linesLike(
      /(?:oxlint|eslint)-disable(?!.* -- \S)|@effect-diagnostics(?!.* -- \S)|@ts-(?:ignore|nocheck)/
    )
    assert.deepEqual(silent.filter((line) => !line.startsWith("test/house.test.ts:")), [])
  })
})
