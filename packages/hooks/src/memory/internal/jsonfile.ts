/**
 * A JSON file that is read and written whole: a reader sees the old text or the new one, and a broken file is never
 * written over.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { randomUUID } from "node:crypto"
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { dirname } from "node:path"

/** A file that cannot be read or written. @category errors @since 0.1.0 */
export class FileError
  extends Schema.TaggedError<FileError>()("FileError", { path: Schema.String, message: Schema.String })
{}

export interface JsonFile<A> {
  /** What the file holds, or `absent` when there is none. */
  readonly load: Effect.Effect<A, FileError>
  readonly save: (value: A) => Effect.Effect<void, FileError>
}

/** `what` names the contents in messages. Only the owner may read the file. */
export const make = <A>(path: string, what: string, schema: Schema.Codec<A, unknown>, absent: A): JsonFile<A> => {
  const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(schema))
  const refuse = (why: string) => (cause: unknown) =>
    new FileError({
      path,
      message: `${what} in ${path} ${why}: ${cause instanceof Error ? cause.message : String(cause)}`
    })
  const load = Effect.tryPromise({
    try: () =>
      readFile(path, "utf8").catch((error: NodeJS.ErrnoException) =>
        error.code === "ENOENT" ? undefined : Promise.reject(error)
      ),
    catch: refuse("cannot be read")
  }).pipe(
    Effect.flatMap((text) =>
      text === undefined
        ? Effect.succeed(absent)
        : Effect.mapError(decode(text), refuse("is broken, and is left as it is"))
    )
  )
  return {
    load,
    // Whoever wrote it since: what cannot be read is not written over.
    save: (value) =>
      Effect.andThen(
        load,
        Effect.tryPromise({
          try: async () => {
            const temporary = `${path}.${randomUUID()}.tmp`
            await mkdir(dirname(path), { recursive: true })
            await writeFile(temporary, `${JSON.stringify(value, undefined, 2)}\n`, { mode: 0o600 })
            await rename(temporary, path).catch(async (error: Error) => {
              await rm(temporary, { force: true })
              return Promise.reject(error)
            })
          },
          catch: refuse("cannot be written")
        })
      )
  }
}
