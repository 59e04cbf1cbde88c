/** A host that exits while its command runs. The command line has the word to look for. */
import * as Command from "@belay/hooks/Command"
import * as Effect from "effect/Effect"
import { watch } from "node:fs"

const [, , folder, word] = process.argv
watch(folder!, () => process.exit(7))
const forever = `setsid bash -c 'trap "" TERM; touch ${folder}/ready; while :; do sleep 0.01; done' ${word} & wait`
await Effect.runPromise(Command.run({ command: forever, cwd: "/", input: "", timeoutMs: 60_000 }))
