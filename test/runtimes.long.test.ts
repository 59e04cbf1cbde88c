/**
 * The same agent program on every runtime that Belay runs on, against an endpoint on the loopback interface. What a
 * program imports is bundled, as it would be for production.
 */
import * as Endpoint from "@belay/testing/Endpoint"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { rolldown } from "rolldown"
import { afterAll, assert, beforeAll, describe, expect, it } from "vitest"
import { answers } from "./runtimes/answers.ts"
import type { Outcome } from "./runtimes/suite.ts"

const installed = (path: string): string => fileURLToPath(new URL(`runtimes/node_modules/${path}`, import.meta.url))
const arch = process.arch
const folder = mkdtempSync(join(tmpdir(), "belay-runtimes-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Bundle {
  readonly file: string
  /** The modules of Node that it imports. */
  readonly modules: ReadonlyArray<string>
  /** Bytes after minifying and gzip. */
  readonly size: number
}

/** Bundles a program into one file. */
const bundle = async (
  input: string,
  platform: "browser" | "node",
  mainFields: ReadonlyArray<string> = []
): Promise<Bundle> => {
  const built = await rolldown({
    input,
    platform,
    transform: { target: "es2022" },
    resolve: {
      conditionNames: ["@belay/source", platform, "import", "default"],
      ...(mainFields.length === 0 ? {} : { mainFields: [...mainFields] })
    }
  })
  const { output: [{ code, name }] } = await built.generate({ format: "esm", codeSplitting: false })
  const { output: [{ code: small }] } = await built.generate({ format: "esm", codeSplitting: false, minify: true })
  await built.close()
  const file = join(folder, `${name}.${platform}.mjs`)
  writeFileSync(file, code)
  const imports = [...code.matchAll(/(?:from|import)\s*\(?["'](node:[\w/]+)["']/g)].map(([, module]) => module!)
  return { file, modules: [...new Set(imports)], size: gzipSync(small).length }
}

const programOf = (name: string): string => fileURLToPath(new URL(`runtimes/${name}.ts`, import.meta.url))

/** The hooks that use nothing of Node. */
const portableHooks = [
  "Approval",
  "Budget",
  "CostTracker",
  "ContextInjector",
  "InputGuardrail",
  "LoopDetector",
  "ModelCallLimit",
  "ModelRetry",
  "OutputGuardrail",
  "ProviderFallback",
  "Shadow",
  "TokenLimit",
  "ToolArguments",
  "ToolCallLimit",
  "ToolRetry",
  "UsageReport"
]

const environment = { HOME: folder, NO_COLOR: "1", PATH: process.env["PATH"] }

const run = async (program: string, ...args: ReadonlyArray<string>): Promise<string> => {
  const child = spawn(program, args, { cwd: folder, env: environment })
  let [out, errors] = ["", ""]
  child.stdout.on("data", (text) => out += String(text))
  child.stderr.on("data", (text) => errors += String(text))
  const [code] = await once(child, "close")
  assert.strictEqual(code, 0, `${program} failed: ${errors}`)
  return out
}

const expectAll = (outcomes: ReadonlyArray<Outcome>, count = 10): void => {
  assert.deepEqual(outcomes.flatMap(({ name, problem }) => problem === undefined ? [] : [`${name}: ${problem}`]), [])
  assert.lengthOf(outcomes, count)
}

type Program = readonly [name: string, program: string, args: ReadonlyArray<string>]

/** The programs that run a file, with what Deno lets it do. */
const runtimes = (permission: string): ReadonlyArray<Program> => [
  ["the oldest Node that is supported", installed(`node-linux-${arch}/bin/node`), []],
  ["this Node", process.execPath, []],
  ["Bun", installed(`@oven/bun-linux-${arch === "arm64" ? "aarch64" : arch}/bin/bun`), ["run"]],
  ["Deno", installed(`@deno/linux-${arch}-glibc/deno`), ["run", "--no-prompt", permission]]
]

describe("the same program", () => {
  let file: string
  beforeAll(async () => {
    const bundled = await bundle(programOf("main"), "node")
    file = bundled.file
    // The transport of Node is in it, and loads what it needs with the first request.
    assert.match(readFileSync(file, "utf8"), /getBuiltinModule\(["']node:http["']\)/)
  })

  it.each(runtimes("--allow-net=127.0.0.1"))("runs on %s", async (_name, program, args) => {
    await using endpoint = await Endpoint.start({ script: answers })
    expectAll(JSON.parse(await run(program, ...args, file, endpoint.url)) as ReadonlyArray<Outcome>)
    assert.strictEqual(endpoint.remaining, 0)
  })

  it("runs in a worker without Node", async () => {
    const { file: worker, modules } = await bundle(programOf("worker"), "browser")
    assert.deepEqual(modules, [])
    await using endpoint = await Endpoint.start({ script: answers })
    const free = createServer().listen(0, "127.0.0.1")
    await once(free, "listening")
    const { port } = free.address() as { readonly port: number }
    free.close()
    const config = join(folder, "worker.capnp")
    writeFileSync(
      config,
      `using Workerd = import "/workerd/workerd.capnp";
      const config :Workerd.Config = (
        services = [
          (name = "main", worker = (modules = [(name = "main", esModule = embed "${
        worker.slice(folder.length + 1)
      }")], compatibilityDate = "2026-10-01", globalOutbound = "net")),
          (name = "net", network = (allow = ["local", "private"]))
        ],
        sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")]
      );`
    )
    const child = spawn(installed(`@cloudflare/workerd-linux-${arch === "x64" ? "64" : arch}/bin/workerd`), [
      "serve",
      config
    ], {
      cwd: folder,
      stdio: ["ignore", "inherit", "inherit"]
    })
    try {
      const url = `http://127.0.0.1:${port}/?endpoint=${encodeURIComponent(endpoint.url)}`
      for (let left = 100;; left--) {
        const response = await fetch(url).catch((error: unknown) => {
          if (left === 0) throw error
        })
        if (response !== undefined) {
          expectAll(await response.json() as ReadonlyArray<Outcome>)
          break
        }
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    } finally {
      const closed = once(child, "close")
      child.kill()
      await closed
    }
  })
})

describe("commands of hooks", () => {
  let [file, held, trusted] = ["", "", ""]
  beforeAll(async () => {
    file = (await bundle(programOf("commands"), "node")).file
    held = (await bundle(programOf("held"), "node")).file
    // What `main` of jsonc-parser names cannot be bundled.
    trusted = (await bundle(programOf("trusted"), "node", ["module", "main"])).file
  })

  it.each(runtimes("--allow-all"))("run on %s", async (name, program, args) => {
    const work = mkdtempSync(join(folder, "commands-"))
    const began = performance.now()
    expectAll(JSON.parse(await run(program, ...args, file, work)) as ReadonlyArray<Outcome>, 14)
    // It takes a few seconds, and on a busy machine half a minute.
    assert.isBelow(performance.now() - began, 90_000, `${name} could not exit`)
    await expect.poll(() => isRunning(join(work, "left")), { timeout: 30_000 }).toBe(false)
  }, 150_000)

  it.each(runtimes("--allow-all"))("guard a trusted project on %s", async (_name, program, args) => {
    const said = JSON.parse(await run(program, ...args, trusted, mkdtempSync(join(folder, "trusted-"))))
    assert.deepEqual(said, ["no secrets", "ran", "no secrets"])
  }, 30_000)

  it.each(runtimes("--allow-all"))("end when %s is killed", async (_name, program, args) => {
    const work = mkdtempSync(join(folder, "held-"))
    const child = spawn(program, [...args, held, work], { cwd: folder, env: environment, stdio: "ignore" })
    await expect.poll(() => isRunning(join(work, "held")), { timeout: 10_000 }).toBe(true)
    const closed = once(child, "close")
    child.kill("SIGKILL")
    await closed
    await expect.poll(() => isRunning(join(work, "held")), { timeout: 10_000 }).toBe(false)
  }, 30_000)
})

/** Whether the process runs whose id is in the file. */
const isRunning = (file: string): boolean => {
  const pid = existsSync(file) ? readFileSync(file, "utf8").trim() : ""
  const status = `/proc/${pid}/status`
  return pid !== "" && existsSync(status) && !/^State:\s*Z/m.test(readFileSync(status, "utf8"))
}

describe("a bundle for a browser", () => {
  /** The greatest size in KiB, minified and with gzip. docs/runtimes.md has these figures. */
  const bundles: ReadonlyArray<readonly [name: string, most: number, source: string]> = [
    ["of the core", 134, `export * from "@belay/core"`],
    [
      "of an agent with its provider",
      163,
      `export { createAgent, defineHook, defineTool } from "@belay/core"
       export * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"`
    ],
    [
      "of all hooks that need no Node",
      110,
      portableHooks.map((name) => `export * as ${name} from "@belay/hooks/${name}"`).join("\n")
    ]
  ]
  it.each(bundles)("%s needs no module of Node and is at most %d KiB", async (name, most, source) => {
    // The packages are found from here.
    const entry = fileURLToPath(new URL(`runtimes/node_modules/${name.replaceAll(" ", "-")}.ts`, import.meta.url))
    writeFileSync(entry, source)
    const { modules, size } = await bundle(entry, "browser")
    rmSync(entry)
    assert.deepEqual(modules, [])
    assert.isAtMost(Math.ceil(size / 1024), most)
    console.log(`${name}: ${(size / 1024).toFixed(0)} KiB`)
  })
})
