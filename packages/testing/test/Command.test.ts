import * as Endpoint from "@belay/testing/Endpoint"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type ChildProcess, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

const file = fileURLToPath(new URL("../src/bin/endpoint.ts", import.meta.url))

const run = (...args: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(process.execPath, ["--conditions=@belay/source", file, ...args])
      const output = { stdout: "", stderr: "" }
      child.stdout.on("data", (text: Buffer) => (output.stdout += text.toString()))
      child.stderr.on("data", (text: Buffer) => (output.stderr += text.toString()))
      return { child, output }
    }),
    ({ child }) => Effect.sync(() => child.kill("SIGKILL"))
  )

const ended = (child: ChildProcess) =>
  Effect.callback<number | null>((resume) => {
    if (child.exitCode !== null) resume(Effect.succeed(child.exitCode))
    else child.once("close", (code) => resume(Effect.succeed(code)))
  })

const firstLine = (child: ChildProcess, output: { readonly stdout: string }) =>
  Effect.callback<string>((resume) => {
    const look = () => {
      const line = output.stdout.split("\n", 1)[0] ?? ""
      if (output.stdout.includes("\n")) resume(Effect.succeed(line))
    }
    child.stdout?.on("data", look)
    look()
  })

describe("the endpoint command", () => {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    it.live(`prints its URL, answers, and ends on ${signal}`, () =>
      Effect.gen(function*() {
        const { child, output } = yield* run("--port", "0")
        const url = yield* firstLine(child, output)
        assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/v1$/)
        const models = yield* Effect.promise(() =>
          fetch(`${url}/models`).then((response) => response.json() as Promise<{ data: ReadonlyArray<unknown> }>)
        )
        assert.isNotEmpty(models.data)
        child.kill(signal)
        assert.strictEqual(yield* ended(child), 0)
        assert.include(output.stdout, `OPENAI_BASE_URL=${url}`)
        assert.include(output.stdout, "demo:rate-limit-once")
        assert.strictEqual(output.stderr, "")
      }))
  }

  it.live("requires a key if one is set", () =>
    Effect.gen(function*() {
      const { child, output } = yield* run("--port=0", "--api-key=test-key")
      const url = yield* firstLine(child, output)
      assert.strictEqual((yield* Effect.promise(() => fetch(`${url}/models`))).status, 401)
      assert.strictEqual(
        (yield* Effect.promise(() => fetch(`${url}/models`, { headers: { authorization: "Bearer test-key" } }))).status,
        200
      )
    }))

  it.live("prints its help", () =>
    Effect.gen(function*() {
      const { child, output } = yield* run("--help")
      assert.strictEqual(yield* ended(child), 0)
      assert.include(output.stdout, "--port <number>")
    }))

  for (
    const [args, says] of [
      [["--port", "70000"], /--port must be a number from 0 to 65535, not "70000"/],
      [["--port", "abc"], /not "abc"/],
      [["--port"], /--port needs a value/],
      [["--loud"], /unknown argument --loud/]
    ] as const
  ) {
    it.live(`refuses ${args.join(" ")}`, () =>
      Effect.gen(function*() {
        const { child, output } = yield* run(...args)
        assert.strictEqual(yield* ended(child), 2)
        assert.match(output.stderr, says)
      }))
  }

  it.live("says when the port is in use", () =>
    Effect.gen(function*() {
      const { port } = yield* Endpoint.scoped()
      const { child, output } = yield* run("--port", String(port))
      assert.strictEqual(yield* ended(child), 1)
      assert.include(output.stderr, `port ${port} is in use`)
    }))
})
