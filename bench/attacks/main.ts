/** `npm run bench:attacks`: what hijacked models reach, and what people are asked, with and without data flow. */
import { kinds } from "./attackers.ts"
import { bank } from "./domains/bank.ts"
import { chat } from "./domains/chat.ts"
import { coding } from "./domains/coding.ts"
import { files } from "./domains/files.ts"
import { office } from "./domains/mail.ts"
import { shop } from "./domains/shop.ts"
import { support } from "./domains/support.ts"
import { travel } from "./domains/travel.ts"
import { prepare, score } from "./score.ts"
import { flows, others } from "./variants.ts"

const started = performance.now()
const everyday = await Promise.all([office, bank, chat, travel, files, support, shop].map(prepare))
const repository = [await prepare(coding)]
const total = [...everyday, ...repository]
const count = (kind: string) => total.flatMap(({ attacks }) => attacks).filter((one) => one.kind === kind).length
console.log(`${total.length} domains, ${total.flatMap(({ domain }) => domain.tasks).length} tasks, attacks:`)
for (const kind of kinds) console.log(`  ${kind}: ${count(kind)}`)
const only = process.argv[process.argv.indexOf("--only") + 1]
for (const variant of [...others, ...flows]) {
  if (process.argv.includes("--only") && variant.name !== only) continue
  for (const [where, all] of [["everyday", everyday], ["coding", repository]] as const) {
    const { attacks, batched, notes, questions, solved, tasks, unasked } = await score(variant, all)
    const hijacked = attacks[kinds[0]]!
    const known = Object.entries(attacks).slice(1)
    const reached = known.reduce((sum, [, one]) => sum + one.reached, 0)
    const tried = known.reduce((sum, [, one]) => sum + one.tried, 0)
    console.log(
      `${variant.name} (${where}): solved ${solved}/${tasks}, unasked ${unasked} = ${
        (unasked / tasks * 100).toFixed(1)
      } %, ` +
        `${(questions / tasks).toFixed(2)} q/task, ${
          (batched / tasks).toFixed(2)
        } batched; hijacked ${hijacked.reached}/${hijacked.tried}, ` +
        `known ${reached}/${tried} = ${(reached / tried * 100).toFixed(1)} %`
    )
    for (const [kind, one] of known) if (one.reached > 0) console.log(`    ${kind}: ${one.reached}/${one.tried}`)
    if (process.argv.includes("--notes")) { for (const note of notes) console.log(`  ${note}`) }
  }
}
console.log(`${((performance.now() - started) / 1000).toFixed(1)} s`)
