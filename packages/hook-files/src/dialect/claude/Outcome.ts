/**
 * What entries of settings files answer with their exit code, standard output and standard error, and what several
 * answers mean together.
 *
 * @since 0.1.0
 */
export { maxText } from "../shared/fields.ts"
export { type Answer, silent } from "./answer.ts"
export { detachMs, read } from "./readAnswer.ts"
export { merge, type Verdict } from "./verdict.ts"
