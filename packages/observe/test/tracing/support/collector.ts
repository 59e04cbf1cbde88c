/** A collector on loopback that keeps what it receives. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export interface OtlpSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly kind: number
  readonly attributes: ReadonlyArray<{ readonly key: string; readonly value: Record<string, unknown> }>
  readonly events: ReadonlyArray<{ readonly name: string; readonly attributes: OtlpSpan["attributes"] }>
  readonly links?: ReadonlyArray<{ readonly traceId: string; readonly spanId: string }>
  readonly status: { readonly code: number; readonly message?: string }
}

export interface OtlpMetric {
  readonly name: string
  readonly unit: string
  readonly sum?: { readonly dataPoints: ReadonlyArray<Record<string, unknown>> }
  readonly histogram?: { readonly dataPoints: ReadonlyArray<Record<string, unknown>> }
}

export interface Collector extends AsyncDisposable {
  readonly url: string
  readonly spans: Array<OtlpSpan>
  readonly metrics: Array<OtlpMetric>
  readonly headers: Array<IncomingMessage["headers"]>
  readonly resources: Array<unknown>
}

export const startCollector = async (): Promise<Collector> => {
  const spans: Array<OtlpSpan> = []
  const metrics: Array<OtlpMetric> = []
  const headers: Array<IncomingMessage["headers"]> = []
  const resources: Array<unknown> = []
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString())
    headers.push(request.headers)
    for (const { resource, scopeSpans } of body.resourceSpans ?? []) {
      resources.push(resource)
      for (const one of scopeSpans) spans.push(...one.spans)
    }
    for (const { scopeMetrics } of body.resourceMetrics ?? []) {
      for (const one of scopeMetrics) metrics.push(...one.metrics)
    }
    response.setHeader("content-type", "application/json").end("{}")
  }
  const server = createServer((request, response) => void receive(request, response))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    metrics,
    headers,
    resources,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}

/** The attributes of a span as an object. */
export const attributesOf = (attributes: OtlpSpan["attributes"]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)]))

const valueOf = (value: Record<string, unknown>): unknown => {
  const [kind, inner] = Object.entries(value)[0] ?? []
  if (kind === "intValue") return Number(inner)
  if (kind === "arrayValue") return (inner as { values: Array<Record<string, unknown>> }).values.map(valueOf)
  return inner
}

/** The tree of spans by their names, in the order of their beginnings. */
export const treeOf = (spans: ReadonlyArray<OtlpSpan & { readonly startTimeUnixNano?: string }>): string => {
  const sorted = [...spans].sort((a, b) => Number(BigInt(a.startTimeUnixNano ?? 0) - BigInt(b.startTimeUnixNano ?? 0)))
  const lines = (parent: string | undefined, depth: number): ReadonlyArray<string> =>
    sorted.filter((span) => span.parentSpanId === parent || (parent === undefined && span.parentSpanId === "")).flatMap(
      (span) => [`${"  ".repeat(depth)}${span.name}`, ...lines(span.spanId, depth + 1)]
    )
  return lines(undefined, 0).join("\n")
}
