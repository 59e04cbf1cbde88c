/** The token of a server: given, or made once and kept. */
import { messageOf } from "@belay/core/ErrorMessage"
import { makeFolder } from "@belay/core/Folder"
import * as Effect from "effect/Effect"
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { usageError } from "../flags.ts"
import { newToken } from "./listen.ts"

/** Returns the token that is kept in the folder. The first time, it is made. */
export const keptToken = (data: string) =>
  Effect.try({
    try: () => {
      const file = join(data, "serve.token")
      if (existsSync(file)) return readFileSync(file, "utf8").trim()
      const token = newToken()
      makeFolder(data, 0o700)
      writeFileSync(file, `${token}\n`, { mode: 0o600, flag: "wx" })
      chmodSync(file, 0o600)
      return token
    },
    catch: (error) =>
      usageError(`the token cannot be kept in ${data}: ${messageOf(error)}; choose another folder with --data`)
  })
