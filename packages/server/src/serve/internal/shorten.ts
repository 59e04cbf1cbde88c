/** Cuts what is too long for one event. */

export const cut = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length)}… (${text.length - length} characters were cut)`

/** Returns a JSON value, or its text, cut, if it is too long. */
export const cutJson = (value: unknown, length: number): unknown => {
  const text = JSON.stringify(value) ?? "null"
  return text.length <= length ? value : cut(text, length)
}
