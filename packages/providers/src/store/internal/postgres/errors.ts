/** Errors of Postgres and of connections to it. */
import { SessionConflict } from "@belay/core/SessionStore"
import { StoreError, storeError } from "../error.ts"

/** Codes of a server that cannot be reached now. An operation that was not begun can be tried again. */
const away: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  // The server shuts down, has crashed, starts, or has no connection left.
  "57P01",
  "57P02",
  "57P03",
  "53300"
])

/** Codes of a transaction that was undone because of another one. */
const undone: ReadonlySet<string> = new Set(["40001", "40P01"])

const codeOf = (error: unknown): string => {
  const code: unknown = Object(error).code
  return typeof code === "string" ? code : ""
}

/** Whether the connection was lost or refused. It is not known whether the server has done the operation. */
export const isAway = (error: unknown): boolean => {
  const code = codeOf(error)
  return away.has(code) || code.startsWith("08") ||
    (code === "" &&
      /connection (?:terminated|timeout|ended)|not queryable|timeout exceeded when trying to connect/i.test(
        messageOf(error)
      ))
}

/** Whether the server has undone the transaction, so that it can be tried again. */
export const isUndone = (error: unknown): boolean => undone.has(codeOf(error))

/** Whether the table or the schema does not exist. */
export const isMissing = (error: unknown): boolean => ["42P01", "3F000"].includes(codeOf(error))

const messageOf = (error: unknown): string => error instanceof Error ? error.message : String(error)

/** The problems of other codes, by the code or its first two characters. */
const problems: { readonly [code: string]: readonly [StoreError["problem"], string] } = {
  "28": ["unreachable", "the server refused this user or password"],
  "3D": ["unreachable", "the server has no such database: create it, or use another name"],
  "42501": ["unreachable", "this role may not use the tables: grant it the rights, or use another role"],
  "42P01": ["missing", "a table is missing: create the tables with `migrations: \"auto\"`"],
  "42P07": ["foreign", "the schema has tables of another program: use another schema"],
  "40": ["busy", "other processes changed the same rows for too long: try again"],
  "53": ["full", "the server has no space or memory left"],
  "XX": ["corrupt", "the database is damaged: restore it from a backup"]
}

/** Converts an error of `pg` or of a connection. */
export const postgresError = (address: string, error: unknown): StoreError | SessionConflict => {
  if (error instanceof StoreError || error instanceof SessionConflict) return error
  const code = codeOf(error)
  const message = messageOf(error)
  if (isAway(error)) {
    return storeError(address, "unreachable", `the server cannot be reached (${message}): check that it runs`, error)
  }
  const [problem, what] = problems[code] ?? problems[code.slice(0, 2)] ?? ["failed", "the operation failed"]
  return storeError(address, problem, `${what} (${message})`, error)
}
