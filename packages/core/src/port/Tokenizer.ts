/**
 * Counts tokens before a vendor does.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"

/** @category models @since 0.1.0 */
export interface Tokenizer {
  readonly count: (text: string) => number
}

/** The tokenizer as a service. @category services @since 0.1.0 */
export const Tokenizer = Context.Service<Tokenizer>("@belay/core/port/Tokenizer")

/** Four characters a token: coarse, and corrected by what the vendor reports. @category constructors @since 0.1.0 */
export const byLength: Tokenizer = { count: (text) => Math.ceil(text.length / 4) }
