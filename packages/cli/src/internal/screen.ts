/** The terminal: its width and colours, and functions that make texts of others harmless. */

/** The terminal that output is written to. */
export interface Screen {
  readonly columns: number
  readonly colors: boolean
  /** Whether a person can answer questions. */
  readonly interactive: boolean
  /** Folders of programs, in the format of `PATH`. */
  readonly path: string
}

/** What a process says about its terminal. */
interface Terminal {
  readonly env: { readonly [name: string]: string | undefined }
  readonly stdin: { readonly isTTY?: boolean }
  readonly stdout: { readonly isTTY?: boolean; readonly columns?: number }
}

/** Returns the terminal of a process. Lines are neither very short nor very long. */
export const screenOf = ({ env, stdin, stdout }: Terminal): Screen => {
  const isTerminal = stdout.isTTY === true
  const columns = isTerminal ? stdout.columns : Number(env["COLUMNS"])
  return {
    columns: Math.min(160, Math.max(80, columns || 100)),
    colors: isTerminal && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb",
    interactive: isTerminal && stdin.isTTY === true,
    path: env["PATH"] ?? ""
  }
}

type Paint = (text: string) => string

export interface Style {
  readonly bold: Paint
  readonly dim: Paint
  readonly red: Paint
  readonly green: Paint
  readonly yellow: Paint
  readonly cyan: Paint
}

export const styleOf = ({ colors }: Screen): Style => {
  const paint = (open: number, close: number): Paint => (text) =>
    colors ? `\u001B[${open}m${text}\u001B[${close}m` : text
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
    cyan: paint(36, 39)
  }
}

/** Characters that control a terminal, or hide or reverse others. */
const controls = new RegExp(
  String.raw`[\u0000-\u001F\u007F-\u009F\u00AD\u061C\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]|` +
    String.raw`[\u{E0000}-\u{E007F}]|[\uD800-\uDFFF]`,
  "gu"
)

/**
 * Makes a text harmless for a terminal: control characters, and characters that hide or reverse others, are shown as
 * numbers.
 */
export const plain = (text: string): string =>
  text.replaceAll(
    controls,
    (character) => {
      const known = escapes[character]
      const number = character.codePointAt(0)!
      return known ?? (number < 256 ? `\\x${number.toString(16).padStart(2, "0")}` : `\\u{${number.toString(16)}}`)
    }
  )

const escapes: { readonly [character: string]: string } = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }

/** The same for JSON, which stays valid. */
export const visible = (json: string): string =>
  json.replaceAll(
    /[\u007F-\u009F\u00AD\u061C\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
  )

/** The same for a text with several lines. */
export const lines = (text: string): ReadonlyArray<string> =>
  text.replace(/\n$/, "").split("\n").map((line) => plain(line.replace(/\r$/, "")))

/** Wraps a sentence. Every line has the same margin. */
export const wrap = (text: string, margin: string, columns: number): string => {
  const room = Math.max(20, columns - margin.length)
  const rows = [""]
  for (const word of text.split(" ")) {
    const row = rows.at(-1)!
    if (row !== "" && row.length + 1 + word.length > room) rows.push(word)
    else rows[rows.length - 1] = row === "" ? word : `${row} ${word}`
  }
  return rows.map((row) => `${margin}${row}`).join("\n")
}

/** Returns `1 file` or `2 files`. */
export const count = (number: number, one: string, many = `${one}s`): string => `${number} ${number === 1 ? one : many}`
