/** Opens regular files. Never waits for a pipe or a device, and does not follow a link that was put there meanwhile. */
import * as Effect from "effect/Effect"
import type { Scope } from "effect/Scope"
import { constants } from "node:fs"
import { type FileHandle, open } from "node:fs/promises"
import { ToolError } from "../ToolError.ts"
import { type Place, systemError } from "./resolvePath.ts"

/** An open file and its size in bytes. */
export interface OpenFile {
  readonly handle: FileHandle
  readonly size: number
}

const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW

export const openFile = (tool: string, { path, shown }: Place): Effect.Effect<OpenFile, ToolError, Scope> =>
  Effect.acquireRelease(
    Effect.tryPromise({ try: () => open(path, flags), catch: (error) => systemError(tool, shown, error) }),
    (handle) => Effect.promise(() => handle.close())
  ).pipe(
    Effect.flatMap((handle) =>
      Effect.map(
        Effect.tryPromise({ try: () => handle.stat(), catch: (error) => systemError(tool, shown, error) }),
        (stat) => ({ handle, stat })
      )
    ),
    Effect.flatMap(({ handle, stat }) =>
      stat.isFile() ? Effect.succeed({ handle, size: stat.size }) : Effect.fail(
        new ToolError({
          tool,
          reason: "content",
          message: stat.isDirectory() ? `${shown} is a folder: list it with Glob` : `${shown} is not a regular file`
        })
      )
    )
  )
