/**
 * The ticks of a cron expression in a time zone. They are found by what a clock on the wall shows, and then put on the
 * time line, because clocks leave out some times and repeat others.
 */
import * as Cron from "effect/Cron"
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Result from "effect/Result"

const dayMs = 86_400_000

/** Returns the function from a time to the first tick after it, or nothing for an unknown expression or zone. */
export const cronTicks = (cron: string, timeZone: string): ((time: number) => number) | undefined => {
  const zone = Option.getOrUndefined(DateTime.zoneFromString(timeZone))
  const parsed = Cron.parse(cron, "UTC")
  if (zone === undefined || Result.isFailure(parsed)) return undefined
  const after = afterIn(
    parsed.success,
    (time) => DateTime.zonedOffset(DateTime.makeZonedUnsafe(time, { timeZone: zone })),
    isRepeated(cron)
  )
  // Some times never come, such as those of the 30th of February.
  return Result.isSuccess(Result.try(() => after(0))) ? after : undefined
}

const afterIn = (walls: Cron.Cron, offsetAt: (time: number) => number, isRepeated: boolean) => {
  /** By how much clocks are changed shortly before or after a time, and else 0. */
  const changeAt = (time: number): number => {
    const change = Math.abs(offsetAt(time + dayMs) - offsetAt(time - dayMs))
    return offsetAt(time + change) === offsetAt(time - change) ? 0 : change
  }
  /** When a clock shows something. If that is left out, this is when the clock before the change would show it. */
  const timesOf = (wall: number): ReadonlyArray<number> => {
    const times = [wall - offsetAt(wall - dayMs), wall - offsetAt(wall + dayMs)] as const
    const shown = times.filter((time) => time + offsetAt(time) === wall)
    return shown.length === 0 ? [times[0]] : isRepeated ? shown : [shown[0]!]
  }
  return (time: number): number => {
    let wall = time + offsetAt(time) - changeAt(time)
    let first = Infinity
    // What a clock shows later may come earlier, but only by the change.
    while (first === Infinity || wall - offsetAt(first) - changeAt(first) < first) {
      wall = Cron.next(walls, new Date(wall)).getTime()
      first = Math.min(first, ...timesOf(wall).filter((found) => found > time))
    }
    return first
  }
}

/**
 * Whether the ticks of an hour come again when clocks are put back. As in the cron of Linux, those with a star in their
 * minutes or hours do, because they have an interval, and those at a time of the day do not.
 */
const isRepeated = (cron: string): boolean => {
  const [hours = "", minutes = ""] = cron.trim().split(/\s+/).slice(-5, -3).reverse()
  return hours.startsWith("*") || minutes.startsWith("*")
}
