/** Encodes decoded arguments again, with the library of the schema. */
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"

/** Encodes a decoded value, now or later. Throws, rejects or returns nothing if the schema cannot encode it. */
export type Encode = (value: unknown) => unknown

/** Returns the encoder of an Effect Schema. Returns nothing if the schema has no transformation. */
export const effectEncoder = (schema: Schema.Top): Encode | undefined => {
  if (SchemaAST.toEncoded(schema.ast) === schema.ast) return undefined
  // A tool's schema must not require services; types and encoding do not matter here.
  const encode = Schema.encodeUnknownExit(schema as Schema.Codec<unknown>)
  return (value) => {
    const exit = encode(value)
    return Exit.isSuccess(exit) ? exit.value : undefined
  }
}

/** Returns the encoder of a zod schema. Returns nothing for other schemas and if the schema has no transformation. */
export const zodEncoder = (schema: object): Encode | undefined => {
  if (!isZod(schema) || !hasPipe(schema, new Set())) return undefined
  const { run, version: { major, minor } } = schema._zod
  // Earlier versions ignore the direction and would decode.
  if (major !== 4 || minor < 1) return undefined
  const read = ({ issues, value }: Payload): unknown => issues.length === 0 ? value : undefined
  return (value) => {
    const payload = run({ value, issues: [] }, { direction: "backward" })
    return payload instanceof Promise ? payload.then(read) : read(payload)
  }
}

interface Payload {
  readonly value: unknown
  readonly issues: ReadonlyArray<unknown>
}

/** The part of zod's schemas that its core package has for other libraries. */
interface Zod {
  readonly _zod: {
    readonly version: { readonly major: number; readonly minor: number }
    readonly def: { readonly type: string; readonly [field: string]: unknown }
    readonly run: (payload: Payload, options: { readonly direction: "backward" }) => Payload | Promise<Payload>
  }
}

const isZod = (value: unknown): value is Zod =>
  typeof value === "object" && value !== null && "_zod" in value && typeof value._zod === "object" &&
  value._zod !== null && "run" in value._zod && "def" in value._zod && "version" in value._zod

/** Whether a part of the schema decodes into something else. */
const hasPipe = (value: unknown, seen: Set<object>): boolean => {
  if (typeof value !== "object" || value === null || seen.has(value)) return false
  seen.add(value)
  if (!isZod(value)) {
    const isList = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype
    return isList && Object.values(value).some((part) => hasPipe(part, seen))
  }
  const { def } = value._zod
  if (def.type === "pipe" || def.type === "transform") return true
  if (def.type === "lazy" && typeof def.getter === "function") return hasPipe(def.getter(), seen)
  const { checks: _checks, defaultValue: _default, ...parts } = def
  return Object.values(parts).some((part) => hasPipe(part, seen))
}
