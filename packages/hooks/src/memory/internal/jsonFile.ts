/**
 * A JSON file that is replaced as a whole, so that a reader sees either the old or the new contents. A broken file is
 * never overwritten.
 */
import { messageOf } from "@belay/core/ErrorMessage"
import { makeFolder } from "@belay/core/Folder"
import { TaggedError } from "@belay/core/TaggedError"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { dirname } from "node:path"

/** A file that cannot be read or written. @category errors @since 0.1.0 */
export class FileError extends TaggedError<FileError>()("FileError", { path: Schema.String, message: Schema.String }) {}

/** A file with a value. */
export interface JsonFile<A> {
  /** The value in the file, or the default value when there is no file. */
  readonly load: Effect.Effect<A, FileError>
  /** Replaces the file. */
  readonly save: (value: A) => Effect.Effect<void, FileError>
}

/**
 * Makes access to a file that only its owner may read. `contents` describes it in messages; `defaultValue` is the value
 * when the file does not exist.
 */
export const makeJsonFile = <A>(
  path: string,
  contents: string,
  schema: Schema.Codec<A, unknown>,
  defaultValue: A
): JsonFile<A> => {
  const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(schema))
  const fileError = (problem: string) => (cause: unknown) =>
    new FileError({ path, message: `the ${contents} in ${path} ${problem}: ${messageOf(cause)}` })
  const load = Effect.tryPromise({
    try: () =>
      files().readFile(path, "utf8").catch((error: NodeJS.ErrnoException) =>
        error.code === "ENOENT" ? undefined : Promise.reject(error)
      ),
    catch: fileError("cannot be read")
  }).pipe(
    Effect.flatMap((text) =>
      text === undefined
        ? Effect.succeed(defaultValue)
        : Effect.mapError(decode(text), fileError("is broken, and stays as it is"))
    )
  )
  return {
    load,
    // Another process may have written the file. A file that cannot be read is not overwritten.
    save: (value) =>
      Effect.andThen(
        load,
        Effect.tryPromise({
          try: async () => {
            const temporary = `${path}.${crypto.randomUUID()}.tmp`
            makeFolder(dirname(path))
            await files().writeFile(temporary, `${JSON.stringify(value, undefined, 2)}\n`, { mode: 0o600 })
            await files().rename(temporary, path).catch(async (error: Error) => {
              await files().rm(temporary, { force: true })
              return Promise.reject(error)
            })
          },
          catch: fileError("cannot be written")
        })
      )
  }
}

/** An `import` would prepare everything that the module offers, at the start of every program. */
const files = (): typeof import("node:fs/promises") => process.getBuiltinModule("node:fs/promises")
