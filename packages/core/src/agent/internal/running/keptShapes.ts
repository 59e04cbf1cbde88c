/**
 * Keeps the optimised code of the turn. V8 drops an optimised function when the last object of a shape that it was made
 * for is collected, and between two turns there is none: after each full collection a turn was many times slower. So a
 * process that has run some turns keeps a few of its own that wait for ever.
 */

/** As many turns have to run before, so that programs that run only a few pay nothing. */
const afterTurns = 64

let turns = 0
let start: (() => void) | undefined

/** Says how to start the turns that wait. */
export const keepShapesWith = (startWaiting: () => void): void => {
  start = startWaiting
}

/** Counts a turn that begins. */
export const countTurn = (): void => {
  if (turns < afterTurns && ++turns === afterTurns) start?.()
}
