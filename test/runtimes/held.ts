/** A host that is killed while a command of it runs. Its argument is the folder of the command. */
import * as Command from "@belay/hook-files/Command"
import * as Effect from "effect/Effect"

await Effect.runPromise(Command.run({
  command: "echo $$ > held; sleep 60 & sleep 60",
  cwd: process.argv[2] ?? ".",
  input: "",
  timeoutMs: 60_000
}))
