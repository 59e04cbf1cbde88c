/**
 * A host with a command, which exits meanwhile, waits, or ends when the command has. The command line has the word to
 * look for.
 */
import * as Command from "@belay/hook-files/Command"
import * as Effect from "effect/Effect"
import { watch } from "node:fs"

const [, , folder, word, then] = process.argv
if (then === "exit") watch(folder!, () => process.exit(7))
const forever = `setsid bash -c 'trap "" TERM; touch ${folder}/ready; while :; do sleep 0.01; done' ${word} &`
const command = then === "end" ? forever : `${forever} wait`
await Effect.runPromise(Command.run({ command, cwd: "/", input: "", timeoutMs: 60_000, lingerMs: 60_000 }))
