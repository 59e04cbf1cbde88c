/** How spans leave the process: at its natural end, to a collector that is away, and not at all. */
import { createAgent } from "@belay/core"
import * as Tracing from "@belay/observe/Tracing"
import * as Scripted from "@belay/testing/Scripted"
import { assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { startCollector } from "./support/collector.ts"

const program = fileURLToPath(new URL("./support/program.ts", import.meta.url))

const run = (env: Record<string, string>) =>
  promisify(execFile)(process.execPath, ["--conditions=@belay/source", program], { env: { ...process.env, ...env } })

describe("exporting", () => {
  it("sends what is left when a program ends by itself, and does not keep it alive", async () => {
    await using collector = await startCollector()
    const { stdout } = await run({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: "x-key=not-a-real-key",
      OTEL_SERVICE_NAME: "from-the-environment"
    })
    assert.include(stdout, "done")
    assert.sameMembers(collector.spans.map(({ name }) => name), ["invoke_agent agent", "chat scripted"])
    assert.strictEqual(collector.headers[0]?.["x-key"], "not-a-real-key")
    assert.include(JSON.stringify(collector.resources), "from-the-environment")
  })

  it("sends nothing if the environment turns OpenTelemetry off", async () => {
    await using collector = await startCollector()
    const { stdout } = await run({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SDK_DISABLED: "true" })
    assert.include(stdout, "done")
    assert.lengthOf(collector.headers, 0)
  })

  it("says once that the collector cannot be reached, and the agent goes on", async () => {
    const { stderr, stdout } = await run({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1", RUNS: "3" })
    assert.include(stdout, "done")
    assert.lengthOf(`${stdout}${stderr}`.match(/traces cannot be sent to http:\/\/127\.0\.0\.1:1/g) ?? [], 1)
  })

  it("happens when the agent is closed", async () => {
    await using collector = await startCollector()
    await using tracing = Tracing.make({ url: `${collector.url}/`, exportEveryMs: 600_000 })
    const agent = createAgent({ provider: Scripted.make(["done"]), plugins: [tracing.plugin] })
    await agent.run("hi")
    assert.lengthOf(collector.spans, 0)
    await agent.close()
    assert.lengthOf(collector.spans, 2)
  })

  it("refuses options that cannot be right", () => {
    const cases: ReadonlyArray<readonly [Record<string, unknown>, string]> = [
      [{ endpoint: "http://localhost" }, "endpoint"],
      [{ exportEveryMs: 0 }, "exportEveryMs"],
      [{ content: true }, "content"],
      [{ url: "localhost:4318" }, "tracing.url: expected the address of a collector, such as http://localhost:4318"],
      [{ otel: {} }, "tracing.otel: expected the module @opentelemetry/api"]
    ]
    for (const [options, key] of cases) {
      const error = (() => {
        try {
          Tracing.make(options as Tracing.Options)
          return undefined
        } catch (thrown) {
          return thrown as { readonly _tag: string; readonly message: string }
        }
      })()
      assert.strictEqual(error?._tag, "ConfigError")
      assert.include(error?.message, key)
    }
  })
})
