/** Spans and metrics in a program that has set up an OpenTelemetry SDK. */
import { createAgent, defineTool } from "@belay/core"
import * as Tracing from "@belay/observe/Tracing"
import * as Scripted from "@belay/testing/Scripted"
import { assert, describe, it } from "@effect/vitest"
import * as otel from "@opentelemetry/api"
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks"
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader
} from "@opentelemetry/sdk-metrics"
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor
} from "@opentelemetry/sdk-trace-base"
import * as Effect from "effect/Effect"
import { afterAll, beforeAll, beforeEach } from "vitest"

const spans = new InMemorySpanExporter()
const metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
const meterProvider = new MeterProvider({
  readers: [new PeriodicExportingMetricReader({ exporter: metrics, exportIntervalMillis: 600_000 })]
})

beforeAll(() => {
  otel.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  otel.trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }))
  otel.metrics.setGlobalMeterProvider(meterProvider)
})
beforeEach(() => spans.reset())
afterAll(async () => {
  await meterProvider.shutdown()
  otel.trace.disable()
  otel.context.disable()
  otel.metrics.disable()
})

const asks = (name: string) => Scripted.toolCalls({ name, args: {} })

const parentOf = (all: ReadonlyArray<ReadableSpan>, name: string): string | undefined => {
  const child = all.find((span) => span.name === name)
  return all.find((span) => span.spanContext().spanId === child?.parentSpanContext?.spanId)?.name
}

describe("with an OpenTelemetry SDK", () => {
  it("spans that a tool makes become children of its span, also after it has waited", async () => {
    const tracer = otel.trace.getTracer("my-database")
    const query = defineTool({
      name: "query",
      description: "Queries",
      input: { type: "object" },
      execute: async () => {
        await new Promise((resolve) => setTimeout(resolve, 2))
        return tracer.startActiveSpan("SELECT", async (span) => {
          await new Promise((resolve) => setTimeout(resolve, 1))
          span.end()
          return "rows"
        })
      }
    })
    const effectful = defineTool({
      name: "effectful",
      description: "Uses Effect",
      input: { type: "object" },
      execute: () =>
        Effect.as(
          Effect.withSpan(Effect.sleep(1), "UPDATE", {
            attributes: { rows: 3, isLast: true, table: "notes", ids: ["a"], where: new Date(0), none: null }
          }),
          "done"
        )
    })
    const tracing = Tracing.make({ otel })
    await using agent = createAgent({
      provider: Scripted.make([asks("query"), asks("effectful"), "done"]),
      tools: [query, effectful],
      plugins: [tracing.plugin]
    })
    await agent.run("hi")
    const all = spans.getFinishedSpans()
    assert.strictEqual(parentOf(all, "SELECT"), "execute_tool query")
    assert.strictEqual(parentOf(all, "UPDATE"), "execute_tool effectful")
    assert.deepInclude(all.find(({ name }) => name === "UPDATE")?.attributes, {
      rows: 3,
      isLast: true,
      table: "notes",
      ids: ["a"],
      where: String(new Date(0)),
      none: "null"
    })
    assert.strictEqual(parentOf(all, "execute_tool query"), "invoke_agent agent")
    assert.strictEqual(all.find(({ name }) => name === "SELECT")?.instrumentationScope.name, "my-database")
    assert.strictEqual(all.find(({ name }) => name === "chat scripted")?.instrumentationScope.name, "@belay/observe")
  })

  it("the span in which the program calls the agent is the parent, also when many run at once", async () => {
    const tracing = Tracing.make({ otel })
    const tracer = otel.trace.getTracer("server")
    const request = (n: number) =>
      tracer.startActiveSpan(`request ${n}`, async (span) => {
        const agent = createAgent({
          name: `agent ${n}`,
          provider: Scripted.make([asks("work"), "done"]),
          tools: [
            defineTool({
              name: "work",
              description: "Works",
              input: { type: "object" },
              execute: async () => {
                await new Promise((resolve) => setTimeout(resolve, n % 5))
                tracer.startSpan(`work of ${n}`).end()
                return "ok"
              }
            })
          ],
          plugins: [tracing.plugin]
        })
        await agent.run(`hello ${n}`)
        span.end()
        await agent.close()
      })
    await Promise.all(Array.from({ length: 40 }, (_, n) => request(n)))
    const all = spans.getFinishedSpans()
    for (let n = 0; n < 40; n++) {
      assert.strictEqual(parentOf(all, `invoke_agent agent ${n}`), `request ${n}`)
      const work = all.find(({ name }) => name === `work of ${n}`)
      const turn = all.find(({ name }) => name === `invoke_agent agent ${n}`)
      assert.strictEqual(work?.spanContext().traceId, turn?.spanContext().traceId)
    }
  })

  it("metrics go to the meter of the program", async () => {
    const tracing = Tracing.make({ otel })
    await using agent = createAgent({
      provider: Scripted.make([{ ...asks("look"), usage: { inputTokens: 7, outputTokens: 3 } }, "done"]),
      tools: [defineTool({ name: "look", description: "Looks", input: { type: "object" }, execute: () => "ok" })],
      plugins: [tracing.plugin]
    })
    await agent.run("hi")
    await meterProvider.forceFlush()
    const found = metrics.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics).flatMap((scope) => scope.metrics)
    const names = found.map(({ descriptor }) => `${descriptor.name} ${descriptor.unit}`)
    assert.includeMembers(names, [
      "gen_ai.client.inference.duration s",
      "gen_ai.client.inference.usage.input_tokens {token}",
      "gen_ai.execute_tool.duration s"
    ])
  })

  it("nothing is recorded, and nothing else changes, while no SDK is set up", async () => {
    const silent = {
      ...otel,
      trace: {
        ...otel.trace,
        getTracer: () =>
          new (class {
            startSpan = () => otel.trace.wrapSpanContext(otel.INVALID_SPAN_CONTEXT)
            startActiveSpan = () => undefined
          })()
      }
    } as unknown as typeof otel
    silent.trace.setSpan = otel.trace.setSpan
    silent.trace.deleteSpan = otel.trace.deleteSpan
    silent.trace.getActiveSpan = () => undefined
    silent.trace.setSpanContext = otel.trace.setSpanContext
    const tracing = Tracing.make({ otel: silent })
    await using agent = createAgent({ provider: Scripted.make(["done"]), plugins: [tracing.plugin] })
    assert.strictEqual((await agent.run("hi")).text, "done")
    assert.lengthOf(spans.getFinishedSpans(), 0)
  })
})
