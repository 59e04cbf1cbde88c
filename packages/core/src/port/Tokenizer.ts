/**
 * Counts tokens before a vendor does.
 *
 * @since 0.1.0
 */

/** @category models @since 0.1.0 */
export interface Tokenizer {
  readonly count: (text: string) => number
}

/** Four characters a token: coarse, and corrected by what the vendor reports. @category constructors @since 0.1.0 */
export const byLength: Tokenizer = { count: (text) => Math.ceil(text.length / 4) }
