/** Runs stored code in a worker, inside a separate interpreter. Only texts go in and out. */
import variant from "@jitl/quickjs-wasmfile-release-sync"
import * as nodeModule from "node:module"
import { type MessagePort, parentPort, workerData } from "node:worker_threads"
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSDeferredPromise,
  type QuickJSHandle,
  type QuickJSSyncVariant
} from "quickjs-emscripten-core"

/** The code and its environment. */
export interface Job {
  readonly code: string
  /** The modules that the code can import. */
  readonly packages: { readonly [name: string]: string }
  /** The values of `ctx`, as JSON. */
  readonly context: string
  /** Paths in `ctx` of the functions of the host, such as `variableBag.get`. */
  readonly capabilities: ReadonlyArray<string>
  readonly memoryBytes: number
  readonly timeoutMs: number
  readonly maxText: number
}

/** A message of the worker. */
export type Said =
  | { readonly type: "started" }
  | { readonly type: "call"; readonly id: number; readonly name: string; readonly args: string }
  | { readonly type: "log"; readonly line: string }
  | { readonly type: "done"; readonly result: string | undefined }
  | { readonly type: "failed"; readonly reason: Reason; readonly message: string }

type Reason = "code" | "result" | "timeout" | "memory"

/** The answer of the host to a call: JSON, nothing, or an error message. */
export type Reply = { readonly id: number } & ({ readonly result: string | undefined } | { readonly error: string })

/** The part of this API that is used. The compiler knows it only from browsers. */
declare const WebAssembly: {
  readonly Memory: new(pages: { readonly initial: number; readonly maximum: number }) => object
}

/** The memory with which the interpreter starts: 16 MiB. */
const pages = 256
const maxCalls = 1_000
const maxLogs = 100
const maxLine = 1_000

/** Creates `ctx`, and keeps the functions of the realm that are needed, before the code can change them. */
const bootstrap = `(call, log, text, names) => {
  const { parse, stringify } = JSON
  const line = (part) => typeof part === "string" ? part : stringify(part)
  const ctx = parse(text)
  for (const name of names.split(" ")) {
    if (name === "") continue
    const path = name.split(".")
    const last = path.pop()
    let at = ctx
    for (const part of path) at = at[part] ??= {}
    at[last] = async (...args) => {
      const said = await call(name, stringify(args))
      return said === undefined ? undefined : parse(said)
    }
  }
  const print = (...parts) => log(parts.map(line).join(" ").slice(0, 1000))
  globalThis.console = { log: print, info: print, warn: print, error: print, debug: print }
  return {
    ctx,
    render: (value) => {
      if (value === undefined) return undefined
      const made = stringify(value)
      if (made === undefined) throw new TypeError("it is no JSON")
      return made
    },
    describe: (error) => {
      const isError = error !== null && typeof error === "object" && "message" in error
      return String(isError ? error.name + ": " + error.message : error).slice(0, 1000)
    }
  }
}`

const main = async (port: MessagePort, job: Job): Promise<void> => {
  // The interpreter does not count all its memory, so this is the hard limit.
  const wasmMemory = new WebAssembly.Memory({
    initial: pages,
    maximum: Math.max(pages, Math.floor(job.memoryBytes / 65_536))
  })
  // The package declares the types of another module format.
  const engine = newVariant(variant as unknown as QuickJSSyncVariant, { wasmMemory })
  const runtime = (await newQuickJSWASMModuleFromVariant(engine)).newRuntime()
  runtime.setMaxStackSize(262_144)
  const { packages } = job
  runtime.setModuleLoader(
    (name) =>
      Object.hasOwn(packages, name)
        ? packages[name]!
        : { error: new Error(`the package ${name.slice(0, 100)} is not there`) },
    (_from, name) => name
  )
  const vm = runtime.newContext()
  const say = (message: Said) => port.postMessage(message)
  const waiting = new Map<number, QuickJSDeferredPromise>()
  let calls = 0
  let logs = 0
  const call = vm.newFunction("call", (name, args) => {
    const deferred = vm.newPromise()
    const id = ++calls
    if (id > maxCalls) deferred.reject(vm.newError(`more than ${maxCalls} calls`))
    else if (lengthOf(vm, args) > job.maxText) deferred.reject(vm.newError("the arguments are too long"))
    else {
      waiting.set(id, deferred)
      say({ type: "call", id, name: vm.getString(name), args: vm.getString(args) })
    }
    return deferred.handle
  })
  const log = vm.newFunction("log", (line) => {
    // The code may have changed the realm, so the length of a line is checked here.
    if (++logs <= maxLogs && lengthOf(vm, line) <= maxLine) say({ type: "log", line: vm.getString(line) })
  })
  const made = vm.unwrapResult(vm.callFunction(
    vm.unwrapResult(vm.evalCode(bootstrap, "sandbox.js")),
    vm.undefined,
    call,
    log,
    vm.newString(job.context),
    vm.newString(job.capabilities.join(" "))
  ))
  const [ctx, render, describe] = ["ctx", "render", "describe"].map((key) => vm.getProp(made, key)) as [
    QuickJSHandle,
    QuickJSHandle,
    QuickJSHandle
  ]

  let isLate = false
  const failed = (reason: Reason, error: QuickJSHandle): Promise<never> => {
    const text = vm.callFunction(describe, vm.undefined, error)
    const thrown = text.error === undefined ? vm.getString(text.value) : "it threw what cannot be said"
    const isCommonJs = /^ReferenceError: '?(?:module|exports)\b/.test(thrown)
    const message = isCommonJs ? `${thrown}: expected a default export, export default async (ctx) => …` : thrown
    const isFull = message === "InternalError: out of memory"
    // An interruption has different errors, depending on where it is caught.
    return Promise.reject(
      Object.assign(new Error(message), { reason: isLate ? "timeout" : isFull ? "memory" : reason })
    )
  }
  let watched: QuickJSHandle | undefined
  let stalled: (() => void) | undefined
  /** Continues until only the host can continue. */
  const pump = (): void => {
    runtime.executePendingJobs(-1)
    if (watched !== undefined && waiting.size === 0 && vm.getPromiseState(watched).type === "pending") stalled?.()
  }
  const settled = async (handle: QuickJSHandle): Promise<QuickJSHandle> => {
    const ended = vm.resolvePromise(handle)
    watched = handle
    const stall = new Promise<"stalled">((resolve) => void (stalled = () => resolve("stalled")))
    pump()
    const result = await Promise.race([ended, stall])
    watched = undefined
    if (result === "stalled") return failed("code", vm.newString("it waits for what never comes"))
    return result.error === undefined ? result.value : failed("code", result.error)
  }
  port.on("message", (reply: Reply) => {
    const deferred = waiting.get(reply.id)
    waiting.delete(reply.id)
    if (deferred === undefined) return
    if ("error" in reply) deferred.reject(vm.newError(reply.error))
    else deferred.resolve(reply.result === undefined ? vm.undefined : vm.newString(reply.result))
    pump()
  })

  const deadline = performance.now() + job.timeoutMs
  runtime.setInterruptHandler(() => isLate ||= performance.now() > deadline)
  say({ type: "started" })
  const load = (code: string) => vm.evalCode(code, "hook.js", { type: "module" })
  const first = load(job.code)
  // Stripping types costs more than running most code, so it is done only if there are types.
  const isOdd = first.error !== undefined && vm.dump(vm.getProp(first.error, "name")) === "SyntaxError"
  const module = isOdd ? load(stripped(job.code)) : first
  if (module.error !== undefined) return failed("code", module.error)
  const found = vm.getProp(await settled(module.value), "default")
  if (vm.typeof(found) !== "function") return failed("code", vm.newString("its default export is no function"))
  const answer = vm.callFunction(found, vm.undefined, ctx)
  if (answer.error !== undefined) return failed("code", answer.error)
  const text = vm.callFunction(render, vm.undefined, await settled(answer.value))
  if (text.error !== undefined) return failed("result", text.error)
  if (vm.typeof(text.value) === "undefined") return say({ type: "done", result: undefined })
  if (lengthOf(vm, text.value) > job.maxText) return failed("result", vm.newString("it is too long"))
  say({ type: "done", result: vm.getString(text.value) })
}

const lengthOf = (vm: QuickJSContext, text: QuickJSHandle): number =>
  vm.typeof(text) === "string" ? vm.getNumber(vm.getProp(text, "length")) : Infinity

/** Strips types if this version of Node can do it. */
const stripped = (code: string): string => {
  const strip = (nodeModule as { readonly stripTypeScriptTypes?: (code: string) => string }).stripTypeScriptTypes
  return strip === undefined ? code : strip(code)
}

if (parentPort !== null) {
  const port = parentPort
  await main(port, workerData as Job).catch((error: Error & { readonly reason?: Reason }) => {
    const reason = error.name === "RuntimeError" ? "memory" : error.reason ?? "code"
    port.postMessage({ type: "failed", reason, message: error.message.slice(0, 1_000) } satisfies Said)
  })
}
