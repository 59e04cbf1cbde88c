/**
 * Estimates the number of tokens before the vendor reports it.
 *
 * @since 0.1.0
 */

/** Estimates how many tokens a text has. @category models @since 0.1.0 */
export interface Tokenizer {
  readonly count: (text: string) => number
}

/**
 * Counts four characters as a token. The numbers that the vendor reports correct this rough estimate.
 *
 * @category constructors
 * @since 0.1.0
 */
export const byLength: Tokenizer = { count: (text) => Math.ceil(text.length / 4) }
