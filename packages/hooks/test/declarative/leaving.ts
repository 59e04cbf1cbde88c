/** A host that exits while its command runs, or ends when its command has. The command line has the word to look for, and what comes after it. */
import * as Command from "@belay/hooks/Command"
import * as Effect from "effect/Effect"
import { watch } from "node:fs"

const [, , folder, word, then] = process.argv
if (then === "wait") watch(folder!, () => process.exit(7))
const forever = `setsid bash -c 'trap "" TERM; touch ${folder}/ready; while :; do sleep 0.01; done' ${word} & ${then}`
await Effect.runPromise(Command.run({ command: forever, cwd: "/", input: "", timeoutMs: 60_000, lingerMs: 60_000 }))
