/** Recognizes durations of programs without types. */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import { isPlain } from "../Json.ts"

const units: ReadonlyArray<string> = [
  "weeks",
  "days",
  "hours",
  "minutes",
  "seconds",
  "milliseconds",
  "microseconds",
  "nanoseconds"
]

/** Returns the duration, or nothing. An object whose unit is misspelt would otherwise be a duration of zero. */
export const readDuration = (value: unknown): Duration.Duration | undefined => {
  if (value === null || value === undefined || Number.isNaN(value)) return undefined
  if (typeof value === "object" && !Array.isArray(value) && !Duration.isDuration(value)) {
    const hasUnit = units.some((unit) => unit in value)
    if (!hasUnit || (isPlain(value) && Object.keys(value).some((key) => !units.includes(key)))) return undefined
  }
  // `fromInput` returns nothing for other values.
  return Option.getOrUndefined(Duration.fromInput(value as Duration.Input))
}
