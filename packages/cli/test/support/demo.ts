/** The demonstration with a person at the terminal who never answers. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { PassThrough } from "node:stream"
import { takeFolder } from "../../src/internal/demo/folder.ts"
import { runDemo } from "../../src/internal/demo/run.ts"

const output = Object.assign(new PassThrough(), { isTTY: true })
output.on("data", (data) => process.stdout.write(String(data)))
process.exitCode = await Effect.runPromise(runDemo({
  folder: Result.getOrThrow(takeFolder([process.argv[2]!])),
  prompt: undefined,
  baseUrl: undefined,
  model: undefined,
  apiKey: undefined,
  approve: "ask",
  budget: 0.05,
  isVerbose: false,
  isFresh: false,
  signal: new AbortController().signal,
  screen: { columns: 100, colors: false, interactive: true, path: "" },
  terminal: { input: Object.assign(new PassThrough(), { isTTY: true }), output },
  write: (line) => console.log(line)
}))
