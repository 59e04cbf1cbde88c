/** Replaces placeholders by their values. */
import type { Json } from "@belay/core/Json"
import { mapJson } from "../mapJson.ts"
import type { Placeholders } from "../placeholderStore.ts"
import type { ScanRules } from "../scan/scanRules.ts"

/** Replaces the placeholders in a text, in one pass: placeholders inside of a value stay. */
export const revealText = (rules: ScanRules, placeholders: Placeholders, text: string): string =>
  rules.placeholders === undefined || !text.includes("<")
    ? text
    : text.replaceAll(rules.placeholders, (placeholder) => String(placeholders.get(placeholder) ?? placeholder))

/** Replaces the placeholders in JSON. A placeholder of a number becomes a number. */
export const revealJson = (rules: ScanRules, placeholders: Placeholders, value: Json): Json => {
  if (typeof value !== "string") {
    return mapJson(
      value,
      (item) => revealJson(rules, placeholders, item),
      (key) => revealText(rules, placeholders, key)
    )
  }
  const number = placeholders.get(value)
  return typeof number === "number" ? number : revealText(rules, placeholders, value)
}
