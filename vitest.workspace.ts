import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"
import { configDefaults, defineConfig } from "vitest/config"

// With "import" here, `require` of a package would find its ES modules too.
const conditions = ["@belay/source", "node"]

/**
 * The long set has crash cycles, sweeps and big corpora. The set `cli` runs agents that are programs of other vendors.
 * Everything else is the quick set that `npm test` runs.
 */
const sets = ["long", "cli"]

const filesOf = (set: string) => `**/*.${set}.test.ts`

const project = (name: string, root: string, mode: string) => ({
  extends: true as const,
  test: {
    name,
    root,
    include: [sets.includes(mode) ? `test/${filesOf(mode)}` : "test/**/*.test.ts"],
    exclude: sets.includes(mode) ? configDefaults.exclude : [...configDefaults.exclude, ...sets.map(filesOf)]
  }
})

/** `npm run test:long` is `vitest run --mode long`, and `npm run test:cli` is `vitest run --mode cli`. */
export default defineConfig(({ mode }) => ({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    reporters: ["default"],
    // Most of the time of a child process is spent on compiling what the one before it has compiled.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL("node_modules/.cache/belay-tests", import.meta.url)) },
    globalSetup: fileURLToPath(new URL("test/support/tempFolder.ts", import.meta.url)),
    // A test takes a second or two, and those of the long set two minutes. On a machine with ten times as much work as
    // cores it takes much longer.
    testTimeout: sets.includes(mode) ? 900_000 : 180_000,
    hookTimeout: 180_000,
    // Half of what tests do is to wait for processes.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    // A worker keeps the modules it has loaded: starting one for every file took a third of the time.
    isolate: false,
    projects: [
      ...[
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
        "cli",
        "create",
        "examples"
      ].map((
        name
      ) => project(name, `./packages/${name}`, mode)),
      project("house", ".", mode)
    ]
  }
}))
