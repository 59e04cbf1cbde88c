/** What a model and people read about a loop. */
import type { DetectedLoop, Kind } from "./detectedLoop.ts"
import type { Trail } from "./loopTrail.ts"

/** Describes a loop in one sentence. */
export const describeLoop = (loop: DetectedLoop): string => `Loop detected: ${texts[loop.kind](loop)}.`

const texts: { readonly [K in Kind]: (loop: DetectedLoop) => string } = {
  calls: ({ count, what }) => `the same call of ${what} ${count} times without a new result`,
  "invalid-arguments": ({ count, what }) => `${what} was called ${count} times with empty or broken arguments`,
  errors: ({ count, what }) => `${what} failed with the same error ${count} times in a row`,
  text: ({ count, what }) => `${what} ${count} times in a row`,
  compaction: ({ count }) => `${count} compactions in a row that made nothing shorter`
}

/** Describes a call that keeps failing. */
export const describeFailure = ({ count, last, since }: Trail["failures"][number]): string => {
  const minutes = Math.max(1, Math.ceil((last - since) / 60_000))
  const times = `${count} time${count === 1 ? "" : "s"} in ${minutes} minute${minutes === 1 ? "" : "s"}`
  return `Loop detected: identical failing command executed ${times}. Escalate or change strategy.`
}

/** The advice for the model when the options give none. */
export const defaultAdvice = (loop: DetectedLoop): string =>
  `${describeLoop(loop)} Repeating it will not help. ` +
  "Do something else: use other arguments or another tool, or say what you need."
