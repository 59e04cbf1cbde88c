import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
const L = (...x: ReadonlyArray<string>) => Schema.Literals(x)
const Hook = Schema.Struct({ tier: L("project","managed","agent"), priority: L("100","90","110"), kind: L("advisory","policy","observer"), mode: L("enforce","shadow"),
 tools: L("-","deploy","d*","x"), re: L("n","y"), fo: L("-","o","c"), of: L("-","open","reject","abort"), a: L(...Array.from({length:22},(_, i)=>"w"+i)), ha: L(...Array.from({length:7},(_, i)=>"h"+i)), b: L(...Array.from({length:22},(_, i)=>"w"+i)), hb: L(...Array.from({length:7},(_, i)=>"h"+i)) })
const arb = Arbitrary.array(Arbitrary.schema(Hook), { maxLength: 8 })
const lens: Record<number, number> = {}; const ws: Record<string, number> = {}
const t = performance.now()
const r = Effect.runSync(Arbitrary.checkEffect(arb, (x) => { lens[x.length] = (lens[x.length] ?? 0) + 1; for (const h of x) ws[h.a] = (ws[h.a]??0)+1; return true }, { runs: 5000, seed: 1, size: 16 }))
console.log(r, performance.now() - t, lens, ws)
const ints = Arbitrary.array(Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2**40 }))), { minLength: 8, maxLength: 8 })
const buckets: Record<string, number> = {}
const t2 = performance.now()
console.log(Effect.runSync(Arbitrary.checkEffect(ints, (x) => { for (const h of x) { const k = String(Math.floor(Math.log2(h + 1))); buckets[k] = (buckets[k]??0)+1 } return true }, { runs: 5000, seed: 1, size: 16 })), performance.now() - t2, buckets)
