/**
 * Texts that are kept beside a conversation: their description, and references to them.
 *
 * @since 0.1.0
 */

/** What is known of an artifact without reading it. @category models @since 0.1.0 */
export interface Artifact {
  /** Names it within its session; begins with who may write it: `hook:` or `tool:`. */
  readonly key: string
  /** What the model may be shown, and what reads it back: `<artifact:KEY>`. */
  readonly ref: string
  readonly mimeType: string
  /** In UTF-16 code units. */
  readonly size: number
  /** The hook or tool that wrote it last. */
  readonly by: string
  /** The tool call during which it was written first, where there was one. */
  readonly toolCallId?: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  readonly updatedAt: number
}

/** What the model is shown for a key. @category rendering @since 0.1.0 */
export const refOf = (key: string): string => `<artifact:${key}>`

/** Reads a reference, or a bare key. @category reading @since 0.1.0 */
export const keyOf = (ref: string): string => /^<artifact:([\s\S]+)>$/.exec(ref.trim())?.[1] ?? ref.trim()
