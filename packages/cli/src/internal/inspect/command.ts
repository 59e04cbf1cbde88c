/** `belay inspect`: shows what happened as one HTML page. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { writeFileSync } from "node:fs"
import { basename } from "node:path"
import { optional, toggle, usageError } from "../flags.ts"
import { plain, type Screen } from "../screen.ts"

export const inspect = (screen: Screen) =>
  Command.make("inspect", {
    file: Argument.String("file").pipe(
      Argument.withDescription("A recording, an exported session, or the file of a SQLite store")
    ),
    session: optional("session", "The session of a store. Default: the only one"),
    out: optional("out", "Where to write the page. Default: standard output"),
    title: optional("title", "The heading of the page. Default: the name of the file"),
    watch: toggle("watch", "Show the page in a browser, and change it while the file grows"),
    port: Flag.Int("port").pipe(Flag.withDescription("The port for --watch. Default: a free one"), Flag.withDefault(0))
  }, ({ file, out, port, session, title, watch: isWatched }) =>
    Effect.gen(function*() {
      // Loaded here, so that other commands start faster.
      const [Report, { readSource }, { watch }] = yield* Effect.promise(() =>
        Promise.all([import("@belay/observe/Report"), import("./readSource.ts"), import("./watch.ts")])
      )
      const options = { title: Option.getOrElse(title, () => basename(file)) }
      const read = readSource(file, Option.getOrUndefined(session))
      if (isWatched) return yield* watch({ file, port, read, render: Report.render, data: Report.data, options })
      const page = Report.render(yield* read, options)
      const path = Option.getOrUndefined(out) ?? (screen.interactive ? `${file}.html` : undefined)
      if (path === undefined) return yield* Console.log(page)
      yield* Effect.try({
        try: () => writeFileSync(path, page, { mode: 0o600 }),
        catch: (error) => usageError(`--out: ${plain(path)} cannot be written: ${String(Object(error).message)}`)
      })
      yield* Console.error(`The report is in ${plain(path)}`)
    })).pipe(
      Command.withDescription(
        "Shows what happened as one HTML page: turns, model calls, tools, decisions of hooks, approvals and cost"
      )
    )
