/** Adds up the cost of model calls. */
import { addUsd, type Cost, type ModelCost } from "../../../data/Cost.ts"
import type { RunState } from "../../../data/RunState.ts"
import type { Usage } from "../../../data/Usage.ts"

/** What a turn has spent. */
export interface Spent {
  readonly usage: Usage
  readonly cost: Cost
}

/** Returns the cost in a stored state. An earlier release did not store it; then it is not known. */
export const storedCost = ({ cost, counts }: Pick<RunState, "cost" | "counts">): Cost =>
  cost ?? { usd: 0, isComplete: counts.llmCalls === 0, byModel: {} }

/** A class, because every turn has one, and every model call changes it. */
export class CostMeter {
  private models: Map<string, { -readonly [K in keyof ModelCost]: ModelCost[K] }> | undefined = undefined
  /** The calls that run now, or were interrupted. */
  private running = 0
  /** Whether a cost was lost that belongs to no model. */
  private hasLost = false

  constructor(earlier?: Cost) {
    if (earlier !== undefined) this.add(earlier)
  }

  begin(): void {
    this.running++
  }

  /** Ends a call that cost nothing, because it failed before it began. */
  endFree(): void {
    this.running--
  }

  /** Ends a call. Without a usage that has a cost, its cost is not known. */
  end(model: string, usage: Usage | undefined): void {
    this.running--
    const usd = usage?.costUsd
    const isKnown = usd !== undefined && Number.isFinite(usd) && usd >= 0
    this.addModel(model, isKnown ? usd : 0, isKnown, 1)
  }

  add({ byModel, isComplete }: Cost): void {
    const models = Object.entries(byModel)
    for (const [model, cost] of models) this.addModel(model, cost.usd, cost.isComplete, cost.calls)
    if (!isComplete && models.every(([, cost]) => cost.isComplete)) this.hasLost = true
  }

  read(): Cost {
    if (this.models === undefined) return { usd: 0, isComplete: !this.hasLost && this.running === 0, byModel: {} }
    let usd = 0
    let isComplete = !this.hasLost && this.running === 0
    for (const cost of this.models.values()) {
      if (cost.usd !== 0) usd = addUsd(usd, cost.usd)
      isComplete &&= cost.isComplete
    }
    // Keeps a model that is called `__proto__`.
    const byModel = Object.fromEntries([...this.models].map(([model, cost]) => [model, { ...cost }]))
    return { usd, isComplete, byModel }
  }

  private addModel(model: string, usd: number, isComplete: boolean, calls: number): void {
    const models = this.models ??= new Map()
    let known = models.get(model)
    if (known === undefined) models.set(model, known = { usd: 0, isComplete: true, calls: 0 })
    if (usd !== 0) known.usd = addUsd(known.usd, usd)
    known.isComplete &&= isComplete
    known.calls += calls
  }
}
