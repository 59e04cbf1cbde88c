/**
 * Artifacts: texts that are stored with a conversation but are not part of it. This file has their description and the
 * references to them.
 *
 * @since 0.1.0
 */

/** The description of an artifact, without its text. @category models @since 0.1.0 */
export interface Artifact {
  /** Unique within its session. It begins with `hook:` or `tool:`, which tells who may write it. */
  readonly key: string
  /** The reference `<artifact:KEY>`. It may be shown to the model, and it can be used to read the artifact. */
  readonly ref: string
  readonly mimeType: string
  /** In UTF-16 code units. */
  readonly size: number
  /** The name of the hook or tool that wrote it last. */
  readonly by: string
  /** The id of the tool call during which it was first written, if any. */
  readonly toolCallId?: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  readonly updatedAt: number
}

/** Makes the reference that the model sees. @category rendering @since 0.1.0 */
export const refOf = (key: string): string => `<artifact:${key}>`

/** Returns the key of a reference; a plain key is returned as it is. @category reading @since 0.1.0 */
export const keyOf = (ref: string): string => /^<artifact:([\s\S]+)>$/.exec(ref.trim())?.[1] ?? ref.trim()
