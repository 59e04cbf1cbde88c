/** Records and replays requests. */
import { makeFolder } from "@belay/core/Folder"
import { canonical, type Json } from "@belay/core/Json"
import { checkKinds, type OptionKinds } from "@belay/core/OptionCheck"
import * as Result from "effect/Result"
import { dirname } from "node:path"
import type { Fetch } from "../../openai/internal/transport/transport.ts"
import {
  diff,
  type Interaction,
  normalise,
  pack,
  type RecordedRequest,
  type RecordedResponse,
  type Tape,
  unpack
} from "./tape.ts"

/**
 * `replay` only replays. `once` records if there is no file yet. `new` replays recorded requests and records the
 * others. `all` records everything again.
 *
 * @category models
 * @since 0.1.0
 */
export type Mode = "replay" | "once" | "new" | "all"

/** Options of `open`. @category models @since 0.1.0 */
export interface Options {
  readonly file: string
  /** Default `replay`. */
  readonly mode?: Mode
  /** Texts that must not be stored. Headers of requests are never stored, and of answers only harmless ones. */
  readonly secrets?: ReadonlyArray<string>
  /** Sends requests while recording. Default: the global `fetch`. */
  readonly fetch?: Fetch
}

/** An open cassette. @category models @since 0.1.0 */
export interface Cassette extends AsyncDisposable {
  readonly fetch: Fetch
  /** Throws if a request did not match the recording, or if recorded answers were not used. */
  readonly assertDone: () => void
  /** Writes the recording. Disposing does this too. */
  readonly save: () => Promise<void>
}

const optionKinds: OptionKinds<Options> = { file: "text", mode: "text", secrets: "textList", fetch: "function" }

/** Opens a cassette. */
export const open = async (options: Options): Promise<Cassette> => {
  Result.getOrThrow(checkKinds("Cassette.open", options, optionKinds, ["file"]))
  const { file, mode = "replay", secrets = [] } = options
  const found = mode === "all" ? undefined : await load(file, mode === "replay")
  const kept: Array<Interaction> = [...found?.interactions ?? []]
  const unused = new Set(kept)
  const mismatches: Array<string> = []
  const records = mode === "all" || mode === "new" || (mode === "once" && found === undefined)
  const send = options.fetch ?? fetch
  let isDirty = mode === "all"

  const record = async (url: string, init: RequestInit, request: RecordedRequest): Promise<Response> => {
    const response = await send(url, init)
    const chunks: Array<RecordedResponse["chunks"][number]> = []
    kept.push({
      request: clean(request, secrets),
      response: { status: response.status, headers: harmless(response.headers), chunks }
    })
    isDirty = true
    const body = response.body?.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform: (bytes, controller) => {
          chunks.push(clean(pack(bytes), secrets))
          controller.enqueue(bytes)
        }
      })
    )
    return new Response(body ?? null, { status: response.status, headers: response.headers })
  }
  const answer = (url: string, init: RequestInit): Promise<Response> => {
    const request = requestOf(url, init)
    const wanted = keyOf(clean(request, secrets))
    const match = [...unused].find((one) => keyOf(one.request) === wanted)
    if (match !== undefined) {
      unused.delete(match)
      return Promise.resolve(play(match.response))
    }
    if (records) return record(url, init, request)
    const message = explain([...unused][0], clean(request, secrets), kept.length)
    mismatches.push(message)
    return Promise.resolve(
      Response.json({ error: { message, type: "cassette_mismatch", code: "cassette_mismatch" } }, { status: 400 })
    )
  }
  const save = async (): Promise<void> => {
    if (!isDirty) return
    isDirty = false
    await write(file, { version: 1, interactions: kept })
  }
  return {
    fetch: answer,
    assertDone: () => {
      if (mismatches.length > 0) throw new Error(`${file}: ${mismatches.join("\n")}`)
      if (unused.size > 0) throw new Error(`${file}: ${unused.size} of ${kept.length} recorded answers were not used`)
    },
    save,
    [Symbol.asyncDispose]: save
  }
}

const load = async (file: string, isNeeded: boolean): Promise<Tape | undefined> => {
  const text = await files().readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" && !isNeeded) return undefined
    throw new Error(`${file}: there is no recording; record one with mode "once"`, { cause: error })
  })
  if (text === undefined) return undefined
  // The fields are checked below.
  const tape = JSON.parse(text) as Partial<Tape>
  if (tape.version !== 1 || !Array.isArray(tape.interactions)) throw new Error(`${file} is not a cassette`)
  return { version: 1, interactions: tape.interactions }
}

const write = async (file: string, tape: Tape): Promise<void> => {
  makeFolder(dirname(file))
  await files().writeFile(`${file}.part`, `${JSON.stringify(tape, null, 2)}\n`)
  await files().rename(`${file}.part`, file)
}

const requestOf = (url: string, init: RequestInit): RecordedRequest => {
  const { pathname, search } = new URL(url)
  return {
    method: init.method ?? "GET",
    path: pathname + search,
    // JSON.parse returns JSON.
    body: typeof init.body === "string" ? JSON.parse(init.body) as Json : null
  }
}

const keyOf = (request: RecordedRequest): string => canonical([request.method, request.path, normalise(request.body)])

const play = (recorded: RecordedResponse): Response => {
  const chunks = recorded.chunks.map(unpack)
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => {
      const chunk = chunks.shift()
      if (chunk === undefined) controller.close()
      else controller.enqueue(chunk)
    }
  })
  return new Response(body, { status: recorded.status, headers: recorded.headers })
}

const explain = (recorded: Interaction | undefined, request: RecordedRequest, count: number): string => {
  if (recorded === undefined) {
    return `the recording has ${count} answers, and all were used: ${request.method} ${request.path} has none`
  }
  const lines = diff([recorded.request.method, recorded.request.path, normalise(recorded.request.body)], [
    request.method,
    request.path,
    normalise(request.body)
  ])
  return `the request differs from the recording:\n${
    lines.map((line) => `  ${line.replace(/^\[2\]\.?/, "")}`).join("\n")
  }`
}

const storedHeaders = /^(?:content-type|retry-after(?:-ms)?|date|x-ratelimit-.*|x-request-id|request-id)$/

const harmless = (headers: Headers): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => storedHeaders.test(name)))

const clean = <A>(value: A, secrets: ReadonlyArray<string>): A =>
  secrets.length === 0
    ? value
    : JSON.parse(secrets.reduce(
      (text, secret) => secret === "" ? text : text.replaceAll(JSON.stringify(secret).slice(1, -1), "[redacted]"),
      JSON.stringify(value)
    )) as A

/** An `import` would prepare everything that the module offers, at the start of every program. */
const files = (): typeof import("node:fs/promises") => process.getBuiltinModule("node:fs/promises")
