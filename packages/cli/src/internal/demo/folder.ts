/** The folder of a demonstration. Several can run at once, also those of several people, and each has its own. */
import * as Result from "effect/Result"
import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type CommandError, commandError } from "../usage.ts"

/** Says that a demonstration has made the folder, and which process has it. */
const marker = ".belay-demo"

/** The folders of those who name none. The first that is free is taken. */
export const ownFolders = (): readonly [string, ...ReadonlyArray<string>] => {
  const first = join(tmpdir(), "belay-demo")
  return [first, ...[2, 3, 4, 5, 6, 7, 8, 9].map((count) => `${first}-${count}`)]
}

/** Takes the first folder that is free, for this process. If there is none, the error is about the first. */
export const takeFolder = (
  [root, ...others]: readonly [string, ...ReadonlyArray<string>]
): Result.Result<string, CommandError> => {
  const why = whyTaken(root)
  if (why === undefined) return Result.succeed(root)
  const other = others.find((one) => whyTaken(one) === undefined)
  return other === undefined ? Result.fail(commandError(`${why}: choose another with --folder`)) : Result.succeed(other)
}

/** Takes a folder. Returns why this process cannot have it. */
const whyTaken = (root: string): string | undefined => {
  const file = join(root, marker)
  const free = Result.try(() => {
    mkdirSync(root, { recursive: true })
    // Others may be just taking it.
    return readdirSync(root).every((name) => name.startsWith(`${marker}-`))
  })
  if (Result.isFailure(free)) return `${root} cannot be used`
  if (!free.success) {
    const text = textOf(file)
    if (text === undefined) return `${root} is not empty`
    if (isAlive(text) || !isMoved(file, text)) return `another demonstration runs in ${root}`
  }
  // The mark appears at once with all that it says, and only if no other process was as quick.
  const mine = `${file}-${process.pid}`
  const taken = Result.try({
    try: () => {
      writeFileSync(mine, `\`belay demo\` made this folder and may remove it.\nprocess ${process.pid}\n`)
      linkSync(mine, file)
    },
    catch: (error) => Object(error).code as unknown
  })
  rmSync(mine, { force: true })
  if (Result.isSuccess(taken)) return undefined
  // The process that was quicker has its mark there, and may have cleared this one away.
  return ["EEXIST", "ENOENT"].includes(String(taken.failure))
    ? `another demonstration runs in ${root}`
    : `${root} cannot be used`
}

/** Removes what an earlier demonstration has left. */
export const clear = (root: string): void => {
  for (const name of readdirSync(root)) {
    if (name !== marker) rmSync(join(root, name), { recursive: true, force: true })
  }
}

const textOf = (file: string): string | undefined => Result.getOrUndefined(Result.try(() => readFileSync(file, "utf8")))

const isAlive = (text: string): boolean => {
  const id = Number(/^process (\d+)$/m.exec(text)?.[1])
  if (!(id > 0) || id === process.pid) return false
  const signalled = Result.try({ try: () => process.kill(id, 0), catch: (error) => Object(error).code as unknown })
  // The process of another person must not be signalled.
  return Result.isSuccess(signalled) || signalled.failure === "EPERM"
}

/** Takes the mark of a process that has ended away. Of several that try at once, one succeeds. */
const isMoved = (file: string, text: string): boolean => {
  const moved = `${file}-${process.pid}`
  if (Result.isFailure(Result.try(() => renameSync(file, moved)))) return false
  const isThat = textOf(moved) === text
  if (isThat) rmSync(moved)
  else renameSync(moved, file)
  return isThat
}
