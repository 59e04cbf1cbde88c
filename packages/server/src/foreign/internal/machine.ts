/** Does on this machine what a foreign agent asks for: reads and writes files, and runs commands. */
import { makeFolder } from "@belay/core/Folder"
import type { JsonObject } from "@belay/core/Json"
import { spawn } from "node:child_process"
import { readFile, realpath, writeFile } from "node:fs/promises"
import { dirname, isAbsolute, relative, resolve } from "node:path"
import { safeVariables } from "./variables.ts"

/** The most characters of a file, and of the output of a command. */
const maxLength = 1_000_000

/** Reads lines of a file in the folder. */
export const readText = async (root: string, { file_path, limit, offset }: JsonObject): Promise<string> => {
  const text = await readFile(await inside(root, file_path), "utf8")
  if (text.length > maxLength) return fail(`${JSON.stringify(file_path)} has more than ${maxLength} characters`)
  if (typeof offset !== "number" && typeof limit !== "number") return text
  const start = typeof offset === "number" ? Math.max(0, offset - 1) : 0
  return text.split("\n").slice(start, typeof limit === "number" ? start + limit : undefined).join("\n")
}

/** Writes a file in the folder. */
export const writeText = async (root: string, { content, file_path }: JsonObject): Promise<string> => {
  if (typeof content !== "string") return fail("content: expected a text")
  const path = await inside(root, file_path)
  makeFolder(dirname(path))
  await writeFile(path, content)
  return "written"
}

/** The end of a command. */
export interface CommandEnd {
  readonly output: string
  readonly truncated: boolean
  readonly exitCode: number | null
  readonly signal: string | null
}

/** Runs a command line to its end. The beginning of a long output is left out. */
export const runCommand = (
  root: string,
  { command, cwd, env, limit }: JsonObject,
  signal: AbortSignal
): Promise<CommandEnd> => {
  if (typeof command !== "string" || command === "") return fail("command: expected a command line")
  const most = Math.min(typeof limit === "number" && limit > 0 ? limit : maxLength, maxLength)
  return inside(root, cwd ?? root).then((folder) =>
    new Promise((resolvePromise, reject) => {
      const child = spawn(command, {
        shell: true,
        cwd: folder,
        env: { ...safeVariables(), ...textsOf(env) },
        stdio: ["ignore", "pipe", "pipe"],
        detached: process.platform !== "win32"
      })
      let output = ""
      let truncated = false
      const take = (bytes: Buffer) => {
        output += bytes.toString("utf8")
        truncated ||= output.length > most
        output = output.slice(-most)
      }
      child.stdout.on("data", take)
      child.stderr.on("data", take)
      const stop = () => void stopGroup(child.pid)
      signal.addEventListener("abort", stop, { once: true })
      child.on("error", reject)
      child.on("close", (exitCode, name) => {
        signal.removeEventListener("abort", stop)
        resolvePromise({ output, truncated, exitCode, signal: name })
      })
    })
  )
}

/** Ends a process and those that it has started. */
export const stopGroup = (pid: number | undefined, signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): boolean => {
  if (pid === undefined) return false
  // The process may have ended.
  try {
    return process.platform === "win32" ? process.kill(pid) : process.kill(-pid, signal)
  } catch {
    return false
  }
}

/** Returns the real path. Fails if it leaves the folder, also through a link. */
const inside = async (root: string, path: unknown): Promise<string> => {
  if (typeof path !== "string" || path === "") return fail("expected a path")
  const [folder, wanted] = [await realpath(root), resolve(root, path)]
  const real = await realOf(wanted)
  const way = relative(folder, real)
  return way.startsWith("..") || isAbsolute(way)
    ? fail(`${path} is outside of ${root}, the only folder that this agent may use`)
    : real
}

/** The real path of a file that need not exist. */
const realOf = (path: string): Promise<string> =>
  realpath(path).catch(async (error: NodeJS.ErrnoException) => {
    const parent = dirname(path)
    if (error.code !== "ENOENT" || parent === path) return Promise.reject(error)
    return resolve(await realOf(parent), relative(parent, path))
  })

const textsOf = (env: unknown): { readonly [name: string]: string } =>
  typeof env === "object" && env !== null
    ? Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => typeof entry[1] === "string"))
    : {}

const fail = (message: string): Promise<never> => Promise.reject(new Error(message))
