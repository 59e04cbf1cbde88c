/** Shows a report in a browser and sends it newer data while the file grows. */
import type { Recording } from "@belay/observe/Recording"
import type * as Report from "@belay/observe/Report"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { statSync } from "node:fs"
import { createServer, type ServerResponse } from "node:http"
import { usageError } from "../flags.ts"

interface Watching<E> {
  readonly file: string
  readonly port: number
  readonly read: Effect.Effect<Recording, E>
  readonly render: typeof Report.render
  readonly data: typeof Report.data
  readonly options: Report.Options
}

/** How often to look at the file, in milliseconds. */
const everyMs = 300

export const watch = <E>({ data, file, options, port, read, render }: Watching<E>) =>
  Effect.gen(function*() {
    let recording = yield* read
    const readers = new Set<ServerResponse>()
    const send = (response: ServerResponse): void =>
      void response.write(`data: ${JSON.stringify(data(recording, options))}\n\n`)
    const server = createServer((request, response) => {
      const { host = "" } = request.headers
      // Another site must not read the report through a name that it points at this machine.
      if (!/^(127\.0\.0\.1|localhost):\d+$/.test(host)) return void response.writeHead(403).end()
      if (request.url === "/events") {
        response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" })
        readers.add(response)
        response.on("close", () => readers.delete(response))
        return send(response)
      }
      if (request.url !== "/") return void response.writeHead(404).end()
      response.writeHead(200, { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" })
      response.end(render(recording, { ...options, live: "/events" }))
    })
    yield* Effect.callback<void, ReturnType<typeof usageError>>((resume) => {
      server.once("error", ({ message }) => resume(Effect.fail(usageError(`--port: ${message}`))))
      server.listen(port, "127.0.0.1", () => resume(Effect.void))
    })
    // A server that listens on a port has an address.
    const { port: chosen } = server.address() as { readonly port: number }
    yield* Console.error(`The report is at http://127.0.0.1:${chosen}/ (Ctrl-C ends it)`)
    let seen = sizeOf(file)
    const look = Effect.gen(function*() {
      const size = sizeOf(file)
      if (size === seen) return
      seen = size
      // A line may be half written. The next look reads it.
      recording = yield* Effect.orElseSucceed(read, () => recording)
      for (const reader of readers) send(reader)
    })
    return yield* Effect.ensuring(
      Effect.forever(Effect.andThen(Effect.sleep(everyMs), look)),
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
    )
  })

const sizeOf = (file: string): string => {
  const found = [file, `${file}-wal`].map((path) => statSync(path, { throwIfNoEntry: false }))
  return found.map((one) => `${one?.size} ${one?.mtimeMs}`).join(", ")
}
