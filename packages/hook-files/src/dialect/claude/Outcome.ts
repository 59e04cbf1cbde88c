/**
 * Reads the answer of an entry from its exit code, standard output and standard error, and merges the answers of
 * several entries.
 *
 * @since 0.1.0
 */
export { maxText } from "../../internal/fields.ts"
export { type Answer, silent } from "./answer/answer.ts"
export { detachMs, read } from "./answer/readAnswer.ts"
export { merge, type Verdict } from "./answer/verdict.ts"
