/** What the driver runs inside a point. The point runs again if another process was quicker, and this does not. */
import { sameJson } from "../schema/sameValue.ts"

interface Done<Input, Output> {
  readonly input: Input
  readonly output: Promise<Output>
}

/** A class, because it knows what has run. */
export class RunOnce<Input, Output> {
  private readonly act: (input: Input) => PromiseLike<Output> | Output
  private readonly done: Array<Done<Input, Output>> = []
  private next = 0

  constructor(act: (input: Input) => PromiseLike<Output> | Output) {
    this.act = act
  }

  /** The point begins. */
  begin(): void {
    this.next = 0
  }

  /** Runs, or returns what came out of it in the last attempt. A hook that wraps may run it several times. */
  readonly run = async (input: Input): Promise<Output> => {
    const known = this.done[this.next]
    const isKnown = known !== undefined && sameJson(known.input, input)
    const one = isKnown ? known : { input, output: this.start(input) }
    if (!isKnown) this.done.splice(this.next, Infinity, one)
    this.next++
    return await one.output
  }

  private async start(input: Input): Promise<Output> {
    return await this.act(input)
  }
}
