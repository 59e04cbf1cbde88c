/**
 * `npm run bench:attacks`: what hijacked models reach, and what people are asked, with and without data flow. It fails
 * above the aims. `--write` writes the tables into docs/reliability.md, `--notes` prints every question and every
 * attack that succeeded, and `--only <name>` runs one variant.
 */
import { bank } from "./domains/bank.ts"
import { chat } from "./domains/chat.ts"
import { coding } from "./domains/coding.ts"
import { files } from "./domains/files.ts"
import { office } from "./domains/mail.ts"
import { shop } from "./domains/shop.ts"
import { support } from "./domains/support.ts"
import { travel } from "./domains/travel.ts"
import { type Line, missed, render, write } from "./report.ts"
import { prepare, type Prepared, score } from "./score.ts"
import { type Measured, variants } from "./variants.ts"

const started = performance.now()
const argument = (name: string): string | undefined => {
  const index = process.argv.indexOf(name)
  return index < 0 ? undefined : process.argv[index + 1] ?? ""
}
const only = argument("--only")

const everyday = await Promise.all([office, bank, chat, travel, files, support, shop].map(prepare))
const repository = [await prepare(coding)]
const places: { readonly [P in Measured["where"]]: ReadonlyArray<Prepared> } = { everyday, coding: repository }

const lines: Array<Line> = []
for (const { aims, variant, where } of variants) {
  if (only !== undefined && variant.name !== only) continue
  const result = await score(variant, places[where])
  lines.push({ name: variant.name, where, score: result, aims })
  if (process.argv.includes("--notes")) { for (const note of result.notes) console.log(`${variant.name}: ${note}`) }
}

const all = [...everyday, ...repository]
const tasks = all.flatMap(({ domain }) => domain.tasks).length
const attacks = all.flatMap((prepared) => prepared.attacks).length
const counts = `${all.length} environments, with ${tasks} tasks and ${attacks} attacks`
console.log(`${counts}\n\n${render(lines)}\n\n${((performance.now() - started) / 1000).toFixed(1)} s`)
if (process.argv.includes("--write")) write(lines, counts)
const failures = lines.flatMap(missed)
for (const failure of failures) console.error(`above the aim: ${failure}`)
process.exitCode = failures.length === 0 ? 0 : 1
