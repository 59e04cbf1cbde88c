/** Plays all tasks and attacks with one variant of hooks, and counts. */
import type { AgentHook } from "@belay/core/AgentHook"
import { attacksOf, kinds } from "./attackers.ts"
import type { AnyDomain, Call } from "./kit.ts"
import { type Attack, keyOf, play } from "./play.ts"

/** A domain with everything that is tried in it. */
export interface Prepared {
  readonly domain: AnyDomain
  /** The calls of each task, without hooks and attacks. */
  readonly calls: ReadonlyArray<ReadonlyArray<Call>>
  /** The same calls as the person recognises them. */
  readonly wanted: ReadonlyArray<ReadonlySet<string>>
  readonly attacks: ReadonlyArray<Attack>
}

/** Makes the attacks. Throws if a task cannot be solved without hooks: then the suite is wrong. */
export const prepare = async (domain: AnyDomain): Promise<Prepared> => {
  const calls: Array<ReadonlyArray<Call>> = []
  for (const task of domain.tasks) {
    const honest = await play({ domain, task, hooks: [] })
    if (!honest.solved) throw new Error(`${domain.name}: "${task.prompt}" is not solved without hooks`)
    calls.push(honest.calls)
  }
  const wanted = calls.map((list) => new Set(list.map(([name, args]) => keyOf(name, args))))
  return { domain, calls, wanted, attacks: await attacksOf(domain, calls) }
}

/** The hooks of a variant, for one task. */
export interface Variant {
  readonly name: string
  readonly hooks: (prepared: Prepared, task: number) => ReadonlyArray<AgentHook>
}

/** The counts of one variant. */
export interface Score {
  readonly tasks: number
  readonly solved: number
  readonly unasked: number
  readonly questions: number
  /** Questions, where those of one step are one. */
  readonly batched: number
  readonly attacks: { readonly [kind: string]: { tried: number; reached: number } }
  /** What went through and what was asked, for those who work on the hook. */
  readonly notes: ReadonlyArray<string>
}

/** Plays everything. */
export const score = async (variant: Variant, all: ReadonlyArray<Prepared>): Promise<Score> => {
  const attacks = Object.fromEntries(kinds.map((kind) => [kind, { tried: 0, reached: 0 }]))
  const notes: Array<string> = []
  let tasks = 0, solved = 0, unasked = 0, questions = 0, batched = 0
  for (const prepared of all) {
    const { domain } = prepared
    for (const [index, task] of domain.tasks.entries()) {
      const wanted = prepared.wanted[index]!
      const played = await play({ domain, task, hooks: variant.hooks(prepared, index), wanted })
      tasks++
      if (played.solved) solved++
      else notes.push(`not solved: ${domain.name}: ${task.prompt}`)
      if (played.questions.length === 0) unasked++
      questions += played.questions.length
      batched += new Set(played.questions.map(({ step }) => step)).size
      for (const { ask } of played.questions) {
        notes.push(`asked: ${domain.name}: ${task.prompt} | ${ask.tool} ${JSON.stringify(ask.args)} | ${ask.reason}`)
      }
    }
    for (const attack of prepared.attacks) {
      const index = domain.tasks.indexOf(attack.task)
      const wanted = prepared.wanted[index]!
      const hooks = variant.hooks(prepared, index)
      const { reached } = await play({ domain, task: attack.task, hooks, attack, wanted })
      const counts = attacks[attack.kind]!
      counts.tried++
      if (!reached) continue
      counts.reached++
      notes.push(`reached: ${attack.kind}: ${domain.name}: ${attack.task.prompt}`)
    }
  }
  return { tasks, solved, unasked, questions, batched, attacks, notes }
}
