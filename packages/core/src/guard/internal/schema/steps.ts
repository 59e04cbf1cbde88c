/** Steps that wait only if a schema is asynchronous: a generator that yields values or promises of them. */

export type Steps<A> = Generator<unknown, A, unknown>

/** Runs the steps. The result is a promise only if one of them waits. */
export const runSteps = <A>(steps: Steps<A>): A | Promise<A> => {
  let next = steps.next()
  while (next.done !== true) {
    if (next.value instanceof Promise) return waitForSteps(steps, next.value)
    next = steps.next(next.value)
  }
  return next.value
}

const waitForSteps = async <A>(steps: Steps<A>, first: Promise<unknown>): Promise<A> => {
  let next: IteratorResult<unknown, A> = { done: false, value: first }
  while (next.done !== true) {
    const settled: PromiseSettledResult<unknown> = (await Promise.allSettled([next.value]))[0]!
    next = settled.status === "fulfilled" ? steps.next(settled.value) : steps.throw(settled.reason)
  }
  return next.value
}
