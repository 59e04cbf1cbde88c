/**
 * Imported by a process before everything else: its clock jumps. `CLOCK_JUMPS` is a list such as `2000:3600000`: two
 * seconds after the start, the clock is an hour ahead of that of the machine.
 */
const real = Date.now
let ahead = 0

for (const jump of (process.env["CLOCK_JUMPS"] ?? "").split(",")) {
  const [afterMs, aheadMs] = jump.split(":").map(Number)
  setTimeout(() => void (ahead = aheadMs ?? 0), afterMs).unref()
}

const RealDate = Date
globalThis.Date = class extends RealDate {
  constructor(...given: ReadonlyArray<unknown>) {
    // The constructor has many shapes.
    super(...(given.length === 0 ? [real() + ahead] : given) as [number])
  }
  static override now(): number {
    return real() + ahead
  }
} as DateConstructor
