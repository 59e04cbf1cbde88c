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
import { others } from "./variants.ts"

const started = performance.now()
const everyday = await Promise.all([office, bank, chat, travel, files, support, shop].map(prepare))
const repository = [await prepare(coding)]
const total = [...everyday, ...repository]
const count = (kind: string) => total.flatMap(({ attacks }) => attacks).filter((one) => one.kind === kind).length
console.log(`${total.length} domains, ${total.flatMap(({ domain }) => domain.tasks).length} tasks, attacks:`)
for (const kind of kinds) console.log(`  ${kind}: ${count(kind)}`)
for (const variant of others) {
  const result = await score(variant, everyday)
  console.log(variant.name, { ...result, notes: process.argv.includes("--notes") ? result.notes : result.notes.length })
}
console.log(`${((performance.now() - started) / 1000).toFixed(1)} s`)
